//go:build e2e

package e2e

import (
	"testing"
)

// What the user does between two turns is not the agent's work.
func TestUserWorksBetweenTurns(t *testing.T) {
	r := newNightly(t)
	session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	r.repo.Write("README.md", "# A project\n\nedited by hand\n")
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
	r.repo.Git("add", "-A")
	r.repo.Git("commit", "-q", "-m", "by the user")
	r.claude(r.repo.Dir, "T3 hello", "--resume", session).ok().quiet()
	r.repo.Write("README.md", "# A project\n")
	r.claude(r.repo.Dir, "T4 hello", "--resume", session).ok().quiet()

	turns := r.check(r.done("T1"), r.done("T2"), r.done("T3"), r.done("T4"))
	if got, want := r.repo.Git("log", "-1", "--format=%s", turns[1].Base), "before turn 2"; got != want {
		t.Errorf("subject of the state that turn 2 started from = %q, want %q", got, want)
	}
	if got, want := turns[2].Code, r.repo.Git("rev-parse", "HEAD"); got != want {
		t.Errorf("code of a turn without changes in a clean worktree = %s, want HEAD %s", got, want)
	}
	if got := r.repo.Git("log", "-1", "--format=%s"); got != "by the user" {
		t.Errorf("HEAD is %q", got)
	}
}

// Two clients in one checkout, one turn inside the other.
func TestTwoSessionsAtOnce(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", write("outer.txt", "outer\n"), bash(slow.wait()), say("outer done")))
	outer := r.startClaude(r.repo.Dir, "TTOOL hello")
	slow.reached()
	r.claude(r.repo.Dir, "T1 hello").ok().quiet()
	slow.open()
	outer.wait()
	outer.ok().quiet()
	r.check(r.done("TTOOL"), r.done("T1"))
}

// The client's own fork of a session is a session, and a fork of its mission: it has its turn, and counts on.
func TestForkByClient(t *testing.T) {
	r := newNightly(t)
	session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	fork := r.claude(r.repo.Dir, "T2 hello", "--resume", session, "--fork-session").ok().quiet().session()
	if fork == session {
		t.Fatal("the client did not fork")
	}
	r.claude(r.repo.Dir, "T3 hello", "--resume", session).ok().quiet()
	source, forked := r.turns(passive(session)), r.turns(passive(fork))
	if len(source) != 2 || len(forked) != 2 {
		t.Fatalf("the missions have the turns %v and %v\n%s", source, forked, r.report())
	}
	r.checkRecord(source[0], r.done("T1"))
	r.checkRecord(source[1], r.done("T3"))
	r.checkRecord(forked[1], r.done("T2"))
	r.forkOf(passive(fork), passive(session), 1)
}
