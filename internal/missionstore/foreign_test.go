package missionstore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/agent/claude"
	"gitagent/internal/checkout"
	"gitagent/internal/gitdiff"
	"gitagent/internal/missionstore"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestForkOfStranger: making the worktree runs the tree's hooks and filters, unless it is a stranger's.
func TestForkOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := lab.New(t)
		turn, ran := l.Stranger()
		f := l.ForkOf(turn)
		f.Foreign = foreign
		l.Fork(f)
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
		if text, err := os.ReadFile(filepath.Join(f.Worktree, "zzz")); err != nil || string(text) != "filtered\n" {
			t.Errorf("foreign %t: zzz has %q, %v", foreign, text, err)
		}
	}
}

// TestForkOfStrangerFails: nor does taking back what was made of it.
func TestForkOfStrangerFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	turn, ran := l.Stranger()
	f := l.ForkOf(turn)
	f.Foreign = true
	l.In(claude.Path(f.Config, f.Worktree, f.Session)).Write("in/the/way", "x")
	before := leavings(l)
	if _, err := missionstore.Fork(t.Context(), l.Workspace(l.Dir), f); err == nil {
		t.Fatal("the conversation has no place, and the fork is made")
	}
	if got := ran(); len(got) > 0 {
		t.Errorf("%q ran", got)
	}
	if after := leavings(l); after != before {
		t.Errorf("left:\n%s\nwant:\n%s", after, before)
	}
}

func TestRestoreOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := lab.New(t)
		turn, ran := l.Stranger()
		l.Git("config", "core.fsmonitor", "false") // it runs before: for a snapshot of the present tree
		ran()
		if _, err := checkout.Restore(t.Context(), l.Workspace(l.Dir), time.Now(), turn.After(), gitdiff.Paths{}, checkout.RestorePlan{Foreign: foreign}); err != nil {
			t.Fatal(err)
		}
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
		if text := l.Read("zzz"); text != "filtered\n" {
			t.Errorf("foreign %t: zzz has %q", foreign, text)
		}
		// An undo knows of it: the second one brings the stranger's tree back.
		if _, _, err := l.Undo(checkout.Merging{}); err != nil {
			t.Fatal(err)
		}
		ran() // the snapshot of his tree
		if _, _, err := l.Undo(checkout.Merging{}); err != nil {
			t.Fatal(err)
		}
		if got := ran(); (len(got) == 0) != foreign || l.Read("zzz") != "filtered\n" {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
	}
}

// TestRevertOfStranger: what a revert brings back is checked out as what a restore does, and merged
// without the drivers that lie in the worktree.
func TestRevertOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := lab.New(t)
		_, ran := l.Stranger()
		l.Git("config", "core.fsmonitor", "false")
		l.Git("config", "merge.x.driver", "bin/merge %A %O %B")
		c := l.Client()
		base := strings.Repeat("line\n", 9)
		l.Turn(c, "first", func() {
			l.Write("bin/merge", "#!/bin/sh\necho merge >>'"+filepath.Join(filepath.Dir(l.Dir), "ran")+"'\nexec git merge-file -q $1 $2 $3\n")
			l.Chmod("bin/merge", 0o755)
			l.Write(".gitattributes", "merged merge=x\n")
			l.Write("merged", base)
		})
		l.Turn(c, "second", l.Writes("merged", "2\n"+base))
		l.Turn(c, "third", l.Writes("merged", "2\n"+base+"3\n"))
		ran()
		turn := l.List(lab.Own(c))[1]
		_, err := checkout.Revert(t.Context(), l.Workspace(l.Dir), time.Now(), turn.Before(), turn.After(), checkout.Merging{RestorePlan: checkout.RestorePlan{Foreign: foreign}})
		gittest.Must(t, err)
		if got := slices.Contains(ran(), "merge"); got == foreign || l.Read("merged") != base+"3\n" {
			t.Errorf("foreign %t: the driver ran: %t, and made %q", foreign, got, l.Read("merged"))
		}
	}
}

// TestKilledForkOfStranger: a fork was killed when it had made the worktree. Whoever takes that back
// has git look at the worktree first, and it runs nothing of it.
func TestKilledForkOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := lab.New(t)
		turn, ran := l.Stranger()
		f := l.ForkOf(turn)
		f.Foreign = true
		l.Fork(f)
		held, err := statedir.In(filepath.Join(l.Dir, ".git"), "agent").Lock(t.Context(), filepath.Join("planting", string(lab.ForkID)))
		gittest.Must(t, err)
		branch := lab.ForkID.Branch(l.Capture.BranchPrefix)
		words := []string{string(lab.ForkID), l.Git("rev-parse", lab.ForkID.Ref()), turn.Code.String(), branch, f.Worktree}
		if foreign {
			words = append(words, "foreign")
		}
		gittest.Must(t, held.Note(statedir.Note{At: time.Now(), Words: words}))
		held.Release()
		missionstore.ClearDead(t.Context(), l.Workspace(l.Dir))
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: %q ran", foreign, got)
		}
		if _, err := os.Stat(f.Worktree); err == nil {
			t.Errorf("foreign %t: the worktree is still there", foreign)
		}
	}
}
