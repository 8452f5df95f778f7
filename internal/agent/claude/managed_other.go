//go:build !windows

package claude

import (
	"os"
	"path/filepath"
	"runtime"
)

// policies are the places of the system's policies in which there are settings
// of the client's.
func policies() []string {
	if runtime.GOOS != "darwin" {
		return nil
	}
	const dir, name = "/Library/Managed Preferences", "com.anthropic.claudecode.plist"
	var there []string
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, os.Getenv("USER"), name)} {
		if _, err := os.Lstat(path); err == nil {
			there = append(there, path)
		}
	}
	return there
}
