//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// From every turn of a session another line is begun. What the model is sent is what the
// original session would have sent it, byte for byte, up to the new prompt.
func TestFork(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on(`TF[0-9]`, bash("echo forked > fork.txt"), say("forked")))
	session := r.talk("T1 hello", "T2 hello", "T3 hello", "T4 hello", "T5 hello")
	source := r.check(r.done("T1"), r.done("T2"), r.done("T3"), r.done("T4"), r.done("T5"))
	ledger, notes := r.repo.Git("rev-parse", ledgerRef(passive(session))), r.repo.Git("rev-parse", "refs/notes/agent/"+passive(session))
	before := r.repo.Git("status", "--porcelain", "-uall")

	forks := make([]fork, len(source))
	runs := make([]*headless, len(source))
	for i, turn := range source {
		f := r.fork(r.repo.Dir, fmt.Sprint(i+1))
		if got, err := snapshot(f.Worktree, r.env()); err != nil || got != r.tree(turn.Code) {
			t.Errorf("fork at %d: the worktree is %s (%v), want the turn's\n%s", i+1, got, err, r.changes(r.tree(turn.Code), got))
		}
		if f.Commit != turn.Code || r.repo.Git("rev-parse", f.Branch) != turn.Code {
			t.Errorf("fork at %d: branch at %s, want %s", i+1, f.Commit, turn.Code)
		}
		if got := r.repo.In(f.Worktree).Git("status", "--porcelain", "-uall"); got != "" {
			t.Errorf("fork at %d: status says %s", i+1, got)
		}
		forks[i] = f
		runs[i] = r.startClaude(f.Worktree, fmt.Sprintf("TF%d hello", i+1), f.Command[1:]...)
	}
	for _, h := range runs {
		h.wait()
		h.ok().quiet()
	}
	if got := r.repo.Git("rev-parse", ledgerRef(passive(session)), "refs/notes/agent/"+passive(session)); got != ledger+"\n"+notes {
		t.Errorf("the source has changed: %s, want %s and %s", got, ledger, notes)
	}
	if got := r.repo.Git("status", "--porcelain", "-uall"); got != before {
		t.Errorf("status of the source's checkout = %s, was %s", got, before)
	}
	r.claude(r.repo.Dir, "T6 hello", "--resume", session).ok().quiet()
	words := []string{"T1", "T2", "T3", "T4", "T5"}
	for i, f := range forks {
		k := i + 1
		what := fmt.Sprintf("fork at %d", k)
		request := r.first(fmt.Sprintf("TF%d", k))
		r.holds(what, request, append(words[:k:k], fmt.Sprintf("TF%d", k))...)
		r.same(what, r.first(fmt.Sprintf("T%d", k+1)), request)
		r.lives(f, request)
		all := r.checkFork(f, source[:k], r.done(fmt.Sprintf("TF%d", k)))
		if got := all[k].Transcript.After; got != k {
			t.Errorf("%s: the new segment comes after %d", what, got)
		}
	}
	if got := r.turns(passive(session)); len(got) != 6 || got[5].Prompt != "T6 hello" {
		t.Errorf("the source went on with %v, want one more turn", got)
	}
}

// A fork is forked, and a turn is replayed.
func TestForkOfFork(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on(`T[FGH][0-9]`, bash("echo forked > fork.txt"), say("forked")))
	session := r.talk("T1 hello", "T2 hello", "T5 hello")
	source := r.check(r.done("T1"), r.done("T2"), r.done("T5"))

	first := r.fork(r.repo.Dir, "2")
	r.claude(first.Worktree, "TF1 hello", first.Command[1:]...).ok().quiet()
	second := r.fork(first.Worktree, "latest")
	r.claude(second.Worktree, "TG1 hello", second.Command[1:]...).ok().quiet()
	r.claude(first.Worktree, "TF2 hello", first.Command[1:]...).ok().quiet()
	all := r.checkFork(first, source[:2], r.done("TF1"), r.done("TF2"))
	r.checkFork(second, all[:3], r.done("TG1"))
	r.holds("the fork of a fork", r.first("TG1"), "T1", "T2", "TF1", "TG1")
	r.same("the fork of a fork", r.first("TF2"), r.first("TG1"))
	r.lives(second, r.first("TG1"))

	// The last turn once more: from the state that it started in, with the conversation that it was
	// asked in.
	again := r.fork(r.repo.Dir, passive(session)+"/3", "--before")
	if again.Prompt != "T5 hello" || again.Command[len(again.Command)-1] != again.Prompt {
		t.Errorf("--before says %+v, want the prompt, and the command to give it", again)
	}
	if got, err := snapshot(again.Worktree, r.env()); err != nil || got != r.tree(source[2].Base) {
		t.Errorf("--before: the worktree is %s (%v), want the base\n%s", got, err, r.changes(r.tree(source[2].Base), got))
	}
	r.claude(again.Worktree, again.Prompt, again.Command[1:len(again.Command)-1]...).ok().quiet()
	request := r.asked("T5")[1]
	r.holds("the replayed turn", request, "T1", "T2", "T5")
	r.same("the replayed turn", r.first("T5"), request)
	r.lives(again, request)
	replayed := r.turns(again.Mission)
	if len(replayed) != 3 || replayed[2].Turn != 3 || replayed[2].Mission != again.Mission || replayed[2].Transcript.After != 2 {
		t.Errorf("the replayed turn is recorded as %v", replayed)
	}

	// The first turn once more: there was no conversation yet.
	fresh := r.fork(r.repo.Dir, passive(session)+"/1", "--before")
	if want := []string{"claude", "T1 hello"}; !slices.Equal(fresh.Command, want) || fresh.Session != "" {
		t.Errorf("--before the first turn says %+v, want %q", fresh, want)
	}
	fresh.Session = r.claude(fresh.Worktree, "TH1 hello").ok().quiet().session()
	r.holds("the first turn replayed", r.first("TH1"), "TH1")
	r.lives(fresh, r.first("TH1"))
	if got := r.turns(fresh.Mission); len(got) != 1 || got[0].Mission != fresh.Mission || got[0].Transcript.After != 0 {
		t.Errorf("the first turn replayed is recorded as %v", got)
	}
}

// Another clone, of another user, has fetched the mission with nothing but git.
func TestForkElsewhere(t *testing.T) {
	r := newNightly(t)
	session := r.talk("T1 hello", "T2 hello", "T3 hello")
	source := r.check(r.done("T1"), r.done("T2"), r.done("T3"))
	mission := passive(session)

	there := *r
	there.home = filepath.Join(r.home, "other home")
	clone := filepath.Join(there.home, "the clone")
	r.repo.Git("clone", "-q", r.repo.Dir, clone)
	there.repo = r.repo.In(clone)
	there.repo.Git("fetch", "-q", "origin", ledgerRef(mission)+":"+ledgerRef(mission), "refs/notes/agent/"+mission+":refs/notes/agent/"+mission)
	there.onboard(clone)
	there.command(clone, "init")
	key := "desk " + r.command(r.repo.Dir, "trust", "key")
	replaceFile(t, filepath.Join(there.home, ".config", "git-agent", "allowed_signers"), []byte(key))
	f := there.fork(clone, mission+"/2")
	if got, err := snapshot(f.Worktree, there.env()); err != nil || got != there.tree(source[1].Code) {
		t.Errorf("the worktree is %s (%v), want the turn's", got, err)
	}
	request := there.goOn("the fork in a clone", f, "T1", "T2", "T4")
	r.same("the fork in a clone", r.first("T3"), request)
	there.checkFork(f, source[:2], there.done("T4"))
}

// Two conversations take turns in one worktree: one was left by /clear and taken up again with
// /resume. A fork has one of them and nothing of the other.
func TestForkOfOneOfTwo(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on(`TF[0-9]`, say("forked")))
	mission, _ := r.attach(r.repo.Dir)
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	first := s.registry().SessionID
	s.clear()
	s.prompt("T2 hello")
	second := s.registry().SessionID
	s.enter("/resume " + first)
	r.await("the first session again", func() bool { return s.registry().SessionID == first })
	s.ready("/resume")
	s.prompt("T3 hello")
	r.claude(r.repo.Dir, "T5 hello", "--resume", second).ok().quiet()
	s.prompt("T6 hello")
	s.exit()
	var wants []want
	for _, p := range []string{"T1", "T2", "T3", "T5", "T6"} {
		w := r.done(p)
		w.mission = mission
		wants = append(wants, w)
	}
	source := r.check(wants...)
	for k, words := range map[int][]string{2: {"T2"}, 3: {"T1", "T3"}, 4: {"T2", "T5"}, 5: {"T1", "T3", "T6"}} {
		what := fmt.Sprintf("fork at %d", k)
		f := r.fork(r.repo.Dir, fmt.Sprint(k))
		own := fmt.Sprintf("TF%d", k)
		r.goOn(what, f, append(words, own)...)
		all := r.checkFork(f, source[:k], r.done(own))
		if got := all[k].Transcript.After; got != k {
			t.Errorf("%s: the new segment comes after %d", what, got)
		}
	}
	r.sameMessages("fork at 3", r.first("T6"), r.first("TF3"))
	r.same("fork at 2", r.first("T5"), r.first("TF2"))
}

// A conversation in a terminal, with all that happens there: a turn stopped by the user, a
// compaction, a rewind. It is forked in a terminal, too.
func TestForkInteractive(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(
		on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")),
		on(`TF[0-9]`, bash("pwd > where.txt"), say("forked")),
	)
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	s.interrupt()
	s.prompt("T2 hello")
	s.compact()
	s.prompt("T3 hello")
	s.prompt("T5 hello")
	s.exit()
	source := r.check(r.done("T1"), r.interrupted("TTOOL"), r.done("T2"), r.done("T3"), r.done("T5"))
	for k, words := range [][]string{1: {"T1"}, 2: {"T1", "TTOOL"}, 3: {"T1", "TTOOL", "T2"}, 4: {"T3"}} {
		if k == 0 {
			continue
		}
		what := fmt.Sprintf("fork at %d", k)
		f := r.fork(r.repo.Dir, fmt.Sprint(k))
		own := fmt.Sprintf("TF%d", k)
		if k == 2 || k == 3 {
			s := r.interactive(f.Worktree, f.Command[1:]...)
			s.prompt(own + " hello")
			s.exit()
		} else {
			r.claude(f.Worktree, own+" hello", f.Command[1:]...).ok().quiet()
		}
		request := r.first(own)
		r.holds(what, request, append(words, own)...)
		r.lives(f, request)
		r.checkFork(f, source[:k], r.done(own))
	}
	r.sameMessages("fork at 1", r.first("TTOOL"), r.first("TF1"))
	r.same("fork at 2, in a terminal as the original", r.first("T2"), r.first("TF2"))
	r.sameMessages("fork at 4", r.first("T5"), r.first("TF4"))
}

// An agent that launched another one, and one that moved into a worktree of its own: the client has
// to come up in the fork's worktree, not where the old session was.
func TestForkOfSubagentAndWorktree(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on(`TF[0-9]`, bash("pwd > where.txt"), say("forked")))
	session := r.talk("T1 hello", "TSUB hello", "TWT hello")
	inside := r.witness.last("Stop").Toplevel
	r.claude(inside, "T3 hello", "--resume", session).ok().quiet()
	moved := r.done("TWT")
	moved.base = ""
	source := r.check(r.done("T1"), r.done("TSUB"), r.done("<task-notification>"), moved, r.done("T3"))
	words := []string{"T1", "TSUB", "", "TWT", "T3"}
	for k := 2; k <= 5; k++ {
		what := fmt.Sprintf("fork at %d", k)
		f := r.fork(r.repo.Dir, fmt.Sprintf("%s/%d", passive(session), k))
		if got, err := snapshot(f.Worktree, r.env()); err != nil || got != r.tree(source[k-1].Code) {
			t.Errorf("%s: the worktree is %s (%v), want the turn's\n%s", what, got, err, r.changes(r.tree(source[k-1].Code), got))
		}
		own := fmt.Sprintf("TF%d", k)
		r.claude(f.Worktree, own+" hello", f.Command[1:]...).ok().quiet()
		request := r.first(own)
		wants := slices.DeleteFunc(slices.Clone(words[:k]), func(w string) bool { return w == "" })
		r.holds(what, request, append(wants, own)...)
		r.lives(f, request)
		r.checkFork(f, source[:k], r.done(own))
		if got := r.repo.In(f.Worktree).Read("where.txt"); got != f.Worktree+"\n" {
			t.Errorf("%s: the agent worked in %s", what, got)
		}
	}
	r.same("fork at 3", r.first("TWT"), r.first("TF3"))
	r.same("fork at 4", r.first("T3"), r.first("TF4"))
}

// The session went back to an earlier turn and on from there: the abandoned turns are in its file,
// and in the fork's, but no longer in the conversation.
func TestForkOfRewound(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on(`TF[0-9]`, say("forked")))
	session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	leaf := r.leaf(session)
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
	r.claude(r.repo.Dir, "T3 hello", "--resume", session, "--resume-session-at", leaf).ok().quiet()
	r.claude(r.repo.Dir, "T5 hello", "--resume", session).ok().quiet()
	r.holds("the rewound session", r.first("T5"), "T1", "T3", "T5")
	source := r.check(r.done("T1"), r.done("T2"), r.done("T3"), r.done("T5"))
	for k, words := range [][]string{2: {"T1", "T2"}, 3: {"T1", "T3"}, 4: {"T1", "T3", "T5"}} {
		if k < 2 {
			continue
		}
		f := r.fork(r.repo.Dir, fmt.Sprint(k))
		own := fmt.Sprintf("TF%d", k)
		r.goOn(fmt.Sprintf("fork at %d", k), f, append(words, own)...)
		r.checkFork(f, source[:k], r.done(own))
	}
	r.same("fork at 3", r.first("T5"), r.first("TF3"))
}

// The results of tools that ran at once lie beside each other in the file. A fork has all of them, and what
// was said after; so has its fork, in which those that were rebuilt come before those that weren't.
func TestForkOfToolsAtOnce(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on("TA", twice(bash("echo one")), twice(write("two.txt", "two\n")), say("both")), on("TF[0-9]", twice(bash("echo forked")), say("forked")))
	r.talk("TA hello", "T2 hello")
	r.check(r.done("TA"), r.done("T2"))
	f := r.fork(r.repo.Dir, "1")
	r.claude(f.Worktree, "TF1 hello", f.Command[1:]...).ok().quiet()
	r.holds("the fork", r.first("TF1"), "TA", "TF1")
	r.same("the fork", r.first("T2"), r.first("TF1"))
	r.claude(f.Worktree, "T3 hello", "--resume", f.Session).ok().quiet()
	r.holds("the fork, resumed", r.first("T3"), "TA", "TF1", "T3")
	again := r.fork(f.Worktree, "latest")
	r.claude(again.Worktree, "TF2 hello", again.Command[1:]...).ok().quiet()
	r.holds("the fork's fork", r.first("TF2"), "TA", "TF1", "T3", "TF2")
}
