package session

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"gitagent/internal/statedir"
)

// A Presence notes which sessions work in a worktree, a file each in its git
// directory, so that one that is alone there need not read the states of all.
type Presence struct{ dir *statedir.Dir }

// here is the directory of those files.
const here = "here"

// PresenceIn returns the presence in a worktree's git directory. It touches no
// file.
func PresenceIn(gitDir string) Presence { return Presence{statedir.Of(gitDir)} }

// An Arrival is when a session began to work in a worktree. It may have left.
type Arrival struct {
	Session string
	At      time.Time
}

// Arrive notes that a session works here, since now if that is new.
func (p Presence) Arrive(id string) error {
	name := filepath.Join(here, id)
	if _, err := p.dir.Lstat(name); err == nil {
		return nil
	}
	return p.dir.WriteFile(name, nil)
}

// Leave notes that a session does not work here any more.
func (p Presence) Leave(id string) error {
	if err := p.dir.Remove(filepath.Join(here, id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Others lists the sessions but self that have arrived, in no order.
func (p Presence) Others(self string) ([]Arrival, error) {
	entries, err := p.dir.ReadDir(here)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Arrival
	for _, e := range entries {
		if e.Name() == self {
			continue
		}
		if info, err := e.Info(); err == nil { // else it has just left
			list = append(list, Arrival{e.Name(), info.ModTime()})
		}
	}
	return list, err
}
