package record

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git"
)

// An ID names a mission: 8 lower-case hex digits, or 12 if the 8 were taken.
type ID string

// ParseID checks an id given by a person, a payload or a record.
func ParseID[S ~string](s S) (ID, error) {
	if id := ID(s); id.Valid() {
		return id, nil
	}
	return "", fmt.Errorf("mission %q: an id has 8 hex digits", s)
}

// Valid reports whether a text is an id.
func (id ID) Valid() bool {
	return (len(id) == 8 || len(id) == 12) && strings.Trim(string(id), "0123456789abcdef") == ""
}

// LeastDigits is how many digits of an id a person types at least.
const LeastDigits = 4

// IsPrefix reports whether a text can be the beginning of an id, in any case.
func IsPrefix(s string) bool {
	return len(s) >= LeastDigits && len(s) <= 12 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// Abbreviate returns for each of the repository's missions the shortest beginning of its id that names
// it.
func Abbreviate(ids []ID) map[ID]ID {
	ids = slices.Sorted(slices.Values(ids))
	short := make(map[ID]ID, len(ids))
	for i, id := range ids {
		n := LeastDigits
		for _, near := range []int{i - 1, i + 1} {
			if near >= 0 && near < len(ids) {
				n = max(n, alike(id, ids[near])+1)
			}
		}
		short[id] = id[:min(n, len(id))]
	}
	return short
}

// alike is how many digits two ids begin with that are the same.
func alike(a, b ID) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// NewID returns an id that is unlikely to be taken.
func NewID() (ID, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a mission id: %w", err)
	}
	return ID(hex.EncodeToString(b[:])), nil
}

// OfSession returns the id of the passive mission of a session: the last digits hex digits of the
// session's own id (a UUIDv7 begins with a timestamp). An id that has other characters than hex digits and
// dashes is hashed first: of what is left of it without them, too little is random.
func OfSession(session string, digits int) (ID, error) {
	name := strings.ReplaceAll(strings.ToLower(session), "-", "")
	if strings.Trim(name, "0123456789abcdef") != "" {
		sum := sha256.Sum256([]byte(session))
		name = hex.EncodeToString(sum[:])
	}
	if len(name) < digits {
		return "", fmt.Errorf("session %q has less than %d hex digits to name a mission by", session, digits)
	}
	return ID(name[len(name)-digits:]), nil
}

// OfCommit returns the id of a side of a mission, which is named by one of its commits.
func OfCommit(commit git.Hash) ID {
	digits := commit.String() // none, if it is none
	return ID(digits[:min(12, len(digits))])
}

// Where refs of missions begin.
const (
	MissionRefs = "refs/agent/missions/"
	notesRefs   = "refs/notes/agent/"
)

// Ref is the mission's ledger.
func (id ID) Ref() string { return MissionRefs + string(id) }

// NotesRef holds the notes on the mission's code commits.
func (id ID) NotesRef() string { return notesRefs + string(id) }

// Branch is the full name of the mission's branch; prefix is the configured one, "agent/mission/".
func (id ID) Branch(prefix string) string { return "refs/heads/" + prefix + string(id) }

// OfBranch returns the mission that a branch (full name) belongs to, if its name says so.
func OfBranch(branch, prefix string) (ID, bool) {
	name, ok := strings.CutPrefix(branch, "refs/heads/"+prefix)
	if !ok {
		return "", false
	}
	id, err := ParseID(name)
	return id, err == nil
}
