package lock

import (
	"fmt"
	"path/filepath"
)

// Held reports whether another process has locked the file at path, whoever wrote it and wherever it
// is. The lock is not touched, so that a process which tries to take it at this very moment gets it.
// A file that doesn't exist is not locked; the error wraps [errors.ErrUnsupported] where the system
// can't tell.
//
// On Linux the holder is not seen if it is in a container that this process can't look into.
func Held(path string) (bool, error) {
	held, err := held(path)
	if err != nil {
		return false, fmt.Errorf("see whether %s is locked: %w", filepath.Base(path), err)
	}
	return held, nil
}
