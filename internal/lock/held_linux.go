package lock

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// held looks for the file in the system's list of locks. The list is read in pieces, and loses a line
// if a lock before it is released between two of them: so what is not there is looked for again.
func held(path string) (bool, error) {
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

// listed reports whether a list of locks has one of a whole file with that inode:
//
//	5: FLOCK  ADVISORY  WRITE 26890 fe:00:11068620 0 EOF
//
// The device is not compared, as stat tells another one in the subvolumes of btrfs. A line with an
// arrow is of a process that waits for the lock above.
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
