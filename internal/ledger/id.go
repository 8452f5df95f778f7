package ledger

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git"
)

// An ID names a mission: 8 lower-case hex digits, or 12 if the 8 were taken.
type ID string

// ParseID checks an id given by a person or a payload.
func ParseID(s string) (ID, error) {
	if len(s) != 8 && len(s) != 12 || strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("mission %q: an id has 8 hex digits", s)
	}
	return ID(s), nil
}

// leastDigits is how many digits of an id a person types at least.
const leastDigits = 4

// IsPrefix reports whether a text can be the beginning of an id, in any case.
func IsPrefix(s string) bool {
	return len(s) >= leastDigits && len(s) <= 12 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// Abbreviate returns for each of the repository's missions the shortest beginning of its id that names
// it, see [Expand].
func Abbreviate(ids []ID) map[ID]ID {
	ids = slices.Sorted(slices.Values(ids))
	short := make(map[ID]ID, len(ids))
	for i, id := range ids {
		n := leastDigits
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

// Expand returns the mission whose id a person has typed, or the beginning of it, in any case. An archived
// one counts if it is named in full, or if no other begins like this. If there is none, the error wraps
// [git.ErrNotFound]; if there are several, it names them.
func Expand(ctx context.Context, repo *git.Repo, prefix string) (ID, error) {
	if !IsPrefix(prefix) {
		return "", fmt.Errorf("mission %q: name it by %d hex digits or more", prefix, leastDigits)
	}
	prefix = strings.ToLower(prefix)
	if id, err := ParseID(prefix); err == nil {
		if _, err := Tip(ctx, repo, id); !errors.Is(err, git.ErrNotFound) {
			return id, err
		}
	}
	refs, err := repo.Refs(ctx, missionRefs+prefix+"*")
	if err != nil {
		return "", fmt.Errorf("find mission %s: %w", prefix, err)
	}
	var found []string
	for ref := range refs {
		if id, err := ParseID(strings.TrimPrefix(ref, missionRefs)); err == nil {
			found = append(found, string(id))
		}
	}
	if len(found) == 0 {
		like, err := LikeArchived(ctx, repo, prefix)
		if err != nil {
			return "", fmt.Errorf("find mission %s: %w", prefix, err)
		}
		for _, e := range like {
			found = append(found, e.ID)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", fmt.Errorf("mission %s: %w", prefix, git.ErrNotFound)
	case 1:
		return ID(found[0]), nil
	}
	more := ""
	if n := len(found) - maxNamed; n > 0 {
		found, more = found[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return "", fmt.Errorf("mission %s: several begin like this: %s%s", prefix, strings.Join(found, ", "), more)
}

// maxNamed is how many missions an error names.
const maxNamed = 5

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

const (
	missionRefs = "refs/agent/missions/"
	notesRefs   = "refs/notes/agent/"
)

// Ref is the mission's ledger.
func (id ID) Ref() string { return missionRefs + string(id) }

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
