//go:build unix

package hook

import "golang.org/x/sys/unix"

// writable reports whether files can be made in a directory.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
