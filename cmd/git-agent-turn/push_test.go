package main

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

// withRemote adds a bare repository as the remote origin, and agrees to everything being sent
// there. Every push leaves a line in its file "pushes".
func (h *host) withRemote() *gittest.Repo {
	h.t.Helper()
	bare := gittest.New(h.t, "--bare")
	hook := "#!/bin/sh\necho push >>\"$GIT_DIR/pushes\"\n"
	gittest.Must(h.t, os.WriteFile(filepath.Join(bare.Dir, "hooks", "post-receive"), []byte(hook), 0o777))
	h.Git("remote", "add", "origin", bare.Dir)
	h.Git("push", "-q", "origin", "main")
	h.Git("config", "agent."+bare.Dir+".push", "all")
	return bare
}

// ours are the refs of git-agent.
func ours(r *gittest.Repo) map[string]string {
	refs := make(map[string]string)
	for line := range strings.Lines(r.Git("for-each-ref", "--format=%(refname) %(objectname) %(symref)", "refs/agent/", "refs/notes/", "refs/heads/agent/") + "\n") {
		if fields := strings.Fields(line); len(fields) == 2 && !strings.HasPrefix(fields[0], git.Keepers) { // none that keeps others
			refs[fields[0]] = fields[1]
		}
	}
	return refs
}

func pushes(t *testing.T, bare *gittest.Repo) int {
	data, err := os.ReadFile(filepath.Join(bare.Dir, "pushes"))
	gittest.Must(t, err)
	return strings.Count(string(data), "push\n") - 1 // main was pushed by hand
}

// TestPushedInTheBackground: every turn arrives without anybody waiting for it, in no more pushes
// than there are events. The end of the session waits.
func TestPushedInTheBackground(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	bare := h.withRemote()
	c := h.client()
	const turns = 10
	for n := range turns {
		c.Prompt(fmt.Sprintf("turn %d", n+1))
		h.Write("file", fmt.Sprintf("%d\n", n))
		c.Stop("done")
	}
	h.family.Await()
	if got, want := ours(bare), ours(h.Repo); len(want) != 2 || !maps.Equal(got, want) {
		t.Errorf("the remote has %v, want %v", got, want)
	}
	if n := pushes(t, bare); n < 1 || n > 2*turns { // a push may meet the beginning of a turn, too
		t.Errorf("%d turns were pushed in %d pushes", turns, n)
	}
	c.Prompt("the last one")
	c.Stop("done")
	c.End("prompt_input_exit")
	if got, want := ours(bare), ours(h.Repo); !maps.Equal(got, want) {
		t.Errorf("when the session has ended, the remote has %v, want %v", got, want)
	}
	h.sound()
}

// TestPushedNowhere: without consent nothing is sent, whatever is configured.
func TestPushedNowhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	bare := h.withRemote()
	h.Git("config", "--unset", "agent."+bare.Dir+".push")
	h.Git("config", "agent."+bare.Dir+"/.push", "all")
	h.Git("config", "agent."+filepath.Dir(bare.Dir)+".push", "all")
	h.Git("config", "agent.push", "all")
	h.Write(".git-agent.toml", "[capture]\nmax_untracked_files = 10\n[push]\norigin = \"all\"\n")
	c := h.client()
	c.Prompt("secret")
	c.Stop("done")
	c.End("other")
	h.family.Await()
	if got := ours(bare); len(got) > 0 {
		t.Errorf("the remote has %v", got)
	}
	for _, args := range [][]string{{"agent-turn", "push"}, {"agent-turn", "push", "origin"}} {
		if out, err := h.Try(args...); err == nil || out != "" {
			t.Errorf("git %q: %q, %v", args, out, err)
		}
	}
}

// TestPushedLater: a remote that does not answer costs nothing but a line in the log, and gets
// everything when it is back.
func TestPushedLater(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	bare := h.withRemote()
	away := bare.Dir + ".away"
	gittest.Must(t, os.Rename(bare.Dir, away))
	c := h.client()
	for n := range 3 {
		c.Prompt(fmt.Sprintf("turn %d", n+1))
		c.Stop("done")
	}
	c.End("other") // returns at the first failure
	gittest.Must(t, os.Rename(away, bare.Dir))
	h.family.Await()
	if got, want := ours(bare), ours(h.Repo); len(want) != 2 || !maps.Equal(got, want) {
		t.Errorf("the remote has %v, want %v", got, want)
	}
	lines := strings.Split(strings.TrimSpace(h.log()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "it will be tried again") || !strings.Contains(lines[1], "again, after") {
		t.Errorf("the log:\n%s", h.log())
	}
}

// TestPushedToARelativeURL: wherever a turn was recorded, the URL is what it is at the top of the main
// worktree, also when the linked worktree is gone by then.
func TestPushedToARelativeURL(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	h.Git("init", "-q", "--bare", "../the remote.git")
	bare := h.In(filepath.Join(filepath.Dir(h.Dir), "the remote.git"))
	h.Git("remote", "add", "origin", "../the remote.git")
	h.Git("config", "agent.../the remote.git.push", "all")
	linked := filepath.Join(gittest.TempDir(t), "linked")
	h.Git("worktree", "add", "-q", "-b", "linked", linked)
	h.Git("init", "-q", "--bare", filepath.Join(filepath.Dir(linked), "the remote.git"))
	other := h.In(filepath.Join(filepath.Dir(linked), "the remote.git"))
	h.Write("below/file", "1\n")
	for _, dir := range []string{h.Dir, filepath.Join(h.Dir, "below"), linked} {
		c := h.client()
		c.Cwd = dir
		c.Prompt("in " + dir)
		c.Stop("done")
		if dir == linked {
			h.Git("worktree", "remove", "--force", linked)
		}
		h.family.Await()
		if got, want := ours(bare), ours(h.Repo); len(want) == 0 || !maps.Equal(got, want) {
			t.Errorf("after a turn in %s the remote has %v, want %v\n%s", dir, got, want, h.log())
		}
	}
	if got := ours(other); len(got) > 0 {
		t.Errorf("what the URL means in the linked worktree has %v", got)
	}
}

// TestPushedSlowly: the end of a session does not wait for a remote that takes its time, and says so.
func TestPushedSlowly(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, and nobody answers
	gittest.Must(t, err)
	h := newHost(t)
	url := "git://" + silent.Addr().String() + "/repo"
	h.Git("remote", "add", "origin", url)
	h.Git("config", "agent."+url+".push", "all")
	var last said
	c := claude.New(h.config, h.Dir, func(e claude.Event) { last = h.hook(e.Cwd, bytes.NewReader(e.Payload()), nil) })
	c.Prompt("one")
	c.Stop("done")
	for wait, want := range map[string]string{"0": "", "1ms": "is still being pushed to origin"} {
		h.Git("config", "agent.pushWait", wait)
		c.End("other")
		if last.status != 0 || last.stderr != "" || (last.stdout == "") != (want == "") || !strings.Contains(last.stdout, want) {
			t.Errorf("waiting %s, the end says %+v, want %q", wait, last, want)
		}
		// The same end once more, as settings and a plugin tell it: it is recorded, but not pushed.
		h.Git("config", "agent.pushWait", "1ms")
		c.End("other")
		if !strings.Contains(last.stdout, "is still being pushed to origin") {
			t.Errorf("the second hook of the end says %+v", last)
		}
		c.Start("resume")
		c.Prompt("one more")
	}
	h.Git("config", "agent."+url+".push", "none") // so that there is no second attempt
	silent.Close()
}

// TestPushedWithWrongSettings: what records with what is valid of the settings, pushes with it, too.
func TestPushedWithWrongSettings(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	bare := h.withRemote()
	h.Write(".git-agent.toml", "[capture]\nnonsense = 1\n")
	c := h.client()
	c.Prompt("one")
	c.Stop("done")
	h.family.Await()
	if got, want := ours(bare), ours(h.Repo); len(want) != 2 || !maps.Equal(got, want) {
		t.Errorf("the remote has %v, want %v\n%s", got, want, h.log())
	}
}
