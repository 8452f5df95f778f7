// Package places notes where a user's agents work: which repositories turns are
// recorded in, and in which of them each session's conversation is. That lies
// outside of all repositories, in $XDG_STATE_HOME/git-agent, for this user
// alone, and what is lost of it is noted again when a session next begins. Two
// things are not, since they are the user's word: what is withheld, and which
// repositories of somebody else's are switched on.
package places

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/statedir"
)

// Kept is how long a session's home is known after it was last noted. Clients
// keep their own files for 30 days, unless told otherwise.
const Kept = 90 * 24 * time.Hour

const (
	repositories = "repositories" // a file for each, named by a hash of the path that it holds
	homes        = "homes"        // a file for each session, with a path
	switched     = "switched"     // a file for each repository of somebody else's, as in repositories
	directories  = "directories"  // a file for each of these, with the same, named by a hash of what the directory is
	withheld     = "withheld"     // a file for each session, with lines; they stay
	away         = "away"         // what is kept of sessions without a home
)

// A Places is what is noted for one user.
type Places struct {
	parent string // of the directory
	dir    *statedir.Dir
}

// Of returns what is noted for the user of an environment; without a home
// directory there is nothing, and nothing can be noted. It touches no file.
func Of(getenv func(string) string) *Places {
	parent := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(parent) { // the specification says to ignore a relative one
		home := getenv("HOME")
		if home == "" {
			return &Places{}
		}
		parent = filepath.Join(home, ".local", "state")
	}
	return &Places{parent, statedir.Private(parent, "git-agent")}
}

// Dir returns the directory, or nil if there is none for this user.
func (p *Places) Dir() *statedir.Dir { return p.dir }

// Away returns the directory for what is kept of sessions without a home, "" if
// there is no place for one, and reports whether it is there, and ours.
func (p *Places) Away() (dir string, ours bool) {
	if p.dir == nil {
		return "", false
	}
	info, err := p.dir.Lstat(away)
	return p.dir.Path(away), err == nil && info.IsDir()
}

// MakeAway makes what [Places.Away] returns.
func (p *Places) MakeAway() error {
	if err := p.make(); err != nil {
		return err
	}
	if err := p.dir.Make(); err != nil {
		return err
	}
	return os.MkdirAll(p.dir.Path(away), 0o700)
}

// Note notes that a session's conversation is recorded in the repository with a
// common directory.
func (p *Places) Note(session, common string) error {
	if err := p.NoteRepository(common); err != nil {
		return err
	}
	return p.dir.WriteFile(filepath.Join(homes, session), []byte(common))
}

// NoteRepository notes that turns are recorded in the repository with a common
// directory.
func (p *Places) NoteRepository(common string) error {
	return p.write(filepath.Join(repositories, nameOf(common)), common)
}

func (p *Places) write(name, text string) error { return p.writeTo(name, os.O_TRUNC, text) }

// make makes what the directory is in.
func (p *Places) make() error {
	if p.dir == nil {
		return errors.New("note where turns are recorded: the environment names no home directory")
	}
	if err := os.MkdirAll(p.parent, 0o700); err != nil {
		return fmt.Errorf("note where turns are recorded: %w", err)
	}
	return nil
}

func (p *Places) writeTo(name string, how int, text string) error {
	if err := p.make(); err != nil {
		return err
	}
	f, err := p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|how)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Switch notes whether the user has switched recording on in a repository that
// belongs to somebody else, with a common directory.
func (p *Places) Switch(common string, on bool) error {
	was := p.switchedAs(common)
	if on {
		if is := identity(common); is != "" {
			if err := p.write(filepath.Join(directories, nameOf(is)), common); err != nil {
				return err
			}
		}
		if err := p.write(filepath.Join(switched, nameOf(common)), common); err != nil {
			return err
		}
	}
	if was == "" || on && was == common {
		return nil
	}
	if !on {
		_ = p.dir.Remove(filepath.Join(directories, nameOf(identity(common)))) // there may be none
	}
	return p.dir.Remove(filepath.Join(switched, nameOf(was)))
}

// Switched reports what [Places.Switch] has noted. A repository that was moved
// since, within its file system, is known by its directory and its owner.
func (p *Places) Switched(common string) bool { return p.switchedAs(common) != "" }

// switchedAs returns where a repository was when it was switched on, "" if it
// was not.
func (p *Places) switchedAs(common string) string {
	if p.dir == nil {
		return ""
	}
	noted := func(kind, of string) string {
		text, _ := p.dir.ReadFile(filepath.Join(kind, nameOf(of)))
		return string(text)
	}
	if noted(switched, common) == common {
		return common
	}
	is := identity(common)
	if is == "" {
		return ""
	}
	if was := noted(directories, is); gone(was) && noted(switched, was) == was {
		return was
	}
	return ""
}

// Forget forgets the repository with a common directory, and the homes of
// sessions there or in one that is gone. It removes the directory if nothing else
// is in it.
func (p *Places) Forget(common string) error {
	if p.dir == nil {
		return nil
	}
	was := cmp.Or(p.switchedAs(common), common)
	is := func(read func() string, _ time.Time) bool { at := read(); return at == common || at == was }
	err := errors.Join(p.forget(repositories, is), p.forget(directories, is), p.forget(switched, is), p.forget(homes, func(read func() string, _ time.Time) bool {
		at := read()
		return at == common || gone(at)
	}))
	p.Tidy()
	return err
}

// Tidy removes the directory if nothing is in it.
func (p *Places) Tidy() {
	if p.dir == nil {
		return
	}
	for _, name := range []string{repositories, homes, directories, switched, "."} {
		_ = p.dir.Remove(name) // it has something
	}
}

func nameOf(common string) string {
	sum := sha256.Sum256([]byte(common))
	return fmt.Sprintf("%x", sum[:16])
}

// Home returns the common directory of the repository that a session's
// conversation is recorded in, as far as that was noted; "" if it was not. The
// repository may be gone.
func (p *Places) Home(session string) string {
	if p.dir == nil {
		return ""
	}
	path, err := p.dir.ReadFile(filepath.Join(homes, session))
	if err != nil || !filepath.IsAbs(string(path)) {
		return ""
	}
	return string(path)
}

// Repositories returns the common directories of the repositories that turns are
// recorded in, the one in which a session began last first. It forgets those
// that are gone.
func (p *Places) Repositories() ([]string, error) {
	if p.dir == nil {
		return nil, nil
	}
	found := make(map[string]time.Time)
	err := p.forget(repositories, func(read func() string, at time.Time) bool {
		common := read()
		if gone(common) {
			return true
		}
		found[common] = at
		return false
	})
	list := make([]string, 0, len(found))
	for common := range found {
		list = append(list, common)
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(found[b].Compare(found[a]), strings.Compare(a, b))
	})
	return list, err
}

// Prune forgets homes that were noted more than [Kept] ago, also in repositories
// that are gone: until then, their sessions' conversations do not begin anew.
func (p *Places) Prune(now time.Time) error {
	if p.dir == nil {
		return nil
	}
	return p.forget(homes, func(_ func() string, at time.Time) bool { return now.Sub(at) > Kept })
}

func gone(common string) bool {
	_, err := os.Stat(common)
	return errors.Is(err, fs.ErrNotExist) || !filepath.IsAbs(common)
}

// forget removes the notes of a kind of which over says so, by what they hold
// and when they were written.
func (p *Places) forget(kind string, over func(read func() string, at time.Time) bool) error {
	entries, err := p.dir.ReadDir(kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read which repositories there are: %w", err)
	}
	for _, e := range entries {
		name := filepath.Join(kind, e.Name())
		info, err := e.Info()
		if err != nil {
			continue // another process has removed it
		}
		unread := error(nil)
		read := func() string {
			text, err := p.dir.ReadFile(name)
			unread = err
			return string(text)
		}
		if over(read, info.ModTime()) && unread == nil {
			_ = p.dir.Remove(name) // another process may have
		}
	}
	return nil
}
