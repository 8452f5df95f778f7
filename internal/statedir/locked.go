package statedir

import (
	"fmt"
	"path/filepath"
)

// Locked reports whether another process, of any program, has locked a file. It
// does not touch the lock, so others can still get it. A missing file is not
// locked. The error wraps [errors.ErrUnsupported] if the system can't tell. On
// Linux it misses holders in containers that we can't look into.
func Locked(path string) (bool, error) {
	held, err := locked(path)
	if err != nil {
		return false, fmt.Errorf("see whether %s is locked: %w", filepath.Base(path), err)
	}
	return held, nil
}
