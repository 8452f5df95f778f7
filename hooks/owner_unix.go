//go:build !windows

package hooks

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group in info; only root may set any.
func keepOwner(f *os.File, info fs.FileInfo) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(stat.Uid), int(stat.Gid))
	}
}
