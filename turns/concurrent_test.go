package turns_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// TestSessionsAtOnce: several sessions work in one worktree at the same time. Each has its own
// mission, no turn is lost, and none is there twice. Which session a change belongs to nobody can
// tell.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	sessions, turns := 4, gittest.Size(6, 3)
	var all sync.WaitGroup
	clients := make([]*replay.Client, sessions)
	for i := range clients {
		c := l.client()
		clients[i] = c
		all.Go(func() {
			for n := range turns {
				c.Prompt(fmt.Sprint(n))
				l.Write(fmt.Sprintf("of %d", i), fmt.Sprint(n))
				c.Stop("done")
			}
			c.End("other")
		})
	}
	all.Wait()
	for _, c := range clients {
		list := l.list(own(c))
		if len(list) != turns {
			t.Errorf("session %s has %d turns, want %d", c.Session, len(list), turns)
		}
		for i, turn := range list {
			if turn.Prompt != fmt.Sprint(i) {
				t.Errorf("turn %d of session %s is %q", turn.Turn, c.Session, turn.Prompt)
			}
		}
		l.verify(own(c))
	}
	l.fsck()
}

// TestOneMissionAtOnce: sessions in several worktrees record to one mission at the same time.
func TestOneMissionAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	m := l.start()
	l.Git("checkout", "-q", "main")
	sessions, turns := 4, gittest.Size(5, 3)
	var all sync.WaitGroup
	for i := range sessions {
		dir := filepath.Join(gittest.TempDir(t), "linked")
		l.Git("worktree", "add", "-q", "--detach", dir)
		w := l.at(dir)
		c := w.client()
		c.Hook = func(e replay.Event) {
			s := signal(e)
			s.Asked = string(m)
			if _, err := w.recorder(dir).Record(t.Context(), s); err != nil {
				t.Errorf("session %d: %s: %v", i, e.Name, err)
			}
		}
		all.Go(func() {
			for n := range turns {
				c.Prompt(fmt.Sprintf("%d/%d", i, n))
				w.Write("of "+c.Session, fmt.Sprint(n))
				c.Stop("done")
			}
		})
	}
	all.Wait()
	seen := make(map[string]bool)
	for _, turn := range l.list(m) {
		if seen[turn.Prompt] {
			t.Errorf("turn %q is there twice", turn.Prompt)
		}
		seen[turn.Prompt] = true
	}
	if len(seen) != sessions*turns {
		t.Errorf("%d turns, want %d", len(seen), sessions*turns)
	}
	l.verify(m)
	l.fsck()
}

// TestStopsAtOnce: the same event, many times at once, turn after turn.
func TestStopsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	m := l.start()
	c := l.client()
	c.Hook = func(e replay.Event) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { l.record(e) })
		}
		all.Wait()
	}
	var wants []want
	for i := range 6 {
		wants = append(wants, l.turn(c, fmt.Sprint(i), l.write("file", fmt.Sprint(i))))
	}
	list := l.check(m, wants...)
	l.storedOnce(list)
	l.atTip(m, list[5].Code.String())
	if n := len(l.chain(m)); n != 8 {
		t.Errorf("the ledger has %d commits, want 8: mission, start, 6 turns", n)
	}
	l.quiet()
	l.fsck()
}

// TestUserAtWork: the user commits in the same worktree all the while. Nobody's commit is lost.
func TestUserAtWork(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	m := l.start()
	c := l.client()
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
	last := l.turn(c, "last", l.write("agents", "last"))
	list := l.list(m)
	if len(list) != turns+1 || l.treeOf("HEAD") != last.tree {
		t.Errorf("%d turns, want %d; HEAD has the tree %s, want %s", len(list), turns+1, l.treeOf("HEAD"), last.tree)
	}
	if n := l.Git("rev-list", "--count", "--grep=^the user's$", "HEAD"); n != fmt.Sprint(made) {
		t.Errorf("%s of the user's %d commits are in the branch", n, made)
	}
	l.atTip(m, list[turns].Code.String())
	l.verify(m)
	l.fsck()
}
