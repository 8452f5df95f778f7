//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A rig is what one test needs: a home directory, a repository in it,
// a model and somebody who watches the hooks. Nothing of it is shared with another test.
type rig struct {
	t        *testing.T
	kind     kind   // whose client it runs
	home     string // of the user who runs the client
	tmp      string // for sockets and temporary files; short, since a socket's path ends at 108 bytes
	repo     *gittest.Repo
	mock     *mock
	witness  *witness
	sessions []*session
	panes    []*tui
	vars     []string // further environment of the client, set before it starts
	asks     bool     // the client asks for permission
}

// newRig makes a rig whose repository has one commit, and is enabled for recording.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := newBareRig(t)
	r.command(r.repo.Dir, "init")
	r.patient()
	return r
}

// newNightly is newRig for a test that is left to make nightly.
func newNightly(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	gittest.Nightly(t)
	return newRig(t)
}

// newBareRig is newRig without `git agent-turn init`.
func newBareRig(t *testing.T) *rig {
	t.Helper()
	return newRigIn(t, gittest.New(t))
}

// newRigIn is newBareRig for an empty repository whose home is the directory it lies in.
func newRigIn(t *testing.T, repo *gittest.Repo) *rig {
	t.Helper()
	return newRigOf(t, claude{}, repo)
}

// newRigOf is newRigIn for a client of any kind.
func newRigOf(t *testing.T, k kind, repo *gittest.Repo) *rig {
	t.Helper()
	r := &rig{t: t, kind: k, repo: repo, home: filepath.Dir(repo.Dir)}
	tmp, err := os.MkdirTemp("", "e2e-")
	gittest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(tmp) })
	r.tmp = tmp
	t.Cleanup(r.end)
	script, scenario := k.service()
	r.mock = newMock(t, filepath.Join(r.home, "mock"), script, scenario)
	r.witness = newWitness(t, filepath.Join(r.home, "witness"))
	r.onboard(repo.Dir)
	t.Cleanup(r.keep)
	repo.Write("README.md", "# A project\n")
	repo.Write(".gitignore", "*.log\n")
	repo.Write("src/main.c", "int main(void) { return 0; }\n")
	repo.Commit("init")
	return r
}

// onboard gives the user the settings that one has who has used the client in some directories, with
// the witness's hooks in them where the client takes them from there.
func (r *rig) onboard(dirs ...string) { r.t.Helper(); r.kind.onboard(r, dirs...) }

// patient has the client give our hooks all the time that they need on this machine, as far as it lets itself be told.
func (r *rig) patient() {
	r.t.Helper()
	path, limit, long := r.kind.limits(r)
	text, err := os.ReadFile(path)
	gittest.Must(r.t, err)
	if !limit.Match(text) {
		r.t.Fatalf("%s has no time-out that is like %v", path, limit)
	}
	replaceFile(r.t, path, limit.ReplaceAll(text, []byte(long)))
}

// settings is the user's settings file of the client.
func (r *rig) settings() string { return r.kind.settings(r) }

// env is the environment of the user: nothing of the developer's own but PATH,
// and the loopback mock in the place of the model.
func (r *rig) env() []string {
	return slices.Concat([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + r.home,
		"TMPDIR=" + r.tmp, "TMUX_TMPDIR=" + r.tmp,
		"TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash", "USER=dev",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.invalid",
		"GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.invalid",
	}, r.kind.env(r), r.vars)
}

// command runs `git agent-turn` as the user in dir and returns its standard output.
func (r *rig) command(dir string, args ...string) string {
	r.t.Helper()
	out, err := r.tryCommand(dir, args...)
	if err != nil {
		r.t.Fatalf("git agent-turn %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// tryCommand is command for one that may fail.
// The error then ends in what the command wrote to standard error.
func (r *rig) tryCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"agent-turn"}, args...)...)
	cmd.Dir, cmd.Env = dir, r.env()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), &commandError{err: err, stderr: stderr.String()}
	}
	return stdout.String(), nil
}

type commandError struct {
	err    error
	stderr string
}

func (e *commandError) Error() string { return e.err.Error() + "\n" + e.stderr }

func (e *commandError) Unwrap() error { return e.err }
