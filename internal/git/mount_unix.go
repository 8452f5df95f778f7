//go:build unix && !linux

package git

import (
	"os"
	"syscall"
)

// sameMount reports whether two directories are in one file system.
func sameMount(a, b string) bool {
	x, err := os.Stat(a)
	y, e := os.Stat(b)
	if err != nil || e != nil {
		return false
	}
	return x.Sys().(*syscall.Stat_t).Dev == y.Sys().(*syscall.Stat_t).Dev
}
