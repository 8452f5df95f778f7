package transcript

import (
	"path/filepath"
	"slices"
	"strings"
)

// Near reports whether a conversation that began in dir may be of a repository
// with worktrees in dirs, as far as names tell: it is one of them, or below
// one, or has its name and more, such as repo-feature and repo.trees/feature.
func Near(dir string, dirs []string) bool {
	dir = filepath.Clean(dir)
	return slices.ContainsFunc(dirs, func(of string) bool {
		of = filepath.Clean(of)
		rest, ok := strings.CutPrefix(dir, of)
		return ok && (rest == "" || !alphanumeric(rest[0]) || of[len(of)-1] == filepath.Separator)
	})
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// Beside reports whether dir is in the directory that one of dirs is in.
func Beside(dir string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(of string) bool { return filepath.Dir(dir) == filepath.Dir(of) })
}
