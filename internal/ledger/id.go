package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
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

// NewID returns an id that is unlikely to be taken.
func NewID() (ID, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make a mission id: %w", err)
	}
	return ID(hex.EncodeToString(b[:])), nil
}

// OfSession returns the id of the passive mission of a session: the last digits hex digits of the
// session's own id (a UUIDv7 begins with a timestamp).
func OfSession(session string, digits int) (ID, error) {
	var hex []rune
	for _, c := range strings.ToLower(session) {
		if strings.ContainsRune("0123456789abcdef", c) {
			hex = append(hex, c)
		}
	}
	if len(hex) < digits {
		return "", fmt.Errorf("session %q has less than %d hex digits to name a mission by", session, digits)
	}
	return ID(hex[len(hex)-digits:]), nil
}

// OfCommit returns the id of a side of a mission, which is named by one of its commits.
func OfCommit(commit plumbing.Hash) ID { return ID(commit.String()[:12]) }

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
