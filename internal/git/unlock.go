package git

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Unlock makes directories writable for the user, or git could not remove them.
func Unlock(top string) {
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
			_ = os.Chmod(path, info.Mode().Perm()|0o700) // removing it reports what is wrong
		}
		return nil
	})
}
