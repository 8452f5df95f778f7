package copyignored

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Reasons to leave out a file.
const (
	whyThere      = "it is there already"
	whyTracked    = "git tracks it in the new worktree"
	whyNotIgnored = "git does not ignore it in the new worktree"
	whyInTheWay   = "its directory is something else in the new worktree"
	whyName       = "git refuses its name"
	whyRepository = "it is a repository of its own"
	whyType       = "it is neither a file nor a symbolic link"
	whyAbsolute   = "it is a symbolic link to an absolute path"
	whyOut        = "it is a symbolic link that leads out of the worktree"
	whyNoLinks    = "symbolic links can't be made there"
	whyGone       = "it is gone"
	whyUnreadable = "it can't be read"
)

// whyLost returns why a file of the checkout can't be copied. Others may be at
// work there: the rest is copied.
func whyLost(err error) string {
	switch e := (*fs.PathError)(nil); {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return whyGone
	case errors.Is(err, fs.ErrPermission):
		return whyUnreadable
	case errors.As(err, &e):
		return whyUnreadable + ": " + e.Err.Error()
	}
	return whyUnreadable + ": " + err.Error()
}

// fold replaces files by their directory if all in it have one reason.
func fold(left []Skipped, found []dir) []Skipped {
	in := make(map[string]int) // how many files were found in a directory, and below it
	for _, d := range found {
		for at := d.path; at != "."; at = path.Dir(at) {
			in[at] += len(d.files)
		}
	}
	out := make(map[Skipped]int) // how many are left out, by directory and reason
	for _, l := range left {
		for at := path.Dir(l.Path); at != "."; at = path.Dir(at) {
			out[Skipped{at, l.Why}]++
		}
	}
	for i, l := range left {
		for at := path.Dir(l.Path); at != "."; at = path.Dir(at) {
			if n := in[at]; n > 1 && n == out[Skipped{at, l.Why}] {
				left[i].Path = at + "/" // the last one is the highest
			}
		}
	}
	slices.SortFunc(left, func(a, b Skipped) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Why, b.Why))
	})
	return slices.Compact(left)
}
