package statedir

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// far is the offset of the locked byte, in units of 4 GiB, past all content.
const far = 1

func try(f *os.File) (bool, error) {
	at := windows.Overlapped{OffsetHigh: far}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) {
	at := windows.Overlapped{OffsetHigh: far}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}
