package statedir

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Temporary is a directory for what one process needs until it ends.
type Temporary struct {
	Path string // absolute
	all  *Dir
	held *Lock // nil if it is not in all
}

const inUse = ".lock" // ends the name of the file that is locked as long as the directory beside it is in use

// NewTemporary makes one where TMPDIR says, in a directory of the user's, which
// stays, and removes those that processes have left which were killed. If another user has
// made that directory, each is on its own, and stays where its process is killed.
func NewTemporary() (*Temporary, error) {
	t, err := newTemporary()
	if err != nil {
		return nil, fmt.Errorf("make a directory for temporary files, where TMPDIR says: %w", err)
	}
	return t, nil
}

func newTemporary() (*Temporary, error) {
	parent, err := filepath.Abs(os.TempDir()) // it may be relative, and git runs elsewhere
	if err != nil {
		return nil, err
	}
	t := &Temporary{all: Private(parent, fmt.Sprintf("git-agent-work-%d", os.Getuid()))}
	if t.all.Make() != nil {
		t.Path, err = os.MkdirTemp(parent, "git-agent-")
		return t, err
	}
	t.clear()
	for t.held == nil { // another one may have taken the new file for one that was left
		name := rand.Text()
		held, err := t.all.TryLock(name + inUse)
		if err != nil {
			return nil, err
		}
		if held == nil {
			continue
		}
		file, err := held.File().Stat()
		if err != nil {
			held.Release()
			return nil, err
		}
		if there, err := t.all.Lstat(name + inUse); err != nil || !os.SameFile(file, there) {
			held.Release()
			continue
		}
		t.Path, t.held = t.all.Path(name), held
	}
	if err := os.Mkdir(t.Path, 0o700); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// clear removes what the dead have left.
func (t *Temporary) clear() {
	entries, _ := t.all.ReadDir(".") // nothing depends on it
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), inUse); ok {
			if held, err := t.all.TryLock(e.Name()); err == nil && held != nil {
				t.remove(name, held)
			}
		}
	}
}

func (t *Temporary) remove(name string, held *Lock) {
	_ = t.all.RemoveAll(name)
	err := t.all.Remove(name + inUse) // before it is free
	held.Release()
	if err != nil { // Windows removes no file that is open
		_ = t.all.Remove(name + inUse)
	}
}

// Close removes the directory.
func (t *Temporary) Close() {
	if t.held == nil {
		_ = os.RemoveAll(t.Path)
		return
	}
	t.remove(filepath.Base(t.Path), t.held)
}
