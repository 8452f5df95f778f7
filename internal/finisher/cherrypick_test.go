package finisher_test

import (
	"errors"
	"strings"
	"testing"

	"gitagent/internal/finisher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// branched is a lab with a fork of its first turn, and the fork's own lab, in which two turns have changed
// something. They have an environment in which git commits as the user.
func branched(t *testing.T) (l, at *lab.Lab) {
	t.Helper()
	l = finishingLab(t, lab.New(t))
	_, source := l.Three()
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "mine")
	f := l.ForkOf(source[2])
	l.Fork(f)
	at = l.At(f.Worktree)
	c := at.Client()
	at.Turn(c, "fourth", at.Writes("c.txt", "c\n"))
	at.Turn(c, "fifth", at.Writes("dir/edited.txt", "one\ntwo\nthree\nfive\n"))
	return l, at
}

// takes takes commits, and compares their subjects.
func takes(l *lab.Lab, name string, how finisher.Taking, want ...string) *finisher.Picked {
	l.T.Helper()
	done, talk, err := l.Take(name, how)
	if err != nil {
		l.T.Fatalf("take: %v\n%s", err, talk)
	}
	var got []string
	for _, c := range done.Commits {
		got = append(got, c.Subject)
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		l.T.Errorf("took %q, want %q", got, want)
	}
	if now := l.Git("rev-parse", "HEAD"); !how.Dry && now != done.After.String() {
		l.T.Errorf("HEAD is %s, and after it was %s", now, done.After)
	}
	return done
}

// adoption is what the fork's ledger says of its adoption.
func adoption(l *lab.Lab) *record.Adoption {
	l.T.Helper()
	m, err := record.ParseMission(l.Git("show", lab.ForkID.Ref()+":mission.json"))
	gittest.Must(l.T, err)
	return m.Adopted
}

var (
	picked = finisher.Taking{Whole: true}
	merged = finisher.Taking{Whole: true, Merge: true}
)

func TestTakePicks(t *testing.T) {
	gittest.Check(t)
	l, at := branched(t)
	before := l.Git("rev-parse", "HEAD")
	dry := takes(l, "latest", finisher.Taking{Whole: true, Dry: true}, "turn 4: fourth", "turn 5: fifth")
	if l.Git("rev-parse", "HEAD") != before || !dry.After.IsZero() || adoption(l) != nil {
		t.Error("a dry run has changed something")
	}
	done := takes(l, "4", finisher.Taking{}, "turn 4: fourth")
	if a := adoption(l); a == nil || a.Turn != 4 || a.Commit != done.After || done.Before.String() != before {
		t.Errorf("adopted says %+v after %+v", a, done)
	}
	if got := l.Git("log", "-1", "--format=%s %P", lab.ForkID.Ref()); !strings.HasPrefix(got, "adopt 4 ") || !strings.HasSuffix(got, done.After.String()) {
		t.Errorf("the event is %q", got)
	}
	if got := l.Git("log", "-1", "--format=%(trailers:key=Agent-Turn,valueonly,separator=)"); got != "4" {
		t.Errorf("the commit names turn %q", got)
	}
	// A commit of the user's there comes along; what was picked before does not.
	at.Write("mine.txt", "mine\n")
	at.Commit("by hand")
	l.Write("kept.txt", "meanwhile\n")
	l.Commit("meanwhile")
	takes(l, "latest", picked, "turn 5: fifth", "by hand")
	events := l.Git("rev-list", "--count", "--first-parent", lab.ForkID.Ref())
	takes(l, "latest", picked)
	if got := l.Git("rev-list", "--count", "--first-parent", lab.ForkID.Ref()); got != events {
		t.Errorf("%s events, and %s after there was nothing to take", events, got)
	}
	l.Git("reset", "-q", "--keep", before)
	takes(l, "latest", picked, "turn 4: fourth", "turn 5: fifth", "by hand")
	if got := l.Git("diff", "HEAD", lab.ForkID.Branch(l.Capture.BranchPrefix)); got != "" {
		t.Errorf("HEAD differs from the fork's branch:\n%s", got)
	}
	l.Fsck()
}

// What is in HEAD in another way than by the same commit is not picked: git would stop there.
func TestTakeRedundant(t *testing.T) {
	gittest.Check(t)
	l, at := branched(t)
	at.Git("commit", "-q", "--allow-empty", "-m", "nothing")
	l.Write("c.txt", "c\n")
	l.Write("kept.txt", "in one commit\n")
	l.Commit("by hand")
	takes(l, "latest", picked, "turn 5: fifth")
	// All of it is there: that is recorded.
	l, _ = branched(t)
	l.Git("merge", "-q", "--squash", lab.ForkID.Branch(l.Capture.BranchPrefix))
	l.Git("commit", "-q", "-m", "squashed")
	takes(l, "latest", picked)
	if a := adoption(l); a == nil || a.Turn != 5 || a.Commit.String() != l.Git("rev-parse", "HEAD") {
		t.Errorf("adopted says %+v", a)
	}
}

func TestTakeMerges(t *testing.T) {
	gittest.Check(t)
	l, at := branched(t)
	at.Git("merge", "-q", "--no-edit", "main")
	_, _, err := l.Take("latest", picked)
	if !errors.Is(err, finisher.ErrMerges) || adoption(l) != nil {
		t.Errorf("picking a merge: %v", err)
	}
	l.Write("kept.txt", "meanwhile\n")
	l.Commit("meanwhile")
	takes(l, "4", finisher.Taking{Merge: true}, "turn 1: first", "turn 3: third", "turn 4: fourth")
	done := takes(l, "latest", merged, "turn 5: fifth", "Merge branch 'main' into agent/mission/f0f0f0f0")
	if got := l.Git("log", "-1", "--format=%s"); got != "Merge branch 'agent/mission/f0f0f0f0'" {
		t.Errorf("the merge is called %q", got)
	}
	takes(l, "latest", merged)
	if a := adoption(l); a == nil || a.Commit != done.After {
		t.Errorf("adopted says %+v", a)
	}
}

// A tag of the branch's name, which git would take first and anybody may have pushed, is not merged.
func TestTakeMergesBranch(t *testing.T) {
	gittest.Check(t)
	l, _ := branched(t)
	branch := lab.ForkID.Branch(l.Capture.BranchPrefix)
	l.Git("tag", strings.TrimPrefix(branch, "refs/heads/"), branch+"~1")
	done := takes(l, "latest", merged, "turn 1: first", "turn 3: third", "turn 4: fourth", "turn 5: fifth")
	if got := l.Git("rev-parse", "HEAD^2"); got != l.Git("rev-parse", branch) {
		t.Errorf("%s merges %s", done.After, got)
	}
}

// What a fork has from another one comes along.
func TestTakeOfFork(t *testing.T) {
	gittest.Check(t)
	l, _ := branched(t)
	list := l.List(lab.ForkID)
	f := l.ForkOf(list[4])
	f.ID, f.Worktree = "f1f1f1f1", f.Worktree+"-1"
	l.Fork(f)
	further := l.At(f.Worktree)
	further.Turn(further.Client(), "sixth", further.Writes("d.txt", "d\n"))
	takes(l, "f1f1f1f1", picked, "turn 4: fourth", "turn 5: fifth", "turn 6: sixth")
}

// Whatever is in the way: nothing changes, and nothing is recorded.
func TestTakeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		turn    string
		arrange func(l, at *lab.Lab)
		want    error
	}{
		{"its own branch", "latest", func(l, at *lab.Lab) { *l = *at }, turns.ErrOwnBranch},
		{"no branch", "latest", func(l, at *lab.Lab) {
			at.Git("switch", "-q", "--detach")
			l.Git("branch", "-q", "-D", "agent/mission/f0f0f0f0")
		}, finisher.ErrNoBranch},
		{"a merge is under way", "latest", func(l, at *lab.Lab) { l.Git("merge", "-q", "--no-commit", "--no-ff", "agent/mission/f0f0f0f0") }, finisher.ErrUnderWay},
		{"rebased", "5", func(l, at *lab.Lab) {
			l.Write("kept.txt", "meanwhile\n")
			l.Commit("meanwhile")
			at.Git("rebase", "-q", "main")
		}, finisher.ErrOffBranch},
		{"inherited", "3", func(l, at *lab.Lab) {}, turns.ErrInherited},
		{"a change in the way of the second", "latest", func(l, at *lab.Lab) { l.Write("dir/edited.txt", "mine\n") }, finisher.ErrStopped}, // at the second commit
		{"a change in the way", "4", func(l, at *lab.Lab) { l.Write("c.txt", "mine\n") }, finisher.ErrNotTaken},
		{"staged", "4", func(l, at *lab.Lab) {
			l.Write("kept.txt", "mine\n")
			l.Git("add", "-A")
		}, finisher.ErrNotTaken},
		{"a conflict", "latest", func(l, at *lab.Lab) {
			l.Write("dir/edited.txt", "one\ntwo\nthree\nmine\n")
			l.Commit("mine")
		}, finisher.ErrStopped},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "rebased" {
				gittest.Check(t)
			}
			l, at := branched(t)
			tt.arrange(l, at)
			before := l.Git("rev-parse", lab.ForkID.Ref(), "HEAD")
			_, talk, err := l.Take(tt.turn, finisher.Taking{Whole: tt.turn == "latest"})
			if !errors.Is(err, tt.want) {
				t.Fatalf("Take: %v, want %v\n%s", err, tt.want, talk)
			}
			if errors.Is(err, finisher.ErrStopped) {
				l.Git("cherry-pick", "--abort")
			}
			if after := l.Git("rev-parse", lab.ForkID.Ref(), "HEAD"); after != before {
				t.Errorf("the ledger and HEAD were %s, and are %s", before, after)
			}
		})
	}
}

// Git runs as the user's: with hooks, unless the fork is a stranger's.
func TestTakeHooks(t *testing.T) {
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l, at := branched(t)
		at.Write(".githooks/prepare-commit-msg", "#!/bin/sh\necho hooked >>\"$1\"\n")
		at.Chmod(".githooks/prepare-commit-msg", 0o755)
		at.Commit("hooks")
		at.Write("later.txt", "later\n")
		at.Commit("later")
		l.Git("config", "core.hooksPath", ".githooks")
		done, talk, err := l.Take("latest", finisher.Taking{Whole: true, Foreign: foreign})
		if err != nil || len(done.Commits) != 4 {
			t.Fatalf("Take: %+v, %v\n%s", done, err, talk)
		}
		if got := l.Git("log", "-1", "--format=%B"); strings.Contains(got, "hooked") == foreign {
			t.Errorf("foreign %t: the message is %q", foreign, got)
		}
	}
}
