//go:build !windows

package statedir

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// shared reports whether others than this process's user may have to use what
// it makes in a directory: its group, all users, or its owner if we are root.
func shared(dir fs.FileInfo) bool {
	return dir.Mode().Perm()&0o022 != 0 || os.Geteuid() == 0 && !own(dir)
}

// giveAll gives an open file, and the directories that lead to it, to those who
// may write in the directory above. They must be this user's: a link to another
// file of theirs has more than one name.
func (d *Dir) giveAll(root *os.Root, name string, f *os.File, info fs.FileInfo) error {
	if !d.lacking(info) || links(info) > 1 {
		return nil
	}
	if err := d.give(f.Chmod, f.Chown, info); err != nil {
		return err
	}
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if err := d.giveDir(root, dir); err != nil {
			return err
		}
	}
	return nil
}

// giveDir is giveAll for a directory in another one.
func (d *Dir) giveDir(in *os.Root, name string) error {
	info, err := in.Lstat(name)
	if err != nil || !info.IsDir() {
		return err
	}
	return d.give(
		func(mode fs.FileMode) error { return in.Chmod(name, mode) },
		func(uid, gid int) error { return in.Lchown(name, uid, gid) },
		info)
}

// lacking reports whether a file or directory of ours has another mode or owner
// than it would be given.
func (d *Dir) lacking(info fs.FileInfo) bool {
	return own(info) && (info.Mode() != d.sharedMode(info) || !sameOwner(info, d.above) && os.Geteuid() == 0)
}

// sharedMode adds to a mode what lets others read and write that may write in
// the directory above.
func (d *Dir) sharedMode(info fs.FileInfo) fs.FileMode {
	write := d.above.Mode().Perm() & 0o022
	mode := info.Mode() | write | write<<1
	if info.IsDir() {
		mode |= write>>1 | d.above.Mode()&fs.ModeSetgid
	}
	return mode
}

// give gives what this process, or an earlier one of its user, has made to those
// who may write in the directory above.
func (d *Dir) give(chmod func(fs.FileMode) error, chown func(uid, gid int) error, info fs.FileInfo) error {
	if !d.lacking(info) {
		return nil
	}
	err := chmod(d.sharedMode(info))
	if above, ok := d.above.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		err = cmp.Or(err, chown(int(above.Uid), int(above.Gid)))
	}
	return err
}

func sameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, is := b.Sys().(*syscall.Stat_t)
	return ok && is && x.Uid == y.Uid
}
