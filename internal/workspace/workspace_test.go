package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

func open(t *testing.T, r *gittest.Repo) *workspace.Workspace {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	return workspace.New(repo, config.Default())
}

// Which mission a branch is of, by its full name.
func TestMissionOf(t *testing.T) {
	t.Parallel()
	w := open(t, gittest.New(t))
	for branch, want := range map[string]record.ID{
		"refs/heads/agent/mission/a1b2c3d4": "a1b2c3d4", "refs/heads/agent/mission/a1b2c3d4e5f6": "a1b2c3d4e5f6",
		"refs/heads/agent/mission/a1b2": "", "refs/heads/agent/mission/A1B2C3D4": "", "refs/heads/agent/mission/a1b2c3d4/x": "",
		"refs/heads/a1b2c3d4": "", "agent/mission/a1b2c3d4": "", "refs/remotes/origin/agent/mission/a1b2c3d4": "", "": "",
	} {
		if id, ok := w.MissionOf(branch); id != want || ok != (want != "") {
			t.Errorf("%q is of %q, %t; want %q", branch, id, ok, want)
		}
	}
	if got := w.Branch("a1b2c3d4"); got != "refs/heads/agent/mission/a1b2c3d4" {
		t.Errorf("the branch is %q", got)
	}
}

// The mission here is the one of HEAD's branch, or of the branch that a rebase
// goes back to.
func TestMission(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	w := open(t, r)
	is := func(when string, want record.ID) {
		t.Helper()
		if id, err := w.Mission(t.Context()); err != nil || id != want {
			t.Errorf("%s: %q, %v; want %q", when, id, err, want)
		}
	}
	r.Git("checkout", "-q", "-b", "agent/mission/a1b2c3d4")
	is("on an unborn branch", "a1b2c3d4")
	r.Write("f", "1\n")
	r.Commit("one")
	r.Git("branch", "main")
	r.Write("f", "2\n")
	r.Commit("two")
	is("on its branch", "a1b2c3d4")
	r.Git("checkout", "-q", "main")
	is("on another one", "")
	r.Write("f", "3\n")
	r.Commit("three")
	r.Git("checkout", "-q", "agent/mission/a1b2c3d4")
	if _, err := r.Try("rebase", "-q", "main"); err == nil {
		t.Fatal("there is no conflict")
	}
	is("in a rebase of it", "a1b2c3d4")
	r.Git("rebase", "--abort")
	r.Git("checkout", "-q", "--detach")
	is("detached", "")
}

// Recording is on by our own switch, or by git's configuration.
func TestEnabled(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	w := open(t, r)
	is := func(when string, want bool) {
		t.Helper()
		if on, err := w.Enabled(t.Context()); err != nil || on != want {
			t.Errorf("%s: %t, %v; want %t", when, on, err, want)
		}
	}
	is("at first", false)
	_, err := w.Store.Enable(true)
	gittest.Must(t, err)
	is("switched on", true)
	_, err = w.Store.Enable(false)
	gittest.Must(t, err)
	is("switched off", false)
	r.Git("config", "agent.record", "true")
	is("by the configuration", true)

	// What the repository says against it counts more, wherever git reads that.
	_, err = w.Store.Enable(true)
	gittest.Must(t, err)
	is("by both", true)
	r.Git("config", "AGENT.RECORD", "false")
	is("off in the configuration", false)
	r.Git("config", "--unset", "agent.record")
	included := filepath.Join(filepath.Dir(r.Dir), "included")
	gittest.Must(t, os.WriteFile(included, []byte("[agent]\n\trecord = no\n"), 0o666))
	r.Git("config", "include.path", included)
	is("off in a file that it includes", false)
	r.Git("config", "--unset", "include.path")
	r.Git("config", "extensions.worktreeConfig", "true")
	r.Git("config", "--worktree", "agent.record", "false")
	is("off in the worktree", false)
}

// TestEnabledWithoutGit: where init was run, no process is started.
func TestEnabledWithoutGit(t *testing.T) {
	r := gittest.New(t)
	t.Setenv("PATH", r.Dir) // no git
	w := open(t, r)
	_, err := w.Store.Enable(true)
	gittest.Must(t, err)
	if on, err := w.Enabled(t.Context()); !on || err != nil {
		t.Errorf("enabled: %t, %v", on, err)
	}
}
