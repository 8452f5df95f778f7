package turns_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// branched is a lab with a fork of its first turn, and the fork's own lab, in which two turns have changed
// something. They have an environment in which git commits as the user.
func branched(t *testing.T) (l, at *lab) {
	t.Helper()
	l = finishingLab(t, newLab(t))
	_, source := l.three()
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "mine")
	f := l.forkOf(source[2])
	l.fork(f)
	at = l.at(f.Worktree)
	c := at.client()
	at.turn(c, "fourth", at.write("c.txt", "c\n"))
	at.turn(c, "fifth", at.write("dir/edited.txt", "one\ntwo\nthree\nfive\n"))
	return l, at
}

// take takes what a name says of the fork.
func (l *lab) take(name string, how turns.Taking) (*turns.Picked, string, error) {
	l.t.Helper()
	r := l.recorder(l.Dir)
	s, err := turns.Find(context.Background(), r.Workspace, forkID, name)
	if err != nil {
		l.t.Fatal(err)
	}
	var talk bytes.Buffer
	how.Stdin, how.Talk = strings.NewReader(""), &talk
	done, err := r.CherryPick(context.Background(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), s, how)
	return done, talk.String(), err
}

// takes takes commits, and compares their subjects.
func (l *lab) takes(name string, how turns.Taking, want ...string) *turns.Picked {
	l.t.Helper()
	done, talk, err := l.take(name, how)
	if err != nil {
		l.t.Fatalf("take: %v\n%s", err, talk)
	}
	var got []string
	for _, c := range done.Commits {
		got = append(got, c.Subject)
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		l.t.Errorf("took %q, want %q", got, want)
	}
	if now := l.Git("rev-parse", "HEAD"); !how.Dry && now != done.After.String() {
		l.t.Errorf("HEAD is %s, and after it was %s", now, done.After)
	}
	return done
}

// adoption is what the fork's ledger says of its adoption.
func (l *lab) adoption() *record.Adoption {
	l.t.Helper()
	m, err := record.ParseMission([]byte(l.Git("show", forkID.Ref()+":mission.json")))
	if err != nil {
		l.t.Fatal(err)
	}
	return m.Adopted
}

var (
	picked = turns.Taking{Whole: true}
	merged = turns.Taking{Whole: true, Merge: true}
)

func TestTakePicks(t *testing.T) {
	gittest.Check(t)
	l, at := branched(t)
	before := l.Git("rev-parse", "HEAD")
	dry := l.takes("latest", turns.Taking{Whole: true, Dry: true}, "turn 4: fourth", "turn 5: fifth")
	if l.Git("rev-parse", "HEAD") != before || !dry.After.IsZero() || l.adoption() != nil {
		t.Error("a dry run has changed something")
	}
	done := l.takes("4", turns.Taking{}, "turn 4: fourth")
	if a := l.adoption(); a == nil || a.Turn != 4 || a.Commit != done.After || done.Before.String() != before {
		t.Errorf("adopted says %+v after %+v", a, done)
	}
	if got := l.Git("log", "-1", "--format=%s %P", forkID.Ref()); !strings.HasPrefix(got, "adopt 4 ") || !strings.HasSuffix(got, done.After.String()) {
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
	l.takes("latest", picked, "turn 5: fifth", "by hand")
	events := l.Git("rev-list", "--count", "--first-parent", forkID.Ref())
	l.takes("latest", picked)
	if got := l.Git("rev-list", "--count", "--first-parent", forkID.Ref()); got != events {
		t.Errorf("%s events, and %s after there was nothing to take", events, got)
	}
	l.Git("reset", "-q", "--keep", before)
	l.takes("latest", picked, "turn 4: fourth", "turn 5: fifth", "by hand")
	if got := l.Git("diff", "HEAD", forkID.Branch(l.capture.BranchPrefix)); got != "" {
		t.Errorf("HEAD differs from the fork's branch:\n%s", got)
	}
	l.fsck()
}

// What is in HEAD in another way than by the same commit is not picked: git would stop there.
func TestTakeRedundant(t *testing.T) {
	gittest.Check(t)
	l, at := branched(t)
	at.Git("commit", "-q", "--allow-empty", "-m", "nothing")
	l.Write("c.txt", "c\n")
	l.Write("kept.txt", "in one commit\n")
	l.Commit("by hand")
	l.takes("latest", picked, "turn 5: fifth")
	// All of it is there: that is recorded.
	l, _ = branched(t)
	l.Git("merge", "-q", "--squash", forkID.Branch(l.capture.BranchPrefix))
	l.Git("commit", "-q", "-m", "squashed")
	l.takes("latest", picked)
	if a := l.adoption(); a == nil || a.Turn != 5 || a.Commit.String() != l.Git("rev-parse", "HEAD") {
		t.Errorf("adopted says %+v", a)
	}
}

func TestTakeMerges(t *testing.T) {
	gittest.Check(t)
	l, at := branched(t)
	at.Git("merge", "-q", "--no-edit", "main")
	_, _, err := l.take("latest", picked)
	if !errors.Is(err, turns.ErrMerges) || l.adoption() != nil {
		t.Errorf("picking a merge: %v", err)
	}
	l.Write("kept.txt", "meanwhile\n")
	l.Commit("meanwhile")
	l.takes("4", turns.Taking{Merge: true}, "turn 1: first", "turn 3: third", "turn 4: fourth")
	done := l.takes("latest", merged, "turn 5: fifth", "Merge branch 'main' into agent/mission/f0f0f0f0")
	if got := l.Git("log", "-1", "--format=%s"); got != "Merge branch 'agent/mission/f0f0f0f0'" {
		t.Errorf("the merge is called %q", got)
	}
	l.takes("latest", merged)
	if a := l.adoption(); a == nil || a.Commit != done.After {
		t.Errorf("adopted says %+v", a)
	}
}

// A tag of the branch's name, which git would take first and anybody may have pushed, is not merged.
func TestTakeMergesBranch(t *testing.T) {
	gittest.Check(t)
	l, _ := branched(t)
	branch := forkID.Branch(l.capture.BranchPrefix)
	l.Git("tag", strings.TrimPrefix(branch, "refs/heads/"), branch+"~1")
	done := l.takes("latest", merged, "turn 1: first", "turn 3: third", "turn 4: fourth", "turn 5: fifth")
	if got := l.Git("rev-parse", "HEAD^2"); got != l.Git("rev-parse", branch) {
		t.Errorf("%s merges %s", done.After, got)
	}
}

// What a fork has from another one comes along.
func TestTakeOfFork(t *testing.T) {
	gittest.Check(t)
	l, _ := branched(t)
	list := l.list(forkID)
	f := l.forkOf(list[4])
	f.ID, f.Worktree = "f1f1f1f1", f.Worktree+"-1"
	l.fork(f)
	further := l.at(f.Worktree)
	further.turn(further.client(), "sixth", further.write("d.txt", "d\n"))
	l.takes("f1f1f1f1", picked, "turn 4: fourth", "turn 5: fifth", "turn 6: sixth")
}

// Whatever is in the way: nothing changes, and nothing is recorded.
func TestTakeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		turn    string
		arrange func(l, at *lab)
		want    error
	}{
		{"its own branch", "latest", func(l, at *lab) { *l = *at }, turns.ErrOwnBranch},
		{"no branch", "latest", func(l, at *lab) {
			at.Git("switch", "-q", "--detach")
			l.Git("branch", "-q", "-D", "agent/mission/f0f0f0f0")
		}, turns.ErrNoBranch},
		{"a merge is under way", "latest", func(l, at *lab) { l.Git("merge", "-q", "--no-commit", "--no-ff", "agent/mission/f0f0f0f0") }, turns.ErrUnderWay},
		{"rebased", "5", func(l, at *lab) {
			l.Write("kept.txt", "meanwhile\n")
			l.Commit("meanwhile")
			at.Git("rebase", "-q", "main")
		}, turns.ErrOffBranch},
		{"inherited", "3", func(l, at *lab) {}, turns.ErrInherited},
		{"a change in the way of the second", "latest", func(l, at *lab) { l.Write("dir/edited.txt", "mine\n") }, turns.ErrStopped}, // at the second commit
		{"a change in the way", "4", func(l, at *lab) { l.Write("c.txt", "mine\n") }, turns.ErrNotTaken},
		{"staged", "4", func(l, at *lab) {
			l.Write("kept.txt", "mine\n")
			l.Git("add", "-A")
		}, turns.ErrNotTaken},
		{"a conflict", "latest", func(l, at *lab) {
			l.Write("dir/edited.txt", "one\ntwo\nthree\nmine\n")
			l.Commit("mine")
		}, turns.ErrStopped},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "rebased" {
				gittest.Check(t)
			}
			l, at := branched(t)
			tt.arrange(l, at)
			before := l.Git("rev-parse", forkID.Ref(), "HEAD")
			_, talk, err := l.take(tt.turn, turns.Taking{Whole: tt.turn == "latest"})
			if !errors.Is(err, tt.want) {
				t.Fatalf("Take: %v, want %v\n%s", err, tt.want, talk)
			}
			if errors.Is(err, turns.ErrStopped) {
				l.Git("cherry-pick", "--abort")
			}
			if after := l.Git("rev-parse", forkID.Ref(), "HEAD"); after != before {
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
		at.chmod(".githooks/prepare-commit-msg", 0o755)
		at.Commit("hooks")
		at.Write("later.txt", "later\n")
		at.Commit("later")
		l.Git("config", "core.hooksPath", ".githooks")
		done, talk, err := l.take("latest", turns.Taking{Whole: true, Foreign: foreign})
		if err != nil || len(done.Commits) != 4 {
			t.Fatalf("Take: %+v, %v\n%s", done, err, talk)
		}
		if got := l.Git("log", "-1", "--format=%B"); strings.Contains(got, "hooked") == foreign {
			t.Errorf("foreign %t: the message is %q", foreign, got)
		}
	}
}
