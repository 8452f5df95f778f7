package session

import (
	"errors"
	"io/fs"
	"time"
)

// kept is the file whose time says when housekeeping was last done.
const kept = "housekept"

// Due reports whether a day has passed since [Store.Kept] was called, or since this was first asked.
func (s Store) Due(now time.Time) bool {
	info, err := s.dir.Lstat(kept)
	if errors.Is(err, fs.ErrNotExist) {
		_ = s.Kept(now) // nothing is old yet
		return false
	}
	return err == nil && now.Sub(info.ModTime()).Abs() >= 24*time.Hour // or the clock was wrong
}

// Kept notes that housekeeping is done now, whatever becomes of it: the next is due in a day.
func (s Store) Kept(now time.Time) error {
	return s.dir.WriteFile(kept, []byte(now.UTC().Format(time.RFC3339)+"\n"))
}
