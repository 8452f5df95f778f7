package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// housekept is the file whose time says when housekeeping was last done.
const housekept = "housekept"

// Due reports whether a day has passed since [Store.Housekept] was called, or
// since Due was first called.
func (s Store) Due(now time.Time) bool {
	info, err := s.dir.Lstat(housekept)
	if errors.Is(err, fs.ErrNotExist) {
		_ = s.Housekept(now) // nothing is old yet
		return false
	}
	return err == nil && now.Sub(info.ModTime()).Abs() >= 24*time.Hour // or the clock was wrong
}

// Housekept notes that housekeeping begins now. However it ends, the next is due
// in a day.
func (s Store) Housekept(now time.Time) error {
	return s.dir.WriteFile(housekept, []byte(now.UTC().Format(time.RFC3339)+"\n"))
}

// Prune forgets sessions without an event since a time, and the leftovers of
// dead writers. If such a session is resumed, its state is rebuilt from the
// refs.
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
