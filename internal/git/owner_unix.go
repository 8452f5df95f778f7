//go:build !windows

package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ours reports whether a file belongs to the user of this process.
func ours(_ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// sameDevice reports whether files are on one file system.
func sameDevice(a, b fs.FileInfo) bool {
	x, isX := a.Sys().(*syscall.Stat_t)
	y, isY := b.Sys().(*syscall.Stat_t)
	return !isX || !isY || x.Dev == y.Dev
}

// ownGroup reports whether a file's group has its owner's number.
func ownGroup(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == stat.Gid
}

// Readable reports whether modes let other users read the objects. A group with
// the owner's number counts as the owner's, as on most systems.
func (r *Repo) Readable() bool {
	dir, err := filepath.EvalSymlinks(filepath.Join(r.CommonDir, "objects", "pack"))
	if err != nil {
		return false
	}
	for needed := fs.FileMode(5); ; needed = 1 { // 5 to list the directory, 1 to pass through its parents
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		others := info.Mode().Perm() & 7
		if !ownGroup(info) {
			others |= info.Mode().Perm() >> 3 & 7
		}
		if others&needed != needed {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}
