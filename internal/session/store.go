package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
)

const (
	enabled  = "enabled"
	sessions = "sessions"
)

// A Store is the local state of a repository, shared by its worktrees.
type Store struct{ dir *statedir.Dir }

// Open returns the store of a common directory. It touches no file.
func Open(commonDir string) Store { return Store{statedir.Of(commonDir)} }

// Dir returns the store's directory.
func (s Store) Dir() *statedir.Dir { return s.dir }

// Enabled reports whether recording is enabled here. It returns true if that
// can't be seen, so that the user hears of it: something is in the directory's
// place, or it is another user's.
func (s Store) Enabled() bool {
	_, err := s.dir.Lstat(enabled)
	return !errors.Is(err, fs.ErrNotExist)
}

// Enable turns recording on or off here, and reports whether that changed it.
func (s Store) Enable(on bool) (bool, error) {
	if s.Enabled() == on {
		return false, nil
	}
	if !on {
		err := s.dir.Remove(enabled)
		_ = s.dir.Remove(".") // empty if nothing was recorded
		return true, err
	}
	err := s.dir.WriteFile(enabled, nil)
	if err != nil {
		err = fmt.Errorf("enable recording: %w", err)
	}
	return err == nil, err
}

// Lock waits for the named lock until ctx ends.
func (s Store) Lock(ctx context.Context, name string) (*statedir.Lock, error) {
	return s.dir.Lock(ctx, filepath.Join("locks", name))
}

// TryLock returns the named lock if it is free, or nil.
func (s Store) TryLock(name string) (*statedir.Lock, error) {
	return s.dir.TryLock(filepath.Join("locks", name))
}

// Locks lists the lock files.
func (s Store) Locks() ([]fs.DirEntry, error) { return s.dir.ReadDir("locks") }

// lock waits, within a limit, for a process at work on the same thing.
func (s Store) lock(ctx context.Context, kind, name string) (*statedir.Lock, error) {
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Lock)
	defer cancel()
	return s.Lock(ctx, kind+"-"+name)
}

// shared locks a session or mission, by one of 64 files per kind: a file for
// each would stay, as lock files can't be deleted safely.
func (s Store) shared(ctx context.Context, kind, id string) (*statedir.Lock, error) {
	return s.slot(ctx, kind, slotOf(id))
}

func slotOf(id string) uint32 { return crc32.ChecksumIEEE([]byte(id)) % slots }

const slots = 64

func (s Store) slot(ctx context.Context, kind string, n uint32) (*statedir.Lock, error) {
	return s.lock(ctx, kind, fmt.Sprintf("%02d", n))
}

// LockAll locks all sessions and missions against our other processes, in a
// recorder's order: sessions, then missions. An error leaves nothing locked.
func (s Store) LockAll(ctx context.Context) (held []*statedir.Lock, err error) {
	for _, kind := range []string{"session", "mission"} {
		for n := range uint32(slots) {
			l, err := s.slot(ctx, kind, n)
			if err != nil {
				for _, l := range held {
					l.Release()
				}
				return nil, err
			}
			held = append(held, l)
		}
	}
	return held, nil
}

// LockOut takes every lock, a mission's first, so that no other process of ours
// works here. It takes all or none, and waits within a limit.
func (s Store) LockOut(ctx context.Context) ([]*statedir.Lock, error) {
	ctx, cancel := limit.Within(ctx, limit.Of(ctx).Lock)
	defer cancel()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		held, busy, err := s.tryAll()
		if err != nil || busy == "" {
			return held, err
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("another process of git-agent is at work here, and has locked %s: %w", s.dir.Path(busy), ctx.Err())
		}
	}
}

// lockDirs are the directories with our lock files.
var lockDirs = [...]string{"locks", "planting", "bisect", pages}

func (s Store) tryAll() (held []*statedir.Lock, busy string, err error) {
	var names []string
	for _, kind := range []string{"mission", "session"} {
		for n := range uint32(slots) {
			names = append(names, filepath.Join("locks", fmt.Sprintf("%s-%02d", kind, n)))
		}
	}
	for _, dir := range lockDirs {
		entries, err := s.dir.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		for _, e := range entries {
			if name := filepath.Join(dir, e.Name()); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		l, err := s.dir.TryLock(name)
		if l == nil {
			for _, l := range held {
				l.Release()
			}
			return nil, name, err
		}
		held = append(held, l)
	}
	return held, "", nil
}

// Clear removes all local state but lock files, and what the user was told. The
// caller must hold all locks.
func (s Store) Clear() error {
	entries, err := s.dir.ReadDir(".")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		if e.Name() != lockDirs[0] {
			err = errors.Join(err, s.dir.RemoveAll(e.Name()))
		}
	}
	return errors.Join(err, s.untell())
}

// LockArchive locks the archive. It comes before any mission's lock.
func (s Store) LockArchive(ctx context.Context) (*statedir.Lock, error) {
	return s.lock(ctx, "archive", "index")
}

// TryLockArchive is [Store.LockArchive] if nobody holds the lock, or nil.
func (s Store) TryLockArchive() (*statedir.Lock, error) { return s.TryLock("archive-index") }

// MissionLock returns a mission's lock number, which other missions share.
func MissionLock(id record.ID) uint32 { return slotOf(string(id)) }

// LockWorktree locks a worktree, by its git directory, and the private index of
// its snapshots.
func (s Store) LockWorktree(ctx context.Context, gitDir string) (*statedir.Lock, error) {
	return s.lock(ctx, "worktree", filepath.Base(gitDir))
}

// LockSessions keeps sessions of a worktree from beginning and ending. It comes
// before other locks, and is held while a session begins, ends or hands off.
func (s Store) LockSessions(ctx context.Context, gitDir string) (*statedir.Lock, error) {
	return s.lock(ctx, "handoff", filepath.Base(gitDir))
}

// LockMission locks the refs of a mission.
func (s Store) LockMission(ctx context.Context, id record.ID) (*statedir.Lock, error) {
	return s.shared(ctx, "mission", string(id))
}

// TryLockMission is [Store.LockMission] if nobody holds the lock, or nil. busy
// reports whether another process does.
func (s Store) TryLockMission(id record.ID) (held *statedir.Lock, busy bool, err error) {
	name := fmt.Sprintf("mission-%02d", MissionLock(id))
	held, err = s.TryLock(name)
	return held, held == nil && err == nil && !s.dir.Holds(filepath.Join("locks", name)), err
}

// Slots is how many locks missions share.
const Slots = slots

// LockSlot locks the refs of all missions with a [MissionLock].
func (s Store) LockSlot(ctx context.Context, n uint32) (*statedir.Lock, error) {
	return s.slot(ctx, "mission", n)
}

func path(id string) string { return filepath.Join(sessions, id+".json") }

// Load returns a session's state. It is new, to be rebuilt, if none can be
// read, as after a death on a full disk.
func (s Store) Load(id string) *Known {
	if st := s.read(path(id)); st != nil && st.Session == id {
		return st
	}
	return &Known{V: stateVersion, Session: id}
}

// read returns nil for a state that is unreadable or of another version.
func (s Store) read(path string) *Known {
	st := new(Known)
	data, err := s.dir.ReadFile(path)
	if err != nil || json.Unmarshal(data, st) != nil || st.V != stateVersion {
		return nil
	}
	return st
}

// ErrUnchanged makes [Store.Update] save nothing, without an error.
var ErrUnchanged = errors.New("nothing has changed")

// Update loads a session's state, calls f, and saves it if f succeeds. It is
// the only writer, and excludes others; a reader sees the old or the new state.
// It returns f's error, except [ErrUnchanged].
func (s Store) Update(ctx context.Context, id string, f func(*Known) error) error {
	held, err := s.shared(ctx, "session", id)
	if err != nil {
		return err
	}
	defer held.Release()
	st := s.Load(id)
	if err := f(st); errors.Is(err, ErrUnchanged) {
		return nil
	} else if err != nil {
		return err
	}
	data, err := json.Marshal(st)
	if err == nil {
		err = s.replace(path(st.Session), data)
	}
	if err != nil {
		return fmt.Errorf("save session %s: %w", st.Session, err)
	}
	return nil
}

// replace writes a session's file under its lock. Where files can be exchanged,
// the unused predecessor stays to be overwritten next: that costs a tenth of a
// new file.
func (s Store) replace(path string, data []byte) error {
	spare := sparePath(path)
	err := s.overwrite(spare, data)
	if err == nil {
		err = s.dir.Replace(spare, path)
	}
	return err
}

func sparePath(path string) string { return path + ".old" }

// overwrite writes a file without emptying it, which would make ext4 sync it.
func (s Store) overwrite(path string, data []byte) error {
	f, err := s.dir.OpenFile(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	return errors.Join(err, f.Close())
}

// All returns all readable states, the newest first.
func (s Store) All() []*Known { return s.Recent(math.MaxInt) }

// Last returns the most recent matching session, or nil.
func (s Store) Last(matches func(*Known) bool) *Known {
	for _, st := range s.All() {
		if matches(st) {
			return st
		}
	}
	return nil
}

// Recent returns the n most recent states, the newest first.
func (s Store) Recent(n int) []*Known {
	entries, _ := s.dir.ReadDir(sessions) // none before the first session
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") {
			files = append(files, info)
		}
	}
	// Every event of a session writes its file.
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var recent []*Known
	for _, f := range files[:min(n, len(files))] {
		if st := s.read(filepath.Join(sessions, f.Name())); st != nil {
			recent = append(recent, st)
		}
	}
	slices.SortStableFunc(recent, func(a, b *Known) int { return b.Seen.Compare(a.Seen) })
	return recent
}

// Forget drops the states of the sessions that record to a mission, its records,
// and the hints and the lists, which may name it.
func (s Store) Forget(ctx context.Context, mission record.ID) error {
	if err := s.dir.Remove(RecallFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.dropRecords(mission); err != nil {
		return err
	}
	if err := s.forgetLists(ctx); err != nil {
		return err
	}
	for _, st := range s.All() {
		if st.Mission == mission {
			if err := s.ForgetSession(ctx, st.Session, mission); err != nil {
				return fmt.Errorf("forget session %s: %w", st.Session, err)
			}
		}
	}
	return nil
}

// ForgetSession drops the state of a session if it records to mission.
func (s Store) ForgetSession(ctx context.Context, id string, mission record.ID) error {
	held, err := s.shared(ctx, "session", id)
	if err != nil {
		return err
	}
	defer held.Release()
	if s.Load(id).Mission != mission {
		return nil // it records to another one now
	}
	for _, path := range []string{path(id), sparePath(path(id))} {
		if err := s.dir.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// AskWake asks for a wake at the end of the session's turn.
func (s Store) AskWake(ctx context.Context, id string, w Wake) error {
	return s.Update(ctx, id, func(st *Known) error { st.Wake = &w; return nil })
}

// TakeWake returns and removes the session's [Wake], or nil.
func (s Store) TakeWake(ctx context.Context, id string) (*Wake, error) {
	if s.Load(id).Wake == nil { // spares the lock in most turns
		return nil, nil
	}
	var w *Wake
	err := s.Update(ctx, id, func(st *Known) error { w, st.Wake = st.Wake, nil; return nil })
	return w, err
}
