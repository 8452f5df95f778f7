package gittest

import (
	"os"
	"sync"
	"syscall"
)

// memory is a directory in memory with room for repositories whose hooks run, or "", as where
// TMPDIR says otherwise. ext4 does not give an inode away again in the minute after its file was
// removed, and looks at all of these whenever it makes a file: that was 45 % of the tests' CPU time.
var memory = sync.OnceValue(func() string {
	const dir, noexec = "/dev/shm", 0x8
	var s syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" {
		return ""
	}
	if err := syscall.Statfs(dir, &s); err != nil || s.Flags&noexec != 0 || s.Bavail*uint64(s.Bsize) < 2<<30 {
		return ""
	}
	return dir
})
