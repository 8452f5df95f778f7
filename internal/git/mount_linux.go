package git

import "golang.org/x/sys/unix"

// sameMount reports whether two directories are in one mount, or in one file
// system where the kernel, before 5.8, does not tell.
func sameMount(a, b string) bool {
	var x, y unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, a, 0, unix.STATX_MNT_ID, &x) != nil || unix.Statx(unix.AT_FDCWD, b, 0, unix.STATX_MNT_ID, &y) != nil {
		return false
	}
	return x.Mnt_id == y.Mnt_id && x.Dev_major == y.Dev_major && x.Dev_minor == y.Dev_minor
}
