package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/gittest"
)

// withRemote adds a bare repository as the remote origin, and agrees to everything being sent there.
// Every push leaves a line in its file "pushes".
func (h *host) withRemote() *gittest.Repo {
	h.t.Helper()
	bare := gittest.New(h.t, "--bare")
	hook := "#!/bin/sh\necho push >>\"$GIT_DIR/pushes\"\n"
	if err := os.WriteFile(filepath.Join(bare.Dir, "hooks", "post-receive"), []byte(hook), 0o777); err != nil {
		h.t.Fatal(err)
	}
	h.Git("remote", "add", "origin", bare.Dir)
	h.Git("push", "-q", "origin", "main")
	h.Git("config", "agent."+bare.Dir+".push", "all")
	return bare
}

// ours are the refs of git-agent.
func ours(r *gittest.Repo) map[string]string {
	refs := make(map[string]string)
	for line := range strings.Lines(r.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/agent/", "refs/notes/", "refs/heads/agent/") + "\n") {
		if name, hash, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			refs[name] = hash
		}
	}
	return refs
}

func pushes(t *testing.T, bare *gittest.Repo) int {
	data, err := os.ReadFile(filepath.Join(bare.Dir, "pushes"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "push\n") - 1 // main was pushed by hand
}

// TestPushedInTheBackground: every turn arrives without anybody waiting for it, in no more pushes than there are events.
// The end of the session waits.
func TestPushedInTheBackground(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	bare := h.withRemote()
	c := h.client()
	const turns = 10
	for n := range turns {
		c.Prompt(fmt.Sprintf("turn %d", n+1))
		h.Write("file", fmt.Sprintf("%d\n", n))
		c.Stop("done")
	}
	h.family.await(t)
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
	if log := h.log(); log != "" {
		t.Errorf("the log: %s", log)
	}
	h.fsck()
}

// TestPushedNowhere: without consent nothing is sent, whatever is configured.
func TestPushedNowhere(t *testing.T) {
	t.Parallel()
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
	h.family.await(t)
	if got := ours(bare); len(got) > 0 {
		t.Errorf("the remote has %v", got)
	}
	for _, args := range [][]string{{"agent-turn", "push"}, {"agent-turn", "push", "origin"}} {
		if out, err := h.Try(args...); err == nil || out != "" {
			t.Errorf("git %q: %q, %v", args, out, err)
		}
	}
}

// TestPushedLater: a remote that does not answer costs nothing but a line in the log, and gets everything when it is back.
func TestPushedLater(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	bare := h.withRemote()
	away := bare.Dir + ".away"
	if err := os.Rename(bare.Dir, away); err != nil {
		t.Fatal(err)
	}
	c := h.client()
	for n := range 3 {
		c.Prompt(fmt.Sprintf("turn %d", n+1))
		c.Stop("done")
	}
	c.End("other") // returns at the first failure
	if err := os.Rename(away, bare.Dir); err != nil {
		t.Fatal(err)
	}
	h.family.await(t)
	if got, want := ours(bare), ours(h.Repo); len(want) != 2 || !maps.Equal(got, want) {
		t.Errorf("the remote has %v, want %v", got, want)
	}
	lines := strings.Split(strings.TrimSpace(h.log()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "it will be tried again") || !strings.Contains(lines[1], "again, after") {
		t.Errorf("the log:\n%s", h.log())
	}
}
