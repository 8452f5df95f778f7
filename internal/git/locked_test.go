package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestLocked: the error names the file that is locked, out of all that one command locks.
func TestLocked(t *testing.T) {
	t.Parallel()
	r := gittest.Files(t)
	first := object.NewHash(r.Commit("first"))
	seen := linked(t, r)
	repo, err := Find(seen.Dir)
	gittest.Must(t, err)
	failure := errors.New("git failed")
	names := []string{"refs/heads/a/b", "HEAD", "index", "packed-refs"}
	if got := repo.Locked(failure, names...); got != failure {
		t.Errorf("nothing is locked, and the error is %v", got)
	}
	if got := repo.Locked(nil, names...); got != nil {
		t.Errorf("nothing failed, and the error is %v", got)
	}
	for _, path := range []string{
		filepath.Join(repo.CommonDir, "packed-refs.lock"), filepath.Join(repo.GitDir, "index.lock"),
		filepath.Join(repo.GitDir, "HEAD.lock"), filepath.Join(repo.CommonDir, "refs", "heads", "a", "b.lock"),
	} {
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		gittest.Must(t, os.WriteFile(path, nil, 0o666))
		old := time.Now().Add(-time.Hour)
		gittest.Must(t, os.Chtimes(path, old, old))
		var locked *LockedError
		if got := repo.Locked(failure, names...); !errors.As(got, &locked) || !errors.Is(got, failure) || locked.Path != path || locked.Age < time.Hour {
			t.Errorf("with %s: %v", path, got)
		}
	}
	var locked *LockedError
	err = repo.UpdateRefs(t.Context(), "test", []Update{{Ref: "refs/heads/a/b", New: first}})
	if !errors.As(err, &locked) || filepath.Base(locked.Path) != "b.lock" {
		t.Errorf("update of a ref that is locked: %v", err)
	}
}
