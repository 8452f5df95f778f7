package missionstore

import (
	"os"
	"path/filepath"
)

// An unplaced is a file, for the user alone, that has no final name yet. It and
// its directory are made when something is written.
type unplaced struct {
	path  string
	tried bool // to make it
	file  *os.File
}

func (u *unplaced) Write(p []byte) (n int, err error) {
	if u.file == nil {
		u.tried = true
		if err := os.MkdirAll(filepath.Dir(u.path), 0o700); err != nil {
			return 0, err
		}
		if u.file, err = os.OpenFile(u.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return 0, err
		}
	}
	return u.file.Write(p)
}

func (u *unplaced) Close() error {
	if u.file == nil {
		return nil
	}
	return u.file.Close()
}

// discard removes it, unless it was placed or never made.
func (u *unplaced) discard() {
	if u.tried {
		_ = os.Remove(u.path)
		_ = os.Remove(filepath.Dir(u.path)) // if it is empty
	}
}
