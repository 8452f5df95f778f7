package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

// TestWorktreesAtOnce: agents in 8 linked worktrees of one repository, 25 turns each, all at the
// same time, attached and passive ones. No turn is lost, none is there twice, and each has its own
// worktree's tree.
func TestWorktreesAtOnce(t *testing.T) {
	t.Parallel()
	worktrees, turns := gittest.Size(8, 4), gittest.Size(25, 4)
	h := newHost(t)
	type agent struct {
		*host
		c  *claude.Client
		at string // the mission
	}
	var agents []*agent
	for i := range worktrees {
		dir := filepath.Join(gittest.TempDir(t), "linked")
		a := &agent{host: &host{Repo: h.In(dir), t: t, env: h.env, config: h.config, family: h.family}}
		if i%2 == 0 {
			h.Git("worktree", "add", "-q", "--detach", dir)
		} else {
			id := fmt.Sprintf("0000000%d", i)
			h.Git("worktree", "add", "-q", "-b", "agent/mission/"+id, dir)
			a.at = id
		}
		a.c = a.client()
		if a.at == "" {
			a.at = a.c.Session[len(a.c.Session)-8:]
		}
		agents = append(agents, a)
	}
	var all sync.WaitGroup
	for i, a := range agents {
		all.Go(func() {
			for n := range turns {
				a.c.Late = n%2 == 0
				a.c.Prompt(fmt.Sprintf("turn %d", n+1))
				a.Write("shared", fmt.Sprintf("worktree %d, turn %d\n", i, n))
				if n%3 == 0 {
					a.Write(fmt.Sprintf("of %d/%d", i, n), "new\n")
				}
				a.c.Stop("done")
			}
			a.c.End("other")
		})
	}
	all.Wait()
	for i, a := range agents {
		list := h.list("--mission", a.at)
		if len(list) != turns {
			t.Errorf("worktree %d has %d turns, want %d", i, len(list), turns)
			continue
		}
		for n, l := range list {
			if l.Turn != n+1 || l.Prompt != fmt.Sprintf("turn %d", n+1) || l.Outcome != "done" {
				t.Errorf("worktree %d: turn %d is %+v", i, n+1, l)
			}
		}
		// One more look at the content: every tree in one process.
		var names []string
		for _, l := range list {
			names = append(names, l.Code+":shared")
		}
		out, err := h.Feed(strings.Join(names, "\n")+"\n", "cat-file", "--batch=")
		if err != nil {
			t.Fatal(err)
		}
		for n, content := range strings.Split(strings.TrimSpace(out), "\n\n\n") {
			if want := fmt.Sprintf("worktree %d, turn %d", i, n); strings.TrimSpace(content) != want {
				t.Errorf("worktree %d: turn %d holds %q, want %q", i, n+1, content, want)
			}
		}
		if chain := h.Git("rev-list", "--count", "--first-parent", "refs/agent/missions/"+a.at); chain != fmt.Sprint(turns+2) {
			t.Errorf("worktree %d: the ledger has %s commits, want %d: its beginning, the turns and a handoff", i, chain, turns+2)
		}
		if notes := h.Git("notes", "--ref=agent/"+a.at, "list"); strings.Count(notes, "\n")+1 != turns {
			t.Errorf("worktree %d: there are %d notes, want %d", i, strings.Count(notes, "\n")+1, turns)
		}
		if status := a.Git("status", "--porcelain"); i%2 == 1 && status != "" {
			t.Errorf("worktree %d: the branch lacks\n%s", i, status)
		}
	}
	if log := h.log(); log != "" {
		t.Errorf("the log: %s", log)
	}
	h.fsck()
}

// TestHooksAtOnce: every event arrives twice at the same time, in processes of their own.
func TestHooksAtOnce(t *testing.T) {
	t.Parallel()
	turns := gittest.Size(10, 3)
	h := newHost(t)
	c := h.client()
	c.Late = true
	c.Hook = func(e claude.Event) {
		var both sync.WaitGroup
		both.Go(func() { h.deliver(e) })
		both.Go(func() { h.deliver(e) })
		both.Wait()
	}
	for n := range turns {
		c.Prompt(fmt.Sprintf("turn %d", n+1))
		h.Write("file", fmt.Sprint(n))
		c.Stop("done")
	}
	c.Prompt("fails")
	var events []claude.Event
	c.Hook = func(e claude.Event) { events = append(events, e) }
	c.Late = false
	c.Fail("API Error: 500")
	c.End("other")
	var both sync.WaitGroup
	for _, e := range events {
		both.Go(func() { h.deliver(e) })
	}
	both.Wait()
	list := h.list()
	if len(list) != turns+1 || list[turns].Outcome != "failed" {
		t.Fatalf("turns are %+v, want %d and one that failed", list, turns)
	}
	for n, l := range list[:turns] {
		if l.Turn != n+1 || l.Prompt != fmt.Sprintf("turn %d", n+1) || h.Git("show", l.Code+":file") != fmt.Sprint(n) {
			t.Errorf("turn %d is %+v", n+1, l)
		}
	}
	if log := h.log(); log != "" {
		t.Errorf("the log: %s", log)
	}
	h.fsck()
}

// TestSessionsAtOnce: two sessions work in one worktree at the same time.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	turns := gittest.Size(10, 3)
	h := newHost(t)
	var all sync.WaitGroup
	clients := []*claude.Client{h.client(), h.client()}
	for i, c := range clients {
		all.Go(func() {
			for n := range turns {
				c.Prompt(fmt.Sprintf("turn %d", n+1))
				h.Write(fmt.Sprintf("of %d", i), fmt.Sprint(n))
				c.Stop("done")
			}
			c.End("other")
		})
	}
	all.Wait()
	for i, c := range clients {
		list := h.list("--mission", c.Session[len(c.Session)-8:])
		if len(list) != turns {
			t.Errorf("session %d has %d turns, want %d", i, len(list), turns)
		}
		for n, l := range list {
			if l.Prompt != fmt.Sprintf("turn %d", n+1) || h.Git("show", l.Code+":"+fmt.Sprintf("of %d", i)) != fmt.Sprint(n) {
				t.Errorf("session %d: turn %d is %+v", i, n+1, l)
			}
		}
	}
	if log := h.log(); log != "" {
		t.Errorf("the log: %s", log)
	}
	h.fsck()
}
