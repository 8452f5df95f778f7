package git

import (
	"os"
	"path/filepath"
	"slices"
)

// above returns the directory where git goes on to look for a repository that
// is not in dir, a directory without links, or "" if it looks no further: at
// the root, below one of GIT_CEILING_DIRECTORIES, or where another file system
// begins, unless GIT_DISCOVERY_ACROSS_FILESYSTEM is set.
func above(dir string) string {
	parent := filepath.Dir(dir)
	if parent == dir || slices.Contains(ceilings(), parent) {
		return ""
	}
	if (Config{"x": {os.Getenv("GIT_DISCOVERY_ACROSS_FILESYSTEM")}}).Bool("x") {
		return parent
	}
	here, err := os.Stat(dir)
	there, e := os.Stat(parent)
	if err == nil && e == nil && !sameDevice(here, there) {
		return ""
	}
	return parent
}

// ceilings returns GIT_CEILING_DIRECTORIES. As in git, relative ones do not
// count, and links are followed only in those before an empty one.
func ceilings() (dirs []string) {
	follow := true
	for _, dir := range filepath.SplitList(os.Getenv("GIT_CEILING_DIRECTORIES")) {
		if follow = follow && dir != ""; !filepath.IsAbs(dir) {
			continue
		}
		var err error
		if follow {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err == nil {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}
