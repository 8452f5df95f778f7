package blame_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/blame"
	"gitagent/internal/checkout"
	"gitagent/internal/finisher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
)

// TestCommitOfAnother: a commit that one turn's agent made, with what another's
// wrote, is the first one's commit and the other's work.
func TestCommitOfAnother(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	a, b := l.Client(), l.Client()
	call := func(c *replay.Client, tool, path string, do func()) {
		e := &journal.Entry{From: time.Now().UnixMilli(), Session: c.Session, Calls: []journal.Call{{Tool: tool, Path: path}}}
		do()
		e.At, e.Tree, e.Head = time.Now().UnixMilli(), object.NewHash(l.Tree()), object.NewHash(l.Head())
		gittest.Must(t, journal.Append(l.GitRepo(), e))
	}
	a.Prompt("write f")
	b.Prompt("write g, and commit")
	call(a, "Edit", "f", func() { l.Write("f", "one\ntwo\n") })
	call(b, "Edit", "g", func() { l.Write("g", "three\n") })
	call(b, "Bash", "", func() {
		w := l.In(l.Dir)
		w.Env = append(slices.Clip(w.Env), "GIT_COMMITTER_DATE="+time.Now().Format(time.RFC3339))
		w.Git("add", "-A")
		w.Git("commit", "-q", "-m", "all")
	})
	b.Stop("done")
	a.Stop("done")
	h, err := blame.Open(t.Context(), l.Workspace(l.Dir))
	gittest.Must(t, err)
	defer h.Close()
	q, _, err := h.Of(object.NewHash(l.Head()), false)
	gittest.Must(t, err)
	got, err := h.Contributions(t.Context(), q)
	gittest.Must(t, err)
	if got.Lines != 3 || got.Hand != 0 || len(got.Turns) != 2 {
		t.Fatalf("%d lines, %d by hand, of %d turns", got.Lines, got.Hand, len(got.Turns))
	}
	for _, c := range got.Turns {
		lines, words := 2, "content"
		if c.Turn.Session == b.Session {
			lines, words = 1, "commit"
		}
		if c.Lines != lines || strings.Join(c.Evidence.Words(), " ") != words {
			t.Errorf("%s has %d lines by its %v, want %d by its %s", c.Turn.ID(), c.Lines, c.Evidence.Words(), lines, words)
		}
	}
}

// TestByHandBeside asks for lines that the user wrote while two turns ran, when the first has ended long before the other:
// each knows that they are not its own.
func TestByHandBeside(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := newWorld(t, &profile{name: "beside", company: true}, 3)
	top := w.machines[0].trees[0]
	var running []*agent
	for range 2 {
		a := top.agent(true)
		a.prompt()
		w.tick()
		running = append(running, a)
	}
	top.write("a.go", append(top.make(top.user(), 5), top.read("a.go")...))
	w.tick()
	for _, a := range running {
		top.began()
		me := actor{top, a.open}
		top.write("b.go", append(top.make(me, 5), top.read("b.go")...))
		me.called("Edit", false)
		for range 5 {
			w.tick()
		}
		a.c.Stop("done")
	}
	top.check()
	if s := top.score(); s.wrong() > 0 || s.agentRight == 0 || s.userRight == 0 {
		t.Errorf("wrong answers:\n%s%s", heading, s.row("beside"))
	}
}

// look notes what has changed in the worktrees, and when: now.
func (w *world) look() {
	if !w.profile.company {
		return
	}
	for _, m := range w.machines {
		for _, tr := range m.trees {
			tr.look()
		}
	}
}

func (tr *tree) look() {
	if _, err := os.Stat(tr.dir); err != nil {
		return // removed
	}
	now := tr.all()
	if tr.seen == nil {
		tr.seen, tr.ctimes = now, make(map[string]int64)
		return
	}
	for name, text := range now {
		if was, is := tr.seen[name]; !is || was != text {
			tr.ctimes[name] = tr.time().UnixMilli()
		}
	}
	tr.seen = now
}

// written returns the worktree as a tree.
func (tr *tree) written() object.Hash {
	r := tr.clone.In(tr.dir)
	r.Env = append(slices.Clip(tr.env), "GIT_INDEX_FILE="+filepath.Join(gittest.TempDir(tr.t), "index"))
	r.Git("add", "-A")
	return object.NewHash(r.Git("write-tree"))
}

// began lets a call of the actor begin. What others did before it is known.
func (tr *tree) began() {
	if tr.profile.company {
		tr.look()
		tr.from, tr.before = tr.time().UnixMilli(), maps.Clone(tr.seen)
	}
}

// called adds to the journal what a call of the actor did, and begins another.
func (a actor) called(tool string, git bool) {
	tr := a.tree
	if !tr.profile.company {
		return
	}
	tr.look()
	from := tr.from
	e := &journal.Entry{From: from, Session: a.session(), Tree: tr.written(), Git: git, Ctimes: make(map[string]int64)}
	e.Head = object.NewHash(tr.git("rev-parse", "HEAD"))
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(tr.seen)) {
		if was, is := tr.before[name]; !is || was != tr.seen[name] {
			changed = append(changed, name)
		}
	}
	e.Calls = []journal.Call{{Tool: tool}}
	if tool == "Edit" && len(changed) > 0 {
		e.Calls = nil
		for _, name := range changed {
			e.Calls = append(e.Calls, journal.Call{Tool: tool, Path: name})
		}
	}
	tr.lasted()
	e.At = tr.time().UnixMilli()
	maps.Copy(e.Ctimes, tr.ctimes)
	clear(tr.ctimes)
	tr.must(journal.Append(tr.workspace(tr.dir).Repo, e))
	tr.note("%s %s: %s of %v", tr.name, a.turn, tool, changed)
	tr.began()
}

// session is the actor's.
func (a actor) session() string {
	for _, other := range a.tree.agents {
		if other.open == a.turn {
			return other.c.Session
		}
	}
	panic("an agent without a session")
}

// revertTurn takes out what a turn did.
func (tr *tree) revertTurn() bool {
	list := tr.ended()
	if len(list) == 0 {
		return false
	}
	t := list[tr.rand.IntN(min(len(list), 4))]
	_, err := checkout.Revert(context.Background(), tr.workspace(tr.dir), tr.time(), t.Before(), t.After(), checkout.Merging{})
	tr.note("revert of %s: %v", t.ID(), err)
	return err == nil
}

// finishMission commits what a mission did.
func (tr *tree) finishMission() bool {
	list := tr.ended()
	if len(list) == 0 {
		return false
	}
	t := list[tr.rand.IntN(min(len(list), 4))]
	w, date := tr.workspace(tr.dir), tr.time().Format(time.RFC3339)
	w.Repo = w.Repo.With(git.Env("GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date))
	done, err := finisher.Finish(context.Background(), w, finisher.Finishing{Mission: t.Mission, At: tr.time(), Message: fmt.Sprintf("finish %s", t.Mission)})
	tr.note("finish of %s: %v %v", t.Mission, err, done)
	return err == nil
}
