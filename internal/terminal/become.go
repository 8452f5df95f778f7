package terminal

import (
	"fmt"
	"os"
	"path/filepath"
)

// Own returns the file of the program of this one's name in a directory, relative to that of this one's own file,
// links resolved.
func Own(dir string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("find this program's own file: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), filepath.FromSlash(dir), filepath.Base(self))
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return path, fmt.Errorf("%s is not there", path)
	}
	return path, nil
}
