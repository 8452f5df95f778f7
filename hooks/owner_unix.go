//go:build !windows

package hooks

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group that info has.
// Only root may do so for any of them; what is not allowed is left as it is.
func keepOwner(f *os.File, info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(stat.Uid), int(stat.Gid))
	}
}
