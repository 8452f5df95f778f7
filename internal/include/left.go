package include

import (
	"errors"
	"io/fs"
)

// Why a file is left out.
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

// whyLost says why something in the checkout can't be copied. It is not ours, and somebody may be at work there:
// that is no failure of the whole.
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
