//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// Conversations from before the hooks become missions. One of them goes on in its mission, one that the
// client has copied is a fork, and what a fork of an imported turn sends the model is what the original
// session would have sent it.
func TestImport(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	r.mock.play(on(`TF[0-9]`, bash("echo forked > fork.txt"), say("forked")), on(`TC[0-9]`, say("copied")))
	session := r.claude(r.repo.Dir, "T1 hello").ok().session()
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok()
	copied := r.claude(r.repo.Dir, "TC1 hello", "--resume", session, "--fork-session").ok().session()
	r.claude(r.repo.Dir, "T3 hello", "--resume", session).ok()

	type line struct {
		Session, Mission, State string
		Turns, Added            int
	}
	run := func() map[string]line {
		all := make(map[string]line)
		for text := range strings.Lines(r.command(r.repo.Dir, "import", "--json")) {
			var l line
			gittest.Must(t, json.Unmarshal([]byte(text), &l))
			all[l.Session] = l
		}
		return all
	}
	all := run()
	for _, want := range []line{{session, passive(session), "new", 3, 3}, {copied, passive(copied), "new", 3, 1}} {
		if got := all[want.Session]; got != want || len(all) != 2 {
			t.Errorf("import says %+v, want %+v", all, want)
		}
	}
	for _, l := range run() {
		if l.State != "up to date" || l.Added != 0 {
			t.Errorf("again, it says %+v", l)
		}
	}
	list := r.turns(passive(session))
	for i, word := range []string{"T1", "T2", "T3"} {
		if got := list[i]; got.Prompt != word+" hello" || got.Outcome != "done" || got.Session != session || got.Reply == "" || got.Transcript.After != i {
			t.Errorf("turn %d is %v", i+1, got)
		}
	}

	// With hooks, the session goes on in its mission, and its conversation is the client's file.
	r.command(r.repo.Dir, "init")
	r.claude(r.repo.Dir, "T4 hello", "--resume", session).ok().quiet()
	list = r.turns(passive(session))
	if len(list) != 4 || list[3].Prompt != "T4 hello" || list[3].Transcript.After != 3 {
		t.Fatalf("the session went on as %v", list)
	}
	if stored := r.conversation(list, list[3]); !strings.HasPrefix(string(r.transcript(session).data), stored) {
		t.Errorf("the conversation is not the client's file: %s", around(string(r.transcript(session).data), stored))
	}

	f := r.fork(r.repo.Dir, passive(session)+"/2")
	request := r.goOn("the fork", f, "T1", "T2", "TF1")
	r.same("the fork", r.first("T3"), request)

	// The copy's turns are the original's, and one of its own.
	f = r.fork(r.repo.Dir, passive(copied)+"/3")
	r.claude(f.Worktree, "TF2 hello", f.Command[1:]...).ok().quiet()
	r.holds("the fork of the copy", r.first("TF2"), "T1", "T2", "TC1", "TF2")
}
