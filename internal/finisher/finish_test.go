package finisher_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gitagent/internal/finisher"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// finish finishes a mission without an editor. It returns what git said.
func finish(l *lab.Lab, id record.ID, how ...func(*finisher.Finishing)) (*finisher.Finished, string, error) {
	l.T.Helper()
	var talk bytes.Buffer
	f := finisher.Finishing{Mission: id, At: time.Now(), Talk: &talk, Stdin: strings.NewReader("")}
	for _, set := range how {
		set(&f)
	}
	done, err := finisher.Finish(context.Background(), l.Workspace(l.Dir), f)
	return done, talk.String(), err
}

// finished finishes a mission, and fails the test if that fails.
func finished(l *lab.Lab, id record.ID) *finisher.Finished {
	l.T.Helper()
	done, talk, err := finish(l, id)
	if err != nil {
		l.T.Fatalf("finish: %v\n%s", err, talk)
	}
	return done
}

// finishingLab keeps the developer's identity out of the git that commits: it runs with the environment of
// this process.
func finishingLab(t *testing.T, l *lab.Lab) *lab.Lab {
	t.Helper()
	for _, v := range l.Env {
		if name, value, _ := strings.Cut(v, "="); name != "PATH" && name != "TMPDIR" {
			t.Setenv(name, value)
		}
	}
	return l
}

// attachedLab is a lab to finish in, another one in the worktree of mission a1b2c3d4, and the agent there.
func attachedLab(t *testing.T) (l, at *lab.Lab, c *replay.Client) {
	t.Helper()
	l = finishingLab(t, lab.New(t))
	at = l.Attached("a1b2c3d4")
	return l, at, at.Client()
}

// hook makes a hook of git's, which done removes.
func hook(l *lab.Lab, name, script string) (done func()) {
	l.T.Helper()
	path := ".git/hooks/" + name
	l.Write(path, "#!/bin/sh\n"+script+"\n")
	l.Chmod(path, 0o755)
	return func() { l.Remove(path) }
}

// TestFinishManyTrailers: what a commit of anybody's claims to have of a mission may be as long as a commit can be,
// and takes no more memory, nor time, than its length.
func TestFinishManyTrailers(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "turn 1", at.Writes("edited.txt", "one\n"))
	message := strings.Builder{}
	message.WriteString("innocent\n\nAgent-Mission: a1b2c3d4\n")
	for n := range 10_000 {
		fmt.Fprintf(&message, "Agent-Turns: %d\n", 2*n+3) // none touches another
	}
	file := filepath.Join(t.TempDir(), "message")
	gittest.Must(t, os.WriteFile(file, []byte(message.String()), 0o600))
	l.Git("commit", "-q", "--allow-empty", "-F", file)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := finished(l, "a1b2c3d4")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
		t.Errorf("it used %d MB for %d KB of trailers", used>>20, message.Len()>>10)
	}
	if len(done.Made) != 1 || done.Turn != 1 {
		t.Errorf("made %v up to turn %d", done.Made, done.Turn)
	}
}

// TestFinishGoesOn: what comes after a first squash is merged as what it is, not against it: the same lines
// change in each turn, and in the user's branch other ones.
func TestFinishGoesOn(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	for n, text := range []string{"1", "2", "3", "4"} {
		at.Turn(c, "turn "+text, at.Writes("dir/edited.txt", "one\ntwo\nthree\n"+text+"\n"))
		l.Write("kept.txt", "kept "+text+"\n")
		l.Commit("meanwhile " + text)
		done := finished(l, "a1b2c3d4")
		if len(done.Made) != 1 || done.Turn != n+1 {
			t.Errorf("finish %d made %v up to turn %d", n+1, done.Made, done.Turn)
		}
		if got := trailed(l); got != text {
			t.Errorf("the trailers of finish %d say %q", n+1, got)
		}
		if got := l.Git("show", "HEAD:dir/edited.txt"); !strings.HasSuffix(got, "\n"+text) {
			t.Errorf("finish %d left %q", n+1, got)
		}
	}
	l.Fsck()
}

// TestFinishAmended: the commit was amended before the mission went on; its trailers tell.
func TestFinishAmended(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("dir/edited.txt", "one\n"))
	finished(l, "a1b2c3d4")
	l.Write("kept.txt", "amended\n")
	l.Git("commit", "-q", "-a", "--amend", "--no-edit")
	at.Turn(c, "two", at.Writes("dir/edited.txt", "two\n"))
	finished(l, "a1b2c3d4")
	if got := l.Git("show", "HEAD:dir/edited.txt") + l.Git("show", "HEAD:kept.txt"); got != "twoamended" {
		t.Errorf("HEAD has %q", got)
	}
	if got := l.Git("rev-list", "--count", "HEAD"); got != "3" {
		t.Errorf("there are %s commits", got)
	}
}

// TestFinishFork: a fork of a mission that is finished has its own turns to commit, and a fork of one that is
// not has all.
func TestFinishFork(t *testing.T) {
	gittest.Check(t)
	for _, first := range []bool{true, false} {
		l, at, c := attachedLab(t)
		at.Turn(c, "one", at.Writes("dir/edited.txt", "one\n"))
		if first {
			finished(l, "a1b2c3d4")
		}
		source := l.List("a1b2c3d4")[0]
		dir := filepath.Join(t.TempDir(), "fork")
		if _, err := missionstore.Fork(context.Background(), l.Workspace(l.Dir), missionstore.ForkPlan{Source: source, ID: "f0f0f0f0", At: time.Now(), Worktree: dir}); err != nil {
			t.Fatal(err)
		}
		fork := l.At(dir)
		fork.Turn(fork.Client(), "two", fork.Writes("dir/edited.txt", "two\n"))
		finished(l, "f0f0f0f0")
		want := map[bool]string{true: "2", false: "1-2"}[first]
		if got := trailed(l); got != want {
			t.Errorf("with the source finished %t: the fork's commit has turns %s, want %s", first, got, want)
		}
		if got := l.Git("show", "HEAD:dir/edited.txt"); got != "two" {
			t.Errorf("HEAD has %q", got)
		}
	}
}

// TestFinishAgain: a turn that is recorded again after the mission was finished is open again.
func TestFinishAgain(t *testing.T) {
	gittest.Check(t)
	for _, attached := range []bool{false, true} {
		l := finishingLab(t, lab.New(t))
		at, id := l, record.ID("")
		if attached {
			at = l.Attached("a1b2c3d4")
		}
		c := at.Client()
		if id = lab.Own(c); attached {
			id = "a1b2c3d4"
		}
		at.Turn(c, "one", at.Writes("new.txt", "1\n"))
		finished(l, id)
		at.Write("new.txt", "2\n")
		c.Stop("and more") // its hook let it go on
		if lines, err := turns.Missions(context.Background(), l.GitRepo()); err != nil || lines[0].Turns != 1 || lines[0].Finished() != nil {
			t.Errorf("attached %t: %v, turn %d is finished in %+v", attached, err, lines[0].Turns, lines[0].Finished())
		}
		done := finished(l, id)
		if len(done.Made) != 1 || l.Git("show", "HEAD:new.txt") != "2" {
			t.Errorf("attached %t: it made %v", attached, done.Made)
		}
		if again := finished(l, id); len(again.Made) != 0 || again.Commit != done.Commit {
			t.Errorf("attached %t: then it made %v", attached, again.Made)
		}
	}
}

// TestFinishOwnCommits: what the user has committed on the mission's branch is part of it, also after it was
// finished, and removing the branch loses none of it.
func TestFinishOwnCommits(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("new.txt", "1\n"))
	at.Write("own.txt", "own\n")
	at.Commit("own")
	done := finished(l, "a1b2c3d4")
	at.Write("own.txt", "more\n")
	at.Commit("more")
	w := l.Workspace(l.Dir)
	if _, err := missionstore.RemoveFinished(context.Background(), w, "a1b2c3d4", done.Finish); err == nil {
		t.Error("a branch that has moved since was removed")
	}
	done = finished(l, "a1b2c3d4")
	if len(done.Made) != 1 || l.Git("show", "HEAD:own.txt") != "more" {
		t.Errorf("it made %v", done.Made)
	}
	tip := at.Git("rev-parse", "HEAD")
	gone, err := missionstore.RemoveFinished(context.Background(), w, "a1b2c3d4", done.Finish)
	if err != nil || gone.Worktree == "" || gone.Branch == "" {
		t.Errorf("removed %+v, %v", gone, err)
	}
	if kept := l.Git("for-each-ref", "--contains="+tip, "--format=%(refname)", "refs/agent/missions", "refs/heads"); kept != "refs/agent/missions/a1b2c3d4" {
		t.Errorf("the branch's commits are kept by %q", kept)
	}
	l.Fsck()
}

// TestFinishStranger: the work of a stranger is committed only once somebody has accepted it.
func TestFinishStranger(t *testing.T) {
	l := finishingLab(t, lab.New(t))
	c := l.Client()
	l.Turn(c, "one", l.Writes("new.txt", "1\n"))
	l.Plant(lab.Own(c), map[string]string{"note": "x\n"})
	head := l.Git("rev-parse", "HEAD")
	if _, _, err := finish(l, lab.Own(c)); !errors.Is(err, workspace.ErrUntrusted) {
		t.Errorf("finish: %v, want %v", err, workspace.ErrUntrusted)
	}
	if now := l.Git("rev-parse", "HEAD"); now != head {
		t.Error("there is a commit")
	}
	l.Accept(lab.Own(c))
	// A hook that lies in the worktree is the stranger's.
	l.Write("hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	l.Chmod("hooks/pre-commit", 0o755)
	l.Git("config", "core.hooksPath", "hooks")
	l.Git("config", "hook.x.event", "pre-commit")
	l.Git("config", "hook.x.command", "/bin/sh hooks/pre-commit")
	if done := finished(l, lab.Own(c)); len(done.Made) != 1 {
		t.Errorf("it made %v", done.Made)
	}
}

// TestFinishUnborn: a passive mission may make the first commit of a repository.
func TestFinishUnborn(t *testing.T) {
	gittest.Check(t)
	l := finishingLab(t, lab.Empty(t))
	c := l.Client()
	l.Turn(c, "one", l.Writes("dir/new.txt", "1\n"))
	l.Write("mine.txt", "mine\n")
	var left []string
	done, talk, err := finish(l, lab.Own(c), func(f *finisher.Finishing) { f.Tell = func(_, paths []string) { left = paths } })
	if err != nil || len(done.Made) != 1 {
		t.Fatalf("it made %v: %v\n%s", done.Made, err, talk)
	}
	if got := l.Git("ls-tree", "-r", "--name-only", "HEAD"); got != "dir/new.txt" || strings.Join(left, " ") != "mine.txt" {
		t.Errorf("the commit has %q, left is %q", got, left)
	}
	if got := l.Git("status", "--porcelain"); got != "?? mine.txt" {
		t.Errorf("status: %s", got)
	}
}

// TestFinishConversions: filters, line ends, sparse checkouts and submodules are git's.
func TestFinishConversions(t *testing.T) {
	gittest.Check(t)
	l := finishingLab(t, lab.New(t))
	l.Write(".gitattributes", "*.up filter=up\n*.crlf text eol=crlf\n")
	l.Write("out/side.txt", "1\n")
	l.Git("config", "filter.up.clean", "tr a-z A-Z")
	l.Git("config", "filter.up.smudge", "tr A-Z a-z")
	l.Git("init", "-q", "sub")
	sub := l.In(filepath.Join(l.Dir, "sub"))
	sub.Git("commit", "-q", "--allow-empty", "-m", "one")
	l.Git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
	l.Write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n")
	l.Commit("second")
	l.Git("sparse-checkout", "set", "--no-cone", "/*", "!/out/", "!/fresh/")
	c := l.Client()
	l.Turn(c, "one", func() {
		l.Write("a.up", "shout\n")
		l.Write("b.crlf", "line\r\n")
		l.Write("fresh/in.txt", "outside of the sparse checkout\n")
		sub.Git("commit", "-q", "--allow-empty", "-m", "two")
	})
	finished(l, lab.Own(c))
	for path, want := range map[string]string{"a.up": "SHOUT", "b.crlf": "line", "fresh/in.txt": "outside of the sparse checkout", "out/side.txt": "1"} {
		if got := l.Git("show", "HEAD:"+path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if got, want := l.Git("rev-parse", "HEAD:sub"), sub.Git("rev-parse", "HEAD"); got != want {
		t.Errorf("the submodule is at %s, want %s", got, want)
	}
	if got := l.Git("status", "--porcelain"); got != "" {
		t.Errorf("status: %s", got)
	}
	l.Fsck()
}

// TestFinishReplaced: a directory in the place of a file is more than git commit --only can do. A hook that
// fails leaves the index as it was.
func TestFinishReplaced(t *testing.T) {
	gittest.Check(t)
	l := finishingLab(t, lab.New(t))
	c := l.Client()
	l.Turn(c, "one", func() {
		l.Remove("kept.txt")
		l.Write("kept.txt/inside", "1\n")
	})
	before := l.Git("status", "--porcelain")
	unhook := hook(l, "pre-commit", "exit 1")
	if _, _, err := finish(l, lab.Own(c)); !errors.Is(err, finisher.ErrNotCommitted) {
		t.Errorf("finish: %v, want %v", err, finisher.ErrNotCommitted)
	}
	if now := l.Git("status", "--porcelain"); now != before {
		t.Errorf("status is %q, was %q", now, before)
	}
	unhook()
	finished(l, lab.Own(c))
	if got := l.Git("show", "HEAD:kept.txt/inside") + l.Git("status", "--porcelain"); got != "1" {
		t.Errorf("HEAD and status: %q", got)
	}
}

// TestFinishLater: a turn that ended after a merge stopped at a conflict is not in it.
func TestFinishLater(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("kept.txt", "theirs\n"))
	l.Write("kept.txt", "ours\n")
	l.Commit("ours")
	if _, _, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrUnresolved) {
		t.Fatalf("finish: %v, want %v", err, finisher.ErrUnresolved)
	}
	at.Turn(c, "two", at.Writes("later.txt", "later\n"))
	l.Write("kept.txt", "both\n")
	l.Git("add", "kept.txt")
	if done := finished(l, "a1b2c3d4"); done.Turn != 1 {
		t.Errorf("it is finished with turn %d, want 1", done.Turn)
	}
	if done := finished(l, "a1b2c3d4"); done.Turn != 2 || l.Git("show", "HEAD:later.txt") != "later" || l.Git("show", "HEAD:kept.txt") != "both" {
		t.Errorf("then with turn %d, want 2", done.Turn)
	}
}

// TestFinishByHand: a merge that the user has made goes on as ours, with all that is in it, whatever was begun
// and given up before.
func TestFinishByHand(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("kept.txt", "theirs\n"))
	l.Write("kept.txt", "ours\n")
	l.Commit("ours")
	if _, _, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrUnresolved) {
		t.Fatalf("finish: %v, want %v", err, finisher.ErrUnresolved)
	}
	l.Git("reset", "-q", "--merge")
	at.Turn(c, "two", at.Writes("later.txt", "later\n"))
	if _, err := l.Try("merge", "-q", "--squash", "agent/mission/a1b2c3d4"); err == nil {
		t.Fatal("there is no conflict")
	}
	l.Write("kept.txt", "both\n")
	l.Git("add", "kept.txt")
	done := finished(l, "a1b2c3d4")
	if got := trailed(l); done.Turn != 2 || got != "1-2" {
		t.Errorf("it is finished with turn %d, and its trailers say %s", done.Turn, got)
	}
}

// TestFinishGone: the branch was deleted, and the ledger has the last turn.
func TestFinishGone(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("new.txt", "1\n"))
	l.Git("worktree", "remove", at.Dir)
	l.Git("branch", "-q", "-D", "agent/mission/a1b2c3d4")
	done, _, err := finish(l, "a1b2c3d4", func(f *finisher.Finishing) { f.Talk = io.Discard })
	if err != nil || len(done.Made) != 1 || l.Git("show", "HEAD:new.txt") != "1" {
		t.Errorf("it made %v: %v", done.Made, err)
	}
}

// trailed are the turns that the last commit has by its trailers.
func trailed(l *lab.Lab) string {
	l.T.Helper()
	return strings.TrimSpace(l.Git("log", "-1", "--format=%(trailers:key=Agent-Turns,valueonly)"))
}

// TestFinishElsewhere: a turn that was made on another branch is in no commit of the mission's, and the mission
// is not finished until HEAD has its work.
func TestFinishElsewhere(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("one", "1\n"))
	at.Turn(c, "two", func() {
		at.Git("switch", "-q", "-c", "feature")
		at.Write("two", "2\n")
		at.Commit("two")
		at.Write("two", "not committed\n")
	})
	done := finished(l, "a1b2c3d4")
	if got := trailed(l); got != "1" || done.Turn != 1 || !errors.Is(done.Missing, finisher.ErrElsewhere) {
		t.Errorf("the commit has turns %s, and the mission is finished up to %d: %v", got, done.Turn, done.Missing)
	}
	if _, _, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrElsewhere) {
		t.Errorf("with nothing to merge: %v", err)
	}
	at.Commit("the rest")
	l.Git("merge", "-q", "--no-edit", "feature")
	if done := finished(l, "a1b2c3d4"); done.Turn != 2 || done.Missing != nil || len(done.Made) != 0 {
		t.Errorf("with feature merged it is finished up to turn %d by %v: %v", done.Turn, done.Made, done.Missing)
	}
	at.Turn(c, "three", at.Writes("three", "3\n"))
	at.Commit("three")
	at.Git("switch", "-q", "agent/mission/a1b2c3d4")
	at.Turn(c, "four", at.Writes("four", "4\n"))
	done = finished(l, "a1b2c3d4")
	if got := trailed(l); got != "4" || done.Turn != 4 || done.LeftOut.String() != "3" || done.Missing != nil {
		t.Errorf("the commit has turns %s, and the mission is finished up to %d, without %s: %v", got, done.Turn, done.LeftOut, done.Missing)
	}
	l.Fsck()
}

// TestFinishSaid: what anybody's commit says of a mission in its trailers is not believed, unless it has the work.
func TestFinishSaid(t *testing.T) {
	gittest.Check(t)
	for _, attached := range []bool{true, false} {
		l := finishingLab(t, lab.New(t))
		at, id := l, record.ID("a1b2c3d4")
		if attached {
			at = l.Attached(id)
		}
		c := at.Client()
		if !attached {
			id = lab.Own(c)
		}
		at.Turn(c, "one", at.Writes("one", "1\n"))
		at.Turn(c, "two", at.Writes("two", "2\n"))
		l.Git("commit", "-q", "--allow-empty", "-m", "theirs\n\nAgent-Mission: "+string(id)+"\nAgent-Turns: 1-999999")
		done := finished(l, id)
		if got := trailed(l); got != "1-2" || len(done.Made) != 1 {
			t.Errorf("attached %t: finish made %v with turns %q", attached, done.Made, got)
		}
		if got := l.Git("show", "HEAD:one") + l.Git("show", "HEAD:two"); got != "12" {
			t.Errorf("attached %t: HEAD has %q", attached, got)
		}
		at.Turn(c, "three", at.Writes("three", "3\n"))
		l.Git("commit", "-q", "--allow-empty", "-m", "theirs\n\nAgent-Mission: "+string(id)+"\nAgent-Turns: 3")
		if done := finished(l, id); len(done.Made) != 1 || trailed(l) != "3" {
			t.Errorf("attached %t: then finish made %v", attached, done.Made)
		}
		l.Fsck()
	}
}

// TestFinishDropped: what the user has reset the branch behind is in no commit of the mission's, and keeps it from
// nothing.
func TestFinishDropped(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("one", "1\n"))
	at.Turn(c, "two", at.Writes("two", "2\n"))
	at.Git("reset", "-q", "--hard", "HEAD~1")
	done := finished(l, "a1b2c3d4")
	if got := trailed(l); got != "1" || done.Turn != 2 || done.LeftOut.String() != "2" || done.Missing != nil {
		t.Errorf("the commit has turns %s, and the mission is finished up to %d, without %s: %v", got, done.Turn, done.LeftOut, done.Missing)
	}
	if done := finished(l, "a1b2c3d4"); len(done.Made) != 0 {
		t.Errorf("again: %v", done.Made)
	}
	at.Turn(c, "three", at.Writes("three", "3\n"))
	at.Git("reset", "-q", "--hard", "HEAD~1")
	if done := finished(l, "a1b2c3d4"); len(done.Made) != 0 || done.Turn != 3 {
		t.Errorf("with nothing left of what came since: %v, up to turn %d", done.Made, done.Turn)
	}
	at.Turn(c, "four", at.Writes("four", "4\n"))
	finished(l, "a1b2c3d4")
	if got := trailed(l); got != "4" {
		t.Errorf("the commit has turns %s", got)
	}
	l.Fsck()
}

// TestFinishRebased: what was rebased, or made during a rebase, is not elsewhere.
func TestFinishRebased(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("one", "1\n"))
	l.Write("kept.txt", "meanwhile\n")
	l.Commit("meanwhile")
	at.Turn(c, "two", func() {
		at.Git("checkout", "-q", "--detach")
		at.Write("two", "2\n")
		at.Commit("two")
	})
	at.Git("checkout", "-q", "-B", "agent/mission/a1b2c3d4")
	at.Git("rebase", "-q", "main")
	done := finished(l, "a1b2c3d4")
	if got := trailed(l); got != "1-2" || done.Turn != 2 || done.Missing != nil {
		t.Errorf("the commit has turns %s, and the mission is finished up to %d: %v", got, done.Turn, done.Missing)
	}
}

// TestFinishWhatIsLeft: the commit of a passive mission does not claim what the user has committed, nor what is
// on another branch.
func TestFinishWhatIsLeft(t *testing.T) {
	gittest.Check(t)
	l := finishingLab(t, lab.New(t))
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "one", l.Writes("one", "1\n"))
	l.Commit("by hand")
	l.Turn(c, "two", l.Writes("two", "2\n"))
	l.Git("switch", "-q", "-c", "feature")
	l.Commit("on another branch")
	l.Git("switch", "-q", "main")
	l.Turn(c, "three", l.Writes("three", "3\n"))
	done := finished(l, id)
	if got := trailed(l); got != "3" || done.Turn != 3 {
		t.Errorf("the commit has turns %s, and the mission is finished up to %d", got, done.Turn)
	}
}

// TestFinishResolved: where HEAD's side was taken in all conflicts, there is nothing to commit, and no new
// merge with the same conflicts.
func TestFinishResolved(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("kept.txt", "theirs\n"))
	l.Write("kept.txt", "ours\n")
	l.Commit("ours")
	if _, _, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrUnresolved) {
		t.Fatal(err)
	}
	l.Git("checkout", "HEAD", "--", "kept.txt")
	if _, _, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrResolved) {
		t.Errorf("with HEAD's side taken: %v", err)
	}
	if got := l.Git("status", "--porcelain"); got != "" {
		t.Errorf("git status says %s", got)
	}
	l.Git("reset", "-q")
	if _, _, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrUnresolved) {
		t.Errorf("once more after a reset: %v", err)
	}
	l.Git("checkout", "HEAD", "--", "kept.txt")
	l.Git("commit", "-q", "--allow-empty", "--no-edit")
	if done := finished(l, "a1b2c3d4"); len(done.Made) != 0 || trailed(l) != "1" {
		t.Errorf("after git commit --allow-empty it makes %v", done.Made)
	}
}

// TestFinishUnproposed: a git that was killed when the merge was in the index has left no message, an empty one,
// or the one that a git killed before it had left; the next finish goes on from that.
func TestFinishUnproposed(t *testing.T) {
	gittest.Check(t)
	for _, kept := range []string{"none", "empty", "stale"} {
		t.Run(kept, func(t *testing.T) {
			l, at, c := attachedLab(t)
			at.Turn(c, "turn 1", at.Writes("one", "1\n"))
			finished(l, "a1b2c3d4")
			proposed := filepath.Join(l.Dir, ".git", "SQUASH_MSG")
			if kept == "stale" {
				l.Write(".git/SQUASH_MSG", l.Git("log", "-1", "--format=%B")+"\n")
			}
			at.Turn(c, "turn 2", at.Writes("two", "2\n"))
			unhook := hook(l, "post-index-change", "git diff --cached --quiet || kill -9 $PPID")
			if _, talk, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrNotMerged) {
				t.Fatalf("with a git that is killed: %v\n%s", err, talk)
			}
			unhook()
			if _, err := os.Stat(proposed); err == nil {
				t.Error("git was killed too late, or has left the old message")
			}
			if kept == "empty" {
				l.Write(".git/SQUASH_MSG", "")
			}
			finished(l, "a1b2c3d4")
			if got := trailed(l); got != "2" {
				t.Errorf("the trailers are of turns %q", got)
			}
		})
	}
}

// TestFinishSplitKilled: a finish that was killed while it made several commits has left one part of the work
// staged, or all of it, and the message of that part. No mission is finished with a part, and no message says more
// than its commit has.
func TestFinishSplitKilled(t *testing.T) {
	gittest.Check(t)
	tests := []struct {
		name  string
		at    string // the message of the commit that fails begins so
		whole bool   // killed before the part was staged
		mute  bool   // and its message could not be written
		after func(l, at *lab.Lab, c *replay.Client)
		err   error
		want  string // trailers of all commits
	}{
		{name: "first", at: "turn 1", want: "1-3"},
		{name: "first, whole", at: "turn 1", whole: true, want: "1-3"},
		{name: "second", at: "turn 2", want: "2-3 1"},
		{name: "second, without its message", at: "turn 2", mute: true, want: "2-3 1"},
		{name: "third", at: "turn 3", want: "3 2 1"},
		{name: "third, without its message", at: "turn 3", mute: true, want: "3 2 1"},
		{name: "the mission went on", at: "turn 1", want: "1-3", after: func(_, at *lab.Lab, c *replay.Client) {
			at.Turn(c, "turn 4", at.Writes("four", "4\n"))
		}},
		{name: "the user staged more", at: "turn 1", err: finisher.ErrStaged, after: func(l, _ *lab.Lab, _ *replay.Client) {
			l.Write("kept.txt", "mine\n")
			l.Git("add", "kept.txt")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, at, c := attachedLab(t)
			for _, n := range []string{"1", "2", "3"} {
				at.Turn(c, "turn "+n, at.Writes("in-"+n, n+"\n"))
			}
			hook := filepath.Join(l.Dir, ".git", "hooks", "pre-commit")
			script := "#!/bin/sh\nread -r first <.git/SQUASH_MSG\ntest \"$first\" != '" + tt.at + "' || { cp .git/index .git/part; cp .git/SQUASH_MSG .git/part-message; exit 1; }\n"
			gittest.Must(t, os.WriteFile(hook, []byte(script), 0o755))
			split := []ledger.Ranges{ledger.RangesOf(1), ledger.RangesOf(2), ledger.RangesOf(3)}
			if _, talk, err := finish(l, "a1b2c3d4", func(f *finisher.Finishing) { f.Split = split }); !errors.Is(err, finisher.ErrNotCommitted) {
				t.Fatalf("with a hook that fails: %v\n%s", err, talk)
			}
			kept := []string{"part-message", "SQUASH_MSG", "part", "index"}
			switch {
			case tt.mute:
				kept = nil
				l.Write(".git/SQUASH_MSG", "")
			case tt.whole:
				kept = kept[:2]
			}
			for i := 0; i < len(kept); i += 2 {
				gittest.Must(t, os.Rename(filepath.Join(l.Dir, ".git", kept[i]), filepath.Join(l.Dir, ".git", kept[i+1])))
			}
			gittest.Must(t, os.Remove(hook))
			if tt.after != nil {
				tt.after(l, at, c)
			}
			head, staged := l.Git("rev-parse", "HEAD"), l.Git("diff", "--cached")
			if _, talk, err := finish(l, "a1b2c3d4"); !errors.Is(err, tt.err) {
				t.Fatalf("then: %v, want %v\n%s", err, tt.err, talk)
			}
			if tt.err != nil {
				if l.Git("rev-parse", "HEAD") != head || l.Git("diff", "--cached") != staged {
					t.Error("something was changed")
				}
				return
			}
			var trailers []string
			for line := range strings.Lines(l.Git("log", "--format=%(trailers:key=Agent-Turns,valueonly)")) {
				trailers = append(trailers, strings.Fields(line)...)
			}
			if got := strings.Join(trailers, " "); got != tt.want {
				t.Errorf("the trailers are of turns %q, want %q", got, tt.want)
			}
			if got := l.Git("status", "--porcelain"); got != "" {
				t.Errorf("not committed:\n%s", got)
			}
			if got := l.Git("ls-tree", "--name-only", "HEAD", "in-1", "in-2", "in-3"); strings.Count(got, "in-") != 3 {
				t.Errorf("HEAD has %q", got)
			}
		})
	}
}

// TestFinishFormatted: what a hook adds to the commit of a passive mission is not staged to be taken back, and
// what the user has staged stays.
func TestFinishFormatted(t *testing.T) {
	gittest.Check(t)
	l := finishingLab(t, lab.New(t))
	c := l.Client()
	l.Turn(c, "one", l.Writes("one", "1\n"))
	l.Write("staged", "staged\n")
	l.Git("add", "staged")
	l.Write("staged", "not staged\n")
	hook(l, "pre-commit", "echo formatted >>one; echo x >generated; git add one generated")
	finished(l, lab.Own(c))
	if got := l.Git("status", "--porcelain"); got != "AM staged" {
		t.Errorf("git status says %q", got)
	}
	if got := l.Git("show", "HEAD:one") + l.Git("show", "HEAD:generated"); got != "1\nformattedx" {
		t.Errorf("HEAD has %q", got)
	}
}

// TestFinishTrailers: the trailers are those that everybody reads, whatever the user's are like.
func TestFinishTrailers(t *testing.T) {
	gittest.Check(t)
	l := finishingLab(t, lab.New(t))
	l.Git("config", "trailer.separators", "#")
	l.Git("config", "trailer.ifExists", "doNothing")
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "one", l.Writes("one", "1\n"))
	_, _, err := finish(l, id, func(f *finisher.Finishing) { f.Message = "Subject\n\nAgent-Mission: 00000000\n" })
	gittest.Must(t, err)
	if got := l.Git("log", "-1", "--format=%B"); !strings.Contains(got, "\nAgent-Mission: "+string(id)+"\nAgent-Turns: 1") {
		t.Errorf("the message is %q", got)
	}
}

// TestFinishGitKilled: git is killed while it commits. It leaves no lock, and what a killed process of ours has left
// of one goes at the next event.
func TestFinishGitKilled(t *testing.T) {
	gittest.Check(t)
	for name, attached := range map[string]bool{"passive": false, "attached": true} {
		t.Run(name, func(t *testing.T) {
			l := finishingLab(t, lab.New(t))
			at, id := l, record.ID("")
			c := l.Client()
			if id = record.ID(c.Session[len(c.Session)-8:]); attached {
				id = "a1b2c3d4"
				at = l.Attached(id)
				c = at.Client()
			}
			c.Prompt("one")
			at.Write("made", "one\n")
			c.Stop("done")
			done := hook(l, "pre-commit", "kill -9 $PPID")
			if _, _, err := finish(l, id); !errors.Is(err, finisher.ErrNotCommitted) {
				t.Fatalf("finish with a git that is killed: %v", err)
			}
			done()
			if left := l.Locked(); len(left) > 0 && !strings.HasPrefix(left[0], "/.git/next-index-") {
				t.Errorf("left are %q", left)
			}
			l.Leave("user-git-.git", ".git/index", ".git/HEAD")
			finished(l, id)
			if got := l.Git("show", "HEAD:made"); got != "one" {
				t.Errorf("committed is %q", got)
			}
		})
	}
}

// TestFinishTwice: a branch that is checked out in two worktrees is not removed, as git doesn't.
func TestFinishTwice(t *testing.T) {
	gittest.Check(t)
	l, at, c := attachedLab(t)
	at.Turn(c, "one", at.Writes("one", "1\n"))
	done := finished(l, "a1b2c3d4")
	second := filepath.Join(t.TempDir(), "second")
	l.Git("worktree", "add", "-q", "--force", second, "agent/mission/a1b2c3d4")
	w := l.Workspace(l.Dir)
	if _, err := missionstore.RemoveFinished(context.Background(), w, "a1b2c3d4", done.Finish); !errors.Is(err, missionstore.ErrInUse) || !strings.Contains(err.Error(), second) {
		t.Errorf("with two worktrees: %v, want %v", err, missionstore.ErrInUse)
	}
	for _, dir := range []string{at.Dir, second} {
		if got := l.In(dir).Git("status", "--porcelain", "--branch"); got != "## agent/mission/a1b2c3d4" {
			t.Errorf("git status in %s says %q", dir, got)
		}
	}
	gittest.Must(t, os.RemoveAll(second))
	if gone, err := missionstore.RemoveFinished(context.Background(), w, "a1b2c3d4", done.Finish); err != nil || gone.Worktree != at.Dir {
		t.Errorf("with one worktree left it removed %+v: %v", gone, err)
	}
}

// TestFinishRerere: where git resolves all conflicts as before, and stages that, it stops all the same: the
// message is there, trailers and all.
func TestFinishRerere(t *testing.T) {
	gittest.Check(t)
	for text, want := range map[string]error{"both\n": finisher.ErrNotCommitted, "ours\n": finisher.ErrResolved} {
		l, at, c := attachedLab(t)
		l.Git("config", "rerere.enabled", "true")
		l.Git("config", "rerere.autoUpdate", "true")
		at.Turn(c, "one", at.Writes("kept.txt", "theirs\n"))
		l.Write("kept.txt", "ours\n")
		l.Commit("ours")
		if _, _, err := finish(l, "a1b2c3d4"); !errors.Is(err, finisher.ErrUnresolved) {
			t.Fatalf("finish: %v, want %v", err, finisher.ErrUnresolved)
		}
		l.Write("kept.txt", text)
		l.Git("add", "kept.txt")
		l.Git("rerere")
		l.Git("reset", "-q", "--merge")
		if _, talk, err := finish(l, "a1b2c3d4"); !errors.Is(err, want) {
			t.Fatalf("with the same conflict: %v, want %v\n%s", err, want, talk)
		}
		l.Git("commit", "-q", "--allow-empty", "--no-edit")
		if got := trailed(l); got != "1" || l.Git("show", "HEAD:kept.txt")+"\n" != text {
			t.Errorf("git commit has turns %q in its trailers", got)
		}
		if done := finished(l, "a1b2c3d4"); len(done.Made) != 0 || done.Turn != 1 {
			t.Errorf("then it makes %v", done.Made)
		}
	}
}
