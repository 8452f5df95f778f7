package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// A Store is the local state of one repository, shared by its worktrees.
type Store struct{ dir string }

// Open returns the store of the repository whose common directory is given. It touches nothing.
func Open(commonDir string) Store { return Store{filepath.Join(commonDir, "agent")} }

// Dir is where the store lies.
func (s Store) Dir() string { return s.dir }

// Enabled reports whether recording was enabled in this repository.
func (s Store) Enabled() bool {
	_, err := os.Lstat(filepath.Join(s.dir, "enabled"))
	return err == nil
}

// Enable enables or disables recording in this repository and reports whether that is news.
func (s Store) Enable(on bool) (bool, error) {
	if s.Enabled() == on {
		return false, nil
	}
	path := filepath.Join(s.dir, "enabled")
	if !on {
		return true, os.Remove(path)
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return false, fmt.Errorf("enable recording: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return false, fmt.Errorf("enable recording: %w", err)
	}
	return true, f.Close()
}

// Lock waits for the lock of that name and returns the function that releases it.
// The system releases it when the process dies.
func (s Store) Lock(ctx context.Context, name string) (release func(), err error) {
	dir := filepath.Join(s.dir, "locks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	l := flock.New(filepath.Join(dir, name))
	ok, err := l.TryLock()
	if err == nil && !ok {
		_, err = l.TryLockContext(ctx, 5*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = l.Close() }, nil // closing can only fail when the lock is gone already
}

// LockSession waits for the lock of a session. Sessions share 64 lock files: one each would be left behind by every
// session, and a lock file can't be deleted safely.
func (s Store) LockSession(ctx context.Context, id string) (release func(), err error) {
	return s.Lock(ctx, fmt.Sprintf("session-%02d", crc32.ChecksumIEEE([]byte(id))%64))
}

func (s Store) path(id string) string { return filepath.Join(s.dir, "sessions", id+".json") }

// Load returns the state of a session: a new one if there is none, and if what is there
// can't be read (a process died while the disk was full): it can be rebuilt.
func (s Store) Load(id string) *State {
	st, err := s.read(s.path(id))
	if err != nil || st.Session != id {
		return &State{V: stateVersion, Session: id}
	}
	return st
}

func (s Store) read(path string) (*State, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	st := new(State)
	if err := json.Unmarshal(data, st); err != nil {
		return nil, err
	}
	if st.V != stateVersion {
		return nil, fmt.Errorf("read %s: unknown version %d", path, st.V)
	}
	return st, nil
}

// Save writes the state of a session. A reader sees the old state or the new one.
func (s Store) Save(st *State) error {
	data, err := json.Marshal(st)
	if err == nil {
		err = replace(s.path(st.Session), data)
	}
	if err != nil {
		return fmt.Errorf("save session %s: %w", st.Session, err)
	}
	return nil
}

// replace writes a file of a session, for which its writer holds a lock.
func replace(path string, data []byte) error {
	tmp := path + ".new"
	err := os.WriteFile(tmp, data, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.WriteFile(tmp, data, 0o600)
		}
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// All returns the states of all sessions that can be read, in no order.
func (s Store) All() []*State {
	entries, err := os.ReadDir(filepath.Join(s.dir, "sessions"))
	if err != nil {
		return nil
	}
	var all []*State
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		if st, err := s.read(filepath.Join(s.dir, "sessions", e.Name())); err == nil {
			all = append(all, st)
		}
	}
	return all
}

// Recent returns the states of the n sessions that were last heard of, the newest first.
func (s Store) Recent(n int) []*State {
	dir := filepath.Join(s.dir, "sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	type file struct {
		name string
		at   time.Time // every event of a session writes its file
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	var recent []*State
	for _, f := range files[:min(n, len(files))] {
		if st, err := s.read(filepath.Join(dir, f.name)); err == nil {
			recent = append(recent, st)
		}
	}
	slices.SortStableFunc(recent, func(a, b *State) int { return b.Seen.Compare(a.Seen) })
	return recent
}

// Tell reports whether the user is to be told about an error in this session: once.
func (s Store) Tell(id string) bool {
	st := s.Load(id)
	if st.Told {
		return false
	}
	st.Told = true
	return s.Save(st) == nil
}

// Prune forgets sessions that were last heard of before a time, and what a writer that died has left.
// Should one come back, its state is rebuilt from the refs.
func (s Store) Prune(before time.Time) error {
	dir := filepath.Join(s.dir, "sessions")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("prune sessions: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) { // every event of a session writes its file
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prune sessions: %w", err)
		}
	}
	return nil
}

// Forget drops the states of the sessions that record to a mission.
func (s Store) Forget(mission string) error {
	for _, st := range s.All() {
		if st.Mission != mission {
			continue
		}
		if err := os.Remove(s.path(st.Session)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget session %s: %w", st.Session, err)
		}
	}
	return nil
}
