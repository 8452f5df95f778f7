package hooks

import (
	"path/filepath"
	"runtime"
)

// InHome returns a path in the home directory that getenv names, or "" if it
// names none. getenv is [os.Getenv] or a stand-in.
func InHome(getenv func(string) string, path string) string {
	home := getenv("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, path)
}
