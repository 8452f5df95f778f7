//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

// A session as people have them, and what comes of it: turns, one stopped in a tool call, one stopped while the answer
// streams, a compaction, a new conversation in the same terminal, in which the agent hands off; the next session is told,
// and has a turn that fails; turns of the first one are forked, from before the compaction and from after it, and the
// client goes on with what was said.
func TestInteractive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	slow := r.gate("slow")
	r.mock.play(
		on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")),
		on("TSTREAM", talk("Half an answer.", "The other half.", filepath.Join(r.home, "never"))),
		on("TWRITE", write("HANDOFF.md", "The parser is half done: see XYZZY.\n"), bash("git agent-handoff write HANDOFF.md"), say("AWRITE done")),
		on(`TF[0-9]`, bash("echo forked > fork.txt"), say("forked")),
	)
	before := r.visible()
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	s.interrupt()
	s.prompt("T2 hello")
	s.enter("TSTREAM hello")
	r.await("a partial answer on the screen", func() bool { return s.shows("Half an answer.") })
	s.interrupt()
	s.prompt("T3 hello")
	s.compact()
	s.prompt("T4 hello")
	first := s.registry().SessionID
	s.clear()
	s.prompt("TWRITE hello")
	second := s.registry().SessionID
	s.exit()
	third := r.claude(r.repo.Dir, "T5 hello").ok().quiet().session()
	if h := r.claude(r.repo.Dir, "TERR hello", "--resume", third); h.status() != 1 || !h.result.IsError {
		t.Fatalf("the failing prompt: status %d, %+v", h.status(), h.result)
	}
	// The client does not wait for the hooks of a failed turn.
	r.await("nine turns", func() bool { return len(r.list()) == 9 })

	source := r.check(r.done("T1"), r.interrupted("TTOOL"), r.done("T2"), r.interrupted("TSTREAM"), r.done("T3"), r.done("T4"),
		r.done("TWRITE"), r.done("T5"), r.failed("TERR"))
	if after := r.visible(); after != before {
		t.Errorf("recording can be seen:\n%s\nwas\n%s", after, before)
	}
	var about struct{ Predecessor string }
	if err := json.Unmarshal([]byte(r.show(passive(second), "mission.json")), &about); err != nil || about.Predecessor != passive(first) {
		t.Errorf("predecessor of the mission after /clear = %q (%v), want %q", about.Predecessor, err, passive(first))
	}
	r.tells(r.first("T5"), "## Handoff (from previous session)", "see XYZZY.", second, "after turn 1\n", "Last turn: done", "TWRITE hello")
	r.tellsNot(r.first("T1"), "git-agent")

	for k, words := range map[int][]string{3: {"T1", "TTOOL", "T2"}, 6: {"T4"}} {
		what, own := fmt.Sprintf("fork at %d", k), fmt.Sprintf("TF%d", k)
		f := r.fork(r.repo.Dir, fmt.Sprintf("%s/%d", passive(first), k))
		r.goOn(what, f, append(words, own)...)
		r.checkFork(f, source[:k], r.done(own))
	}
}

// The last turn before the end of a session is stopped by the user.
func TestEscThenExit(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")))
	s := r.interactive(r.repo.Dir)
	s.enter("TTOOL hello")
	slow.reached()
	s.interrupt()
	s.exit()
	r.check(r.interrupted("TTOOL"))
}

// A prompt typed while the agent talks waits for the turn's end and becomes a turn of its own,
// without another UserPromptSubmit.
func TestQueuedWhileTalking(t *testing.T) {
	r := newNightly(t)
	queued := filepath.Join(r.home, "queued")
	r.mock.play(on("TTALK", talk("Half an answer.", "The other half.", queued)))
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.enter("TTALK hello")
	r.await("a partial answer on the screen", func() bool { return s.shows("Half an answer.") })
	s.queue("T2 hello")
	replaceFile(t, queued, nil)
	s.stopped(3, "the queued prompt")
	s.exit()

	stops := r.witness.named("Stop")
	talked := r.done("TTALK")
	waited := want{session: talked.session, prompt: "T2 hello", promptID: stops[2].PromptID, outcome: "done", base: stops[1].Tree, tree: stops[2].Tree}
	if talked.promptID == waited.promptID || r.began("T2").PromptID != talked.promptID {
		t.Fatalf("the client did not queue as it used to\n%s", r.report())
	}
	r.check(r.done("T1"), talked, waited)
}

// A prompt typed while a tool runs reaches the agent in the middle of the turn, and is part of it.
func TestQueuedWhileWorking(t *testing.T) {
	r := newNightly(t)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")))
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	s.queue("T2 hello")
	slow.open()
	s.stopped(2, "the turn with a second prompt in it")
	s.prompt("T3 hello")
	s.exit()

	work := r.done("TTOOL")
	if r.began("T2").PromptID != work.promptID {
		t.Fatalf("the client did not queue as it used to\n%s", r.report())
	}
	turns := r.check(r.done("T1"), work, r.done("T3"))
	if got, want := turns[1].Reply, "A2 done: bash ran"; got != want {
		t.Errorf("reply of the turn = %q, want the answer to the second prompt, %q", got, want)
	}
}

// While a queued prompt is worked on, another one is typed. The client fires UserPromptSubmit for
// it with the id of the running turn, for which it never fired one: nothing but the transcript
// tells that the prompt is not that turn's, and that the turn did not begin there.
func TestQueuedTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	slow := r.gate("slow")
	queued := filepath.Join(r.home, "queued")
	r.mock.play(
		on("TTALK", talk("Half an answer.", "The other half.", queued)),
		on("TTOOL", write("half.txt", "half\n"), bash(slow.wait()), say("not reached")),
	)
	s := r.interactive(r.repo.Dir)
	s.enter("TTALK hello")
	r.await("a partial answer on the screen", func() bool { return s.shows("Half an answer.") })
	s.queue("TTOOL hello")
	replaceFile(t, queued, nil)
	slow.reached()
	s.queue("T2 hello")
	slow.open()
	s.stopped(2, "the queued prompt")
	s.prompt("T3 hello")
	s.exit()

	stops := r.witness.named("Stop")
	if got := r.began("T2").PromptID; len(stops) != 3 || got != stops[1].PromptID {
		t.Fatalf("the client did not queue as it used to\n%s", r.report())
	}
	work := want{session: stops[1].Session, prompt: "TTOOL hello", promptID: stops[1].PromptID, outcome: "done", base: stops[0].Tree, tree: stops[1].Tree}
	r.check(r.done("TTALK"), work, r.done("T3"))
}

// The hooks come while a session is under way.
func TestInstalledInMidSession(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 before the hooks")
	r.command(r.repo.Dir, "init")
	r.await("the client has read the new settings", func() bool {
		return len(r.witness.named("ConfigChange")) > 0
	})
	s.prompt("T2 with hooks")
	s.prompt("T3 with hooks")
	s.exit()
	turns := r.list()
	if len(turns) != 3 || turns[0].Imported == "" || turns[0].Prompt != "T1 before the hooks" {
		t.Fatalf("recorded are %v, want the turn of before as an imported one, and two\n%s", turns, r.report())
	}
	r.checkRecord(turns[1], r.done("T2"))
	r.checkRecord(turns[2], r.done("T3"))
	if got := turns[1].Transcript.After; got != 1 {
		t.Errorf("the first recorded turn comes after turn %d, want 1", got)
	}
}
