//go:build e2e

package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A fork is killed in the middle. There is never half a conversation, the source is untouched,
// and what there is belongs to a mission that is listed and can be removed.
func TestForkKilled(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	// The ancestor that is git-agent-fork, from below git.
	const kill = `p=$$
while test "$p" -gt 1; do
	p=$(ps -o ppid= -p "$p" | tr -d ' ')
	if test "$(ps -o comm= -p "$p")" = git-agent-fork; then kill -9 "$p"; break; fi
done
`
	for _, tt := range []struct {
		name  string
		stage func(r *rig)
	}{
		{"while files are checked out", func(r *rig) {
			r.script("smudge", kill+"cat\n")
			r.repo.Git("config", "filter.killer.smudge", filepath.Join(r.home, "smudge"))
			r.repo.Write(".gitattributes", "*.c filter=killer\n")
			r.repo.Commit("attributes")
		}},
		{"when the worktree is there", func(r *rig) {
			r.script("repo/.git/hooks/post-checkout", kill)
		}},
		{"before the worktree", func(r *rig) {
			// git itself is replaced: the refs have moved, and nothing else has happened.
			r.script("bin/git", "case \" $* \" in *' worktree add '*)\n"+kill+"\nexit 1;; esac\nexec "+realGit(r)+" \"$@\"\n")
			r.vars = append(r.vars, "PATH="+filepath.Join(r.home, "bin")+":"+os.Getenv("PATH"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newBareRig(t)
			tt.stage(r)
			r.generate(numbered(3))
			source := r.repo.Git("rev-parse", ledgerRef(generated))
			before := r.made()
			dir := filepath.Join(r.home, "fork")
			cmd := exec.Command("git-agent-fork", "2", "--worktree", dir)
			cmd.Dir, cmd.Env = r.repo.Dir, r.env()
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			// The git that it started goes on: all that descends from it has the other end of this
			// pipe.
			ended, alive, err := os.Pipe()
			gittest.Must(t, err)
			defer ended.Close()
			cmd.ExtraFiles = []*os.File{alive}
			err = cmd.Run()
			alive.Close()
			if err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("git agent-fork: %v, %s, want it killed", err, &stderr)
			}
			if _, err := io.ReadAll(ended); err != nil {
				t.Fatal(err)
			}
			if files, _ := filepath.Glob(filepath.Join(r.home, ".claude", "projects", "*", "*")); len(files) > 0 {
				t.Errorf("of the conversation there is %q", files)
			}
			if got := r.repo.Git("rev-parse", ledgerRef(generated)); got != source {
				t.Error("the source has moved")
			}
			r.vars = nil
			for ref := range strings.Lines(r.repo.Git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/agent/missions")) {
				if id := strings.TrimSpace(ref); id != generated {
					if list := r.command(r.repo.Dir, "missions"); !strings.Contains(list, id) {
						t.Errorf("the mission %s is not listed:\n%s", id, list)
					}
					t.Logf("%s", r.command(r.repo.Dir, "remove", "--force", id))
				}
			}
			if got := r.made(); got != before {
				t.Errorf("there is still\n%s\nthere was\n%s", got, before)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("there is still %s", dir)
			}
		})
	}
}

func realGit(r *rig) string {
	r.t.Helper()
	path, err := exec.LookPath("git")
	gittest.Must(r.t, err)
	return path
}

// script writes an executable below the home directory.
func (r *rig) script(name, text string) {
	r.t.Helper()
	r.repo.In(r.home).Write(name, "#!/bin/sh\n"+text)
	gittest.Must(r.t, os.Chmod(filepath.Join(r.home, name), 0o755))
}
