//go:build !linux && !darwin

package journal

import "io/fs"

// Ctime has no answer here: nothing but the time of the content is known.
func Ctime(fs.FileInfo) (at int64, ok bool) { return 0, false }
