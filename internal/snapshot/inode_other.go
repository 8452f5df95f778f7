//go:build !unix

package snapshot

import "io/fs"

// inode is not known here; size and time have to do.
func inode(fs.FileInfo) uint64 { return 0 }
