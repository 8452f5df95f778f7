package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

const housekept = "housekept"

// Due reports whether a day has passed since [Store.Housekept], or else since
// the first call of Due.
func (s Store) Due(now time.Time) bool {
	info, err := s.dir.Lstat(housekept)
	if errors.Is(err, fs.ErrNotExist) {
		_ = s.Housekept(now) // nothing is old yet
		return false
	}
	return err == nil && now.Sub(info.ModTime()).Abs() >= 24*time.Hour // or the clock was wrong
}

// Housekept notes that housekeeping begins. The next is due in a day, even if
// this one fails.
func (s Store) Housekept(now time.Time) error {
	return s.dir.WriteFile(housekept, []byte(now.UTC().Format(time.RFC3339)+"\n"))
}

// Prune removes sessions without events since before, and leftovers of dead
// writers. If resumed, a session's state is rebuilt from the refs.
func (s Store) Prune(before time.Time) error {
	entries, err := s.dir.ReadDir(sessions)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("prune sessions: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) { // every event of a session writes its file
			continue
		}
		if err := s.dir.Remove(filepath.Join(sessions, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prune sessions: %w", err)
		}
	}
	return nil
}
