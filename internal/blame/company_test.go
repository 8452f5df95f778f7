package blame_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/finisher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
)

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
