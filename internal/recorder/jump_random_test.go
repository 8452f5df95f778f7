package recorder_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// commands are what agent and user do with git between two looks at the worktree. Most fail at times.
var commands = []string{
	"commit -q -a --amend -m amended", "commit -q --amend --allow-empty -m amended", "commit -q --allow-empty -m made", "add -A",
	"reset -q --hard HEAD^", "reset -q HEAD^", "reset -q --soft HEAD^", "reset -q --hard first", "clean -qfd", "stash -q", "stash pop -q",
	"-c rebase.autoStash=true rebase -q other", "-c rebase.autoStash=true rebase -q main", "rebase -q --exec false ahead", "rebase --abort",
	"merge -q -m merged other", "checkout -q other", "checkout -q main", "checkout -q -f ahead", "checkout -q --detach",
	"checkout -q -B new", "checkout -q --orphan orphan", "branch -q -m renamed",
	"gc -q --prune=now", "reflog expire --expire=now --expire-unreachable=now --all",
}

// TestHeadMovesAtRandom: whatever is done with git, a turn begins with the state that it began with,
// unless HEAD has switched or that is gone, its code goes on from HEAD, and both are kept.
func TestHeadMovesAtRandom(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(gittest.Size(30, 6)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			moveAtRandom(t, rand.New(rand.NewPCG(seed, 3)))
		})
	}
}

func moveAtRandom(t *testing.T, r *rand.Rand) {
	l := lab.New(t)
	branches(l)
	c := l.Client()
	var script []string
	do := func(who string) {
		for n := range r.IntN(4) {
			if r.IntN(3) == 0 {
				l.Write(fmt.Sprintf("%s%d.txt", who, r.IntN(4)), fmt.Sprintln(who, len(script), n))
				script = append(script, who+" writes")
				continue
			}
			command := commands[r.IntN(len(commands))]
			_, err := l.Try(strings.Fields(command)...)
			script = append(script, fmt.Sprintf("%s: git %s: %v", who, command, err == nil))
		}
	}
	var wants []lab.Want
	for n := range 7 {
		if n > 0 {
			do("user")
		}
		w := lab.Want{Prompt: fmt.Sprint("prompt ", n), Base: l.Tree()}
		c.Prompt(w.Prompt)
		script = append(script, "prompt")
		head, branch := l.Head(), onBranch(l)
		stop := func(tell func()) {
			do("agent")
			if !stands(l, head, branch) {
				w.Base = ""
			}
			tell()
			script = append(script, "stop")
		}
		if r.IntN(3) == 0 {
			stop(func() { c.Block("did half", "go on") })
			stop(func() { c.StopAgain("did the rest") })
		} else {
			stop(func() { c.Stop("did all") })
		}
		w.Tree = l.Tree()
		wants = append(wants, w)
	}
	for _, turn := range l.Check(lab.Own(c), wants...) {
		if turn.Head.IsZero() {
			continue
		}
		if _, err := l.Try("merge-base", "--is-ancestor", turn.Head.String(), turn.Code.String()); err != nil {
			t.Errorf("turn %d: its code does not go on from HEAD", turn.Turn)
		}
	}
	l.Quiet()
	l.Fsck()
	if t.Failed() {
		t.Log(strings.Join(script, "\n"))
	}
}

// onBranch is the branch that HEAD is on, or will be on when the rebase under way is done.
func onBranch(l *lab.Lab) string {
	branch, err := l.Try("symbolic-ref", "-q", "HEAD")
	if err != nil {
		return l.GitRepo().RebasedBranch()
	}
	return branch
}

// stands reports whether a turn that began at head, on branch, is recorded from there.
func stands(l *lab.Lab, head, branch string) bool {
	l.T.Helper()
	now := l.Head()
	if head == "" || head == now {
		return true
	}
	if _, err := l.Try("cat-file", "-e", head); err != nil {
		return false
	}
	if branch == onBranch(l) {
		return true
	}
	_, err := l.Try("merge-base", "--is-ancestor", head, now)
	return err == nil && now != ""
}
