package gitdiff

import (
	"os"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// tested is the object format under test.
var tested = object.NewHash(gittest.Hash("1")).Format()

// find opens a test repository the way a hook does.
func find(t testing.TB, r *gittest.Repo) *git.Repo {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	return repo
}

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }
