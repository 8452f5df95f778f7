package terminal

import (
	"os"
	"path/filepath"
	"runtime"
)

// DetachOwn is [Detach] for one of our programs, by name: the one beside this program's own file,
// or else the one on PATH.
func DetachOwn(dir, program string, args ...string) error {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), program)
		if runtime.GOOS == "windows" {
			beside += ".exe"
		}
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			program = beside
		}
	}
	return Detach(dir, append([]string{program}, args...)...)
}
