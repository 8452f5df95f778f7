package ledger

import (
	"fmt"
	"path"

	"gitagent/internal/git"
)

// HandoffPath is the path of a handoff's file, or of its directory if name is empty.
func HandoffPath(number int, name string) string {
	return path.Join(fmt.Sprintf("handoffs/%06d", number), name)
}

// LastHandoff returns the number of the mission's last handoff, 0 if it has none.
func (l *Ledger) LastHandoff() (int, error) {
	number, _, err := l.last("handoffs", "")
	return max(number, 0), err
}

// Entry returns what the ledger holds at a path, or the zero Entry.
func (l *Ledger) Entry(name string) (git.Entry, error) {
	dir, err := l.dir(path.Dir(name))
	return dir[path.Base(name)], err
}
