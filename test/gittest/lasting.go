package gittest

import (
	"os"
	"path/filepath"
	"testing"
)

// Lasting is a directory that is not below one for temporary files, where tests have theirs: in the user's cache. It
// goes at the end of the test all the same.
func Lasting(t testing.TB) string {
	t.Helper()
	Must(t, errCache)
	parent := filepath.Join(cache, "git-agent-tests")
	Must(t, os.MkdirAll(parent, 0o777))
	dir, err := os.MkdirTemp(parent, "")
	Must(t, err)
	dir, err = filepath.EvalSymlinks(dir)
	Must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// NewLasting is New in such a directory.
func NewLasting(t testing.TB) *Repo {
	t.Helper()
	r := New(t)
	top := filepath.Join(Lasting(t), "repo")
	Must(t, os.CopyFS(top, os.DirFS(r.Dir)))
	return r.In(top)
}
