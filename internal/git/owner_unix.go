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

// ownGroup reports whether nobody but a file's owner is in its group, as far as numbers tell.
func ownGroup(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == stat.Gid
}

// Readable reports whether other users of the machine can read the repository's objects, as far as
// modes tell. A group with the number of the directory's owner counts as the owner's alone, as most
// systems give each user one.
func (r *Repo) Readable() bool {
	dir, err := filepath.EvalSymlinks(filepath.Join(r.CommonDir, "objects", "pack"))
	if err != nil {
		return false
	}
	for needed := fs.FileMode(5); ; needed = 1 { // to list it; and to pass through those above it
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
