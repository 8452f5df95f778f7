package statedir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// locked searches /proc/locks, up to three times: it is read in pieces, and
// loses a line if an earlier lock is released in between.
func locked(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	inode := info.Sys().(*syscall.Stat_t).Ino
	for range 3 {
		list, err := os.ReadFile("/proc/locks")
		if err != nil {
			return false, errors.Join(err, errors.ErrUnsupported)
		}
		if listed(list, inode) {
			return true, nil
		}
	}
	return false, nil
}

// listed reports whether a list has a lock of a whole file with that inode:
//
//	5: FLOCK  ADVISORY  WRITE 26890 fe:00:11068620 0 EOF
//
// On btrfs stat gives another device, which is ignored. A line with an arrow is
// a process that waits for the lock above.
func listed(list []byte, inode uint64) bool {
	for line := range bytes.Lines(list) {
		fields := bytes.Fields(line)
		if len(fields) < 6 || string(fields[1]) != "FLOCK" {
			continue
		}
		id := fields[5][bytes.LastIndexByte(fields[5], ':')+1:]
		if n, err := strconv.ParseUint(string(id), 10, 64); err == nil && n == inode {
			return true
		}
	}
	return false
}
