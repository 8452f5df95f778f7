package recorder_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"gitagent/internal/recorder"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// TestSessionsAtOnce: several sessions work in one worktree at the same time. Each has its own
// mission, no turn is lost, and none is there twice. Which session a change belongs to nobody can
// tell.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	sessions, each := 4, gittest.Size(6, 3)
	var all sync.WaitGroup
	clients := make([]*replay.Client, sessions)
	for i := range clients {
		c := l.Client()
		clients[i] = c
		all.Go(func() {
			for n := range each {
				c.Prompt(fmt.Sprint(n))
				l.Write(fmt.Sprintf("of %d", i), fmt.Sprint(n))
				c.Stop("done")
			}
			c.End("other")
		})
	}
	all.Wait()
	for _, c := range clients {
		list := l.List(lab.Own(c))
		if len(list) != each {
			t.Errorf("session %s has %d turns, want %d", c.Session, len(list), each)
		}
		for i, turn := range list {
			if turn.Prompt != fmt.Sprint(i) {
				t.Errorf("turn %d of session %s is %q", turn.Turn, c.Session, turn.Prompt)
			}
		}
		l.Verify(lab.Own(c))
	}
	l.Fsck()
}

// TestOneMissionAtOnce: sessions in several worktrees record to one mission at the same time.
func TestOneMissionAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	m := l.Start()
	l.Git("checkout", "-q", "main")
	sessions, each := 4, gittest.Size(5, 3)
	var all sync.WaitGroup
	for i := range sessions {
		dir := filepath.Join(gittest.TempDir(t), "linked")
		l.Git("worktree", "add", "-q", "--detach", dir)
		w := l.At(dir)
		c := w.Client()
		c.Hook = func(e replay.Event) {
			s := l.Signal(e)
			s.Asked = string(m)
			if _, err := recorder.Record(t.Context(), w.Workspace(dir), s); err != nil {
				t.Errorf("session %d: %s: %v", i, e.Name, err)
			}
		}
		all.Go(func() {
			for n := range each {
				c.Prompt(fmt.Sprintf("%d/%d", i, n))
				w.Write("of "+c.Session, fmt.Sprint(n))
				c.Stop("done")
			}
		})
	}
	all.Wait()
	seen := make(map[string]bool)
	for _, turn := range l.List(m) {
		if seen[turn.Prompt] {
			t.Errorf("turn %q is there twice", turn.Prompt)
		}
		seen[turn.Prompt] = true
	}
	if len(seen) != sessions*each {
		t.Errorf("%d turns, want %d", len(seen), sessions*each)
	}
	l.Verify(m)
	l.Fsck()
}

// TestStopsAtOnce: the same event, many times at once, turn after turn.
func TestStopsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	m := l.Start()
	c := l.Client()
	c.Hook = func(e replay.Event) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { l.Record(e) })
		}
		all.Wait()
	}
	var wants []lab.Want
	for i := range 6 {
		wants = append(wants, l.Turn(c, fmt.Sprint(i), l.Writes("file", fmt.Sprint(i))))
	}
	list := l.Check(m, wants...)
	l.StoredOnce(list)
	l.AtTip(m, list[5].Code.String())
	if n := len(l.Chain(m)); n != 8 {
		t.Errorf("the ledger has %d commits, want 8: mission, start, 6 turns", n)
	}
	l.Quiet()
	l.Fsck()
}

// TestUserAtWork: the user commits in the same worktree all the while. Nobody's commit is lost.
func TestUserAtWork(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	m := l.Start()
	c := l.Client()
	turns, commits := gittest.Size(10, 4), gittest.Size(20, 8)
	var user sync.WaitGroup
	made := 0
	user.Go(func() {
		for i := range commits {
			l.Write("users", fmt.Sprint(i))
			if _, err := l.Try("commit", "-q", "--allow-empty", "-m", "the user's"); err == nil {
				made++
			}
		}
	})
	for i := range turns {
		c.Prompt(fmt.Sprint(i))
		l.Write("agents", fmt.Sprint(i))
		c.Stop("done")
	}
	user.Wait()
	last := l.Turn(c, "last", l.Writes("agents", "last"))
	list := l.List(m)
	if len(list) != turns+1 || l.TreeOf("HEAD") != last.Tree {
		t.Errorf("%d turns, want %d; HEAD has the tree %s, want %s", len(list), turns+1, l.TreeOf("HEAD"), last.Tree)
	}
	if n := l.Git("rev-list", "--count", "--grep=^the user's$", "HEAD"); n != fmt.Sprint(made) {
		t.Errorf("%s of the user's %d commits are in the branch", n, made)
	}
	l.AtTip(m, list[turns].Code.String())
	l.Verify(m)
	l.Fsck()
}
