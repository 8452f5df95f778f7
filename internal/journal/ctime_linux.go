package journal

import (
	"io/fs"
	"syscall"
)

// Ctime returns when a file's content or inode last changed, in ms since 1970.
func Ctime(info fs.FileInfo) (at int64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Ctim.Nano() / 1e6, true
}
