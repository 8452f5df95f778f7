//go:build !windows

package hooks

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group in info. Only root may set any of them; what is not allowed
// is left alone.
func keepOwner(f *os.File, info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(stat.Uid), int(stat.Gid))
	}
}
