//go:build unix

package main

import (
	"bytes"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/session"
	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

// plugin is a client whose hooks are a plugin's, and hasty.
func (h *host) plugin() *claude.Client {
	return claude.New(h.config, h.Dir, func(e claude.Event) {
		h.t.Helper()
		if s := h.hookOf(hasty, e.Cwd, bytes.NewReader(e.Payload()), nil, "--via", "plugin"); s != (said{}) {
			h.t.Errorf("hook of %s: %+v\n%s", e.Name, s, h.log())
		}
	})
}

// handoffs counts what sessions have left.
func (h *host) handoffs() int {
	out := h.Git("for-each-ref", "--format=%(refname)", "refs/agent/missions/")
	n := 0
	for ref := range strings.Lines(out) {
		n += strings.Count(h.Git("ls-tree", "-r", "--name-only", strings.TrimSpace(ref), "handoffs/"), "/handoff.json")
	}
	return n
}

// TestPluginEnd: the client kills a plugin's hook at the end of a session that takes long. However long it takes, the
// hook has ended by then, and the end is recorded.
func TestPluginEnd(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	c := h.plugin()
	c.Prompt("one")
	c.Stop("done")
	c.Prompt("two") // the end of the session ends this turn as well
	h.Write("two.txt", "two\n")
	gitDir := filepath.Join(h.Dir, ".git")
	held, err := session.Open(gitDir).LockSessions(t.Context(), gitDir)
	gittest.Must(t, err)
	c.End("prompt_input_exit") // returns, although nothing can be done before the lock is free
	if n := h.handoffs(); n != 0 {
		t.Errorf("%d handoffs while another process had the lock", n)
	}
	held.Release()
	h.family.Await()
	if n := h.handoffs(); n != 1 {
		t.Errorf("%d handoffs, want 1\n%s", n, h.log())
	}
	if list := h.Git("agent-turn", "list", "--json"); strings.Count(list, `"kind":"turn"`) != 2 || !strings.Contains(list, `"prompt":"two"`) {
		t.Errorf("the turns are\n%s\n%s", list, h.log())
	}
	h.fsck()
}

// TestPluginEndSlowRemote: nor does a plugin's hook wait for a remote.
func TestPluginEndSlowRemote(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, and nobody answers
	gittest.Must(t, err)
	h := newHost(t)
	url := "git://" + silent.Addr().String() + "/repo"
	h.Git("remote", "add", "origin", url)
	h.Git("config", "agent."+url+".push", "all")
	h.Git("config", "agent.pushWait", "1h")
	c := h.plugin()
	c.Prompt("one")
	c.Stop("done")
	c.End("other") // returns, and what it has started waits for an hour
	h.Git("config", "agent."+url+".push", "none")
	silent.Close() // the push fails, and nothing waits any more
	h.family.Await()
	if n := h.handoffs(); n != 1 {
		t.Errorf("%d handoffs, want 1\n%s", n, h.log())
	}
}
