package record

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git/object"
)

// An ID names a mission: 8 lower-case hex digits, or 12 if the 8 were taken.
type ID string

// ParseID parses an id from a person, a payload or a record.
func ParseID[S ~string](s S) (ID, error) {
	if id := ID(s); id.Valid() {
		return id, nil
	}
	return "", fmt.Errorf("mission %q: an id has 8 hex digits", s)
}

// Valid reports whether id is well-formed.
func (id ID) Valid() bool {
	return (len(id) == 8 || len(id) == 12) && strings.Trim(string(id), "0123456789abcdef") == ""
}

// LeastDigits is the length of the shortest prefix of an id.
const LeastDigits = 4

// IsPrefix reports whether s may begin an id, in any case.
func IsPrefix(s string) bool {
	return len(s) >= LeastDigits && len(s) <= 12 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// Abbreviate returns the shortest unique prefix of each id.
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

// alike returns the length of the common prefix of two ids.
func alike(a, b ID) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// NewID returns a random id, most likely a free one.
func NewID() (ID, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a mission id: %w", err)
	}
	return ID(hex.EncodeToString(b[:])), nil
}

// OfSession returns the id of a session's passive mission: the last digits of
// the session's id, as a UUIDv7 begins with the time. An id with other
// characters than hex digits and dashes is hashed first: too few of its hex
// digits are random.
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

// OfCommit returns the id of a mission that is named by a ledger commit.
func OfCommit(commit object.Hash) ID {
	digits := commit.String() // "" for the zero hash
	return ID(digits[:min(12, len(digits))])
}

// Prefixes of missions' refs.
const (
	MissionRefs = "refs/agent/missions/"
	notesRefs   = "refs/notes/agent/"
)

// Ref returns the ref of the mission's ledger.
func (id ID) Ref() string { return MissionRefs + string(id) }

// NotesRef returns the ref of the notes on the mission's code commits.
func (id ID) NotesRef() string { return notesRefs + string(id) }

// Branch returns the mission's branch; prefix is "agent/mission/" by default.
func (id ID) Branch(prefix string) string { return "refs/heads/" + prefix + string(id) }

// OfBranch returns the mission that a full branch name names, if any.
func OfBranch(branch, prefix string) (ID, bool) {
	name, ok := strings.CutPrefix(branch, "refs/heads/"+prefix)
	if !ok {
		return "", false
	}
	id, err := ParseID(name)
	return id, err == nil
}
