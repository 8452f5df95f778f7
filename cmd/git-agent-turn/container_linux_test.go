package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A container has the repository, and nothing else of where it lies on the
// host: at the same path or at another one.
type container struct {
	*host
	at string // the repository's worktree, seen from within
}

// within is a shell script for what a container with the repository $1 at $2
// runs. Its other files are in the file system of the host, as with overlays of
// one disk.
const within = `set -e
rootless=$(dirname "$1")
mkdir -p "$3/repo" "$3/empty"
mount --bind "$1" "$3/repo"
mount --bind "$3/empty" "$rootless"
mkdir -p "$2"
mount --move "$3/repo" "$2"
cd "$2"
shift 3
exec "$@"`

// run runs a program in the container.
func (c *container) run(args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.Command("unshare", append([]string{"--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", within, "sh", c.Dir, c.at, gittest.TempDir(c.t)}, args...)...)
	cmd.Env = append(append([]string{}, c.env...), "HOME="+gittest.TempDir(c.t), "XDG_RUNTIME_DIR=")
	c.family.Join(cmd)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// contain skips a test where no container can be made.
func contain(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine allows no mounts of its own: %v %s", err, out)
	}
}

// TestUnseenWorktree: a worktree that a container does not see has work that is not saved. No command takes it away
// without --force, whatever it is called there.
func TestUnseenWorktree(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	contain(t)
	for _, same := range []bool{true, false} {
		h := newHost(t)
		c := &container{h, h.Dir}
		if !same {
			c.at = filepath.Join(gittest.TempDir(t), "workspace")
		}
		agent := func(args ...string) string {
			t.Helper()
			return h.Git(append([]string{"agent-turn"}, args...)...)
		}
		top := filepath.Join(filepath.Dir(h.Dir), "work")
		agent("start", "--worktree", top)
		at := &host{Repo: h.In(top), t: t, env: h.env, config: h.config, family: h.family}
		id := strings.TrimPrefix(at.Git("symbolic-ref", "--short", "HEAD"), "agent/mission/")
		client := at.client()
		client.Prompt("one")
		at.Write("made", "recorded\n")
		client.Stop("done")
		client.End("other")
		agent("finish", id, "-m", "finished")
		at.Write("unsaved", "unsaved\n")
		for _, args := range [][]string{
			{"remove", id}, {"remove", "--older-than", "0h"}, {"finish", "--remove", id}, {"remove", "--all", "--yes"},
		} {
			if args[1] == "--all" { // it goes where nothing is recorded
				agent("init", "--remove")
			}
			out, err := c.run(append([]string{"git", "agent-turn"}, args...)...)
			if !strings.Contains(out, "can't be seen from here") || strings.Contains(out, "removed") {
				t.Errorf("same path: %t, %s: %v\n%s", same, strings.Join(args, " "), err, out)
			}
		}
		out, err := c.run("git", "agent-turn", "doctor", "--repair")
		if err != nil || strings.Contains(out, "worktree prune") || !strings.Contains(out, "can't be seen from here") {
			t.Errorf("same path: %t, doctor: %v\n%s", same, err, out)
		}
		if got := at.Git("status", "--porcelain"); got != "?? unsaved" || at.Read("unsaved") != "unsaved\n" {
			t.Errorf("same path: %t, in the worktree there is %q", same, got)
		}
		if out, err := c.run("git", "agent-turn", "remove", "--force", id); err != nil {
			t.Errorf("same path: %t, --force: %v\n%s", same, err, out)
		}
	}
}

// TestSessionOutside: a container takes no session for dead that lives on the host, also without a machine's id.
func TestSessionOutside(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	contain(t)
	h := newHost(t)
	c := &container{h, h.Dir}
	outside := h.client()
	outside.PID = os.Getpid()
	outside.Prompt("one")
	h.Write("kept.txt", "half\n")
	id := outside.Session[len(outside.Session)-8:]
	out, err := c.run("sh", "-c", "mount -t tmpfs none /etc; git-agent-turn finish "+id+" -m done")
	if err == nil || !strings.Contains(out, "is running") {
		t.Errorf("finish: %v\n%s", err, out)
	}
	h.Write("kept.txt", "whole\n")
	outside.Stop("done")
	outside.Flush()
	list := h.list("--mission", id)
	if len(list) != 1 || list[0].Outcome != "done" {
		t.Errorf("the session outside has the turns %+v", list)
	}
}
