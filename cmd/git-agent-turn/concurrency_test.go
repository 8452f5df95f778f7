package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/review"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	claude "gitagent/test/replay"
	"gitagent/turns"
)

// TestWorktreesAtOnce: agents in 8 linked worktrees of one repository, 25 turns each, all at the
// same time, attached and passive ones. No turn is lost, none is there twice, and each has its own
// worktree's tree.
func TestWorktreesAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
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
		gittest.Must(t, err)
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
	h.sound()
}

// TestHooksAtOnce: every event arrives twice at the same time, in processes of their own.
func TestHooksAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
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
	h.sound()
}

// TestSessionsAtOnce: two sessions work in one worktree at the same time.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
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
	h.sound()
}

// TestUndoAtOnce: restores, reverts and undoes of one worktree at the same time, while an agent's turns
// are recorded there: each of them finds the worktree whole, and keeps what it found.
func TestUndoAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	h := newHost(t)
	c := h.client()
	mission := c.Session[len(c.Session)-8:]
	whole := make(map[string]bool) // the trees that a worktree may have
	tree := func() string {
		t.Helper()
		h.Git("add", "-A")
		defer h.Git("reset", "-q")
		return h.Git("write-tree")
	}
	for n := range 3 {
		c.Prompt(fmt.Sprint(n))
		for i := range 20 {
			h.Write(fmt.Sprintf("files/%d", i), fmt.Sprintf("turn %d\n", n))
		}
		c.Stop("done")
		whole[tree()] = true
	}
	whole[h.Git("rev-parse", "HEAD^{tree}")] = true // what a revert of the first turn makes of it
	var all sync.WaitGroup
	var mu sync.Mutex
	var kept []string
	run := func(args ...string) {
		cmd := exec.Command("git-agent-turn", args...)
		cmd.Dir, cmd.Env = h.Dir, h.env
		out, err := cmd.Output()
		mu.Lock()
		defer mu.Unlock()
		if hash := strings.TrimSpace(string(out)); err == nil {
			kept = append(kept, hash)
		} else if e := (*exec.ExitError)(nil); !errors.As(err, &e) || e.ExitCode() == 2 || !strings.Contains(string(e.Stderr), "conflict") {
			t.Errorf("%q: %v\n%s", args, err, e.Stderr)
		}
	}
	run("restore", mission+"/1")
	for range gittest.Size(10, 3) {
		for _, args := range [][]string{
			{"restore", mission + "/1"}, {"restore", mission + "/3"}, {"undo"}, {"undo"}, {"revert", mission + "/3"},
		} {
			all.Go(func() { run(args...) })
		}
		all.Go(func() {
			c.Prompt("meanwhile")
			c.Stop("done")
		})
		all.Wait()
	}
	for _, l := range h.list("--mission", mission) {
		if got := h.Git("rev-parse", l.Code+"^{tree}"); !whole[got] {
			t.Errorf("turn %d has seen half a worktree:\n%s", l.Turn, h.Git("diff", "--stat", "HEAD", got))
		}
	}
	for _, hash := range kept {
		if got := h.Git("rev-parse", hash+"^{tree}"); !whole[got] {
			t.Errorf("half a worktree was kept:\n%s", h.Git("diff", "--stat", "HEAD", got))
		}
		if _, err := h.Try("merge-base", "--is-ancestor", hash, "refs/agent/missions/"+mission); err != nil {
			t.Errorf("%s is not kept: %v", hash, err)
		}
	}
	before := tree()
	run("undo")
	run("undo")
	if now := tree(); now != before || !whole[now] {
		t.Errorf("undone and done again, it differs:\n%s", h.Git("diff", "--stat", before, now))
	}
	h.sound()
}

// TestReviewedAtOnce: three people mark turns of a mission while an agent's are recorded there. None of their marks is lost, and
// no turn's note.
func TestReviewedAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	count := gittest.Size(10, 3)
	h := newHost(t)
	c := h.client()
	mission := record.ID(c.Session[len(c.Session)-8:])
	c.Prompt("turn 0")
	c.Stop("done")
	repo, err := git.Find(h.Dir)
	gittest.Must(t, err)
	first, err := turns.Read(t.Context(), repo, mission, 1)
	gittest.Must(t, err)
	var all sync.WaitGroup
	for range 3 {
		dir := filepath.Join(gittest.TempDir(t), "git-agent")
		made, err := trust.ReadKeys(dir, "").MakeKey("")
		if err != nil || !made {
			t.Fatalf("MakeKey: %t, %v", made, err)
		}
		w := workspace.New(repo, config.Default())
		w.Trust = trust.New(w.Store.Dir(), func() *trust.Keys { return trust.ReadKeys(dir, "") })
		all.Go(func() {
			for n := range count {
				if _, err := review.Add(t.Context(), w, first, time.Now().Add(time.Duration(n)*time.Second)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for n := range count {
			c.Prompt(fmt.Sprintf("turn %d", n+1))
			h.Write("file", fmt.Sprint(n))
			c.Stop("done")
		}
	})
	all.Wait()
	note := h.Git("notes", "--ref=agent/"+string(mission), "show", repo.Format().EmptyTree().String())
	if n := strings.Count(note, `"kind":"review"`); n != 3 {
		t.Errorf("there are %d marks, want 3:\n%s", n, note)
	}
	if list := h.list("--mission", string(mission)); len(list) != count+1 {
		t.Errorf("there are %d turns, want %d", len(list), count+1)
	}
	if notes := h.Git("notes", "--ref=agent/"+string(mission), "list"); strings.Count(notes, "\n")+1 != count+2 {
		t.Errorf("notes are\n%s", notes)
	}
	h.sound()
}
