//go:build unix

package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/session"
	"gitagent/test/gittest"
)

// The command works where it is proposed, also if a branch can't have the
// repository's name.
func TestApart(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	at := companion{&session.Known{Open: &session.OpenTurn{Head: object.NewHash(strings.Repeat("1", 40))}}, time.Time{}}
	unborn := companion{&session.Known{Open: &session.OpenTurn{}, Last: &session.LastTurn{Head: at.Open.Head}}, time.Time{}}
	for _, name := range []string{"repo", "my repo.git", "-x..y", "it's", "日本", "~^:"} {
		dir := filepath.Join(gittest.TempDir(t), name)
		gittest.Must(t, os.Mkdir(dir, 0o777))
		r := gittest.New(t).In(dir)
		r.Git("init", "-q")
		r.Git("commit", "-q", "--allow-empty", "-m", "first")
		repo, err := git.Find(dir)
		gittest.Must(t, err)
		if got := apart(repo, "5e550000-0000-4000-8000-0000a1b2c3d4", []companion{unborn}); got != "" {
			t.Errorf("%q: proposed on an unborn branch: %s", name, got)
		}
		for _, from := range []string{"5e550000-0000-4000-8000-0000a1b2c3d4", "another"} {
			command := apart(repo, from, []companion{unborn, at})
			if !strings.HasPrefix(command, "git worktree add ") {
				t.Fatalf("%q: proposed %q", name, command)
			}
			shell := exec.Command("sh", "-c", command) // as a person pastes it
			shell.Dir, shell.Env = dir, r.Env
			if out, err := shell.CombinedOutput(); err != nil {
				t.Errorf("%q: %s: %v\n%s", name, command, err, out)
			}
			if again := apart(repo, from, []companion{at}); again != "" {
				t.Errorf("%q: proposed where something is: %s", name, again)
			}
		}
	}
}
