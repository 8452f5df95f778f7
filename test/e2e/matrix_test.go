//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// TestMatrix runs the same cases with every client: `go test -tags e2e -run 'TestMatrix/codex/killed'`.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, p := range []player{codex{}, openCode{}, gemini{}, pi{}, copilot{}, qwen{}, droid{}, openCode{"kilo"}} {
		t.Run(p.program(), func(t *testing.T) {
			t.Parallel()
			for _, c := range matrix {
				if len(c.only) > 0 && !slices.Contains(c.only, p.program()) || slices.Contains(c.not, p.program()) {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					if !slices.Contains(c.check, p.program()) {
						gittest.Nightly(t)
					}
					c.run(newWorld(t, p))
				})
			}
		})
	}
}

// matrix are the cases. What a client can't do by itself is no case of its, and is said in docs/agents.md.
var matrix = []struct {
	name  string
	run   func(r *rig)
	only  []string // the clients that it is for; none for all
	not   []string // those of all that it is not for
	check []string // the clients with which make check runs it; the rest is left to make nightly
}{
	{name: "world", run: world, only: []string{"codex", "opencode", "kilo", "pi", "copilot", "qwen"}, check: []string{"codex", "opencode", "kilo", "pi", "copilot"}},
	{name: "headless-world", run: headlessWorld, only: []string{"gemini"}, check: []string{"gemini"}},
	{name: "turns", run: turnsAndResume, not: []string{"droid"}},
	{name: "failure", run: serviceFails, not: []string{"droid"}},
	{name: "refused", run: refusedConversation, not: []string{"gemini", "droid"}},
	{name: "interrupted", run: interruptedInTool, only: []string{"codex", "opencode", "kilo", "pi", "copilot", "qwen"}},
	{name: "killed", run: killedInTool, only: []string{"codex", "opencode", "kilo", "pi", "copilot", "qwen", "droid"}, check: []string{"codex"}},
	{name: "compacted", run: compactedByItself, only: []string{"codex", "opencode", "kilo", "pi", "qwen"}},
	{name: "subagent", run: subagent, only: []string{"codex", "opencode", "kilo", "copilot", "qwen"}},
	{name: "subagents", run: subagents, only: []string{"codex", "opencode", "kilo"}},
	{name: "two-at-once", run: twoAtOnce, only: []string{"codex", "opencode", "kilo", "pi", "copilot", "qwen", "droid"}},
	{name: "company", run: company, only: []string{"codex", "opencode", "kilo", "pi", "copilot", "qwen"}, check: []string{"codex"}},
	{name: "company-at-prompt", run: companyAtPrompt, only: []string{"gemini"}},
	{name: "handoff", run: handoffWritten, only: []string{"codex", "opencode", "kilo", "pi", "copilot", "qwen"}},
	{name: "recall", run: recalled, not: []string{"droid"}}, // the stand-in takes what droid is told there for a prompt
	{name: "evidence", run: checksTold},
	{name: "fork", run: forkAtEveryTurn, not: []string{"droid"}},
	{name: "terminal", run: inTerminal, only: []string{"codex", "opencode", "kilo", "pi", "copilot", "qwen"}},
	{name: "daemon", run: withDaemon, only: []string{"codex"}},
	{name: "trusted", run: trustedByPerson, only: []string{"codex"}},
	{name: "rewound", run: rewound, only: []string{"codex", "pi", "copilot", "qwen"}},
	{name: "undone", run: undone, only: []string{"opencode", "kilo"}},
	{name: "branched", run: branchedInTerminal, only: []string{"copilot"}},
	{name: "borrowed", run: hooksOfAnother, only: []string{"copilot"}},
	{name: "noticed", run: noticedInBackground, only: []string{"copilot"}},
	{name: "step", run: forkAtStep, only: []string{"qwen"}},
	{name: "background", run: inBackground, only: []string{"qwen"}},
	{name: "sent-on", run: sentOn, only: []string{"qwen"}},
	{name: "native-fork", run: forkedByClient, only: []string{"codex", "pi", "qwen"}},
	{name: "executed", run: executed, only: []string{"droid"}, check: []string{"droid"}},
	{name: "executed-refused", run: executedAndRefused, only: []string{"droid"}},
	{name: "executed-stopped", run: executedAndStopped, only: []string{"droid"}},
	{name: "executed-compacted", run: executedAndCompacted, only: []string{"droid"}},
	{name: "executed-forks", run: executedForks, only: []string{"droid"}},
}

// newWorld is newRig for a client of any kind.
func newWorld(t *testing.T, p player) *rig {
	t.Helper()
	r := newRigOf(t, p, gittest.New(t))
	r.command(r.repo.Dir, "init", "--agent", p.program())
	r.patient()
	return r
}

// onHandoff is an agent that hands off.
var onHandoff = on("TWRITE", bash("printf 'The parser is half done: see XYZZY.\\n' > HANDOFF.md"),
	bash("git agent-handoff write HANDOFF.md --question 'Is PLUGH to stay?'"), say("AWRITE done"))

// world is a session as people have them, and what comes of it: turns, one stopped in a tool call, a compaction, a
// sub-agent; the agent hands off, and the next session is told, without a terminal; it goes on in another process, in which
// a turn fails; a turn is forked, and the client goes on with its conversation.
func world(r *rig) {
	slow := r.gate("slow")
	r.mock.play(onHandoff, on("TTOOL", bash("echo half > half.txt"), bash(slow.wait()), say("not reached")),
		on("TFORK", bash("echo forked > fork.txt"), say("forked")))
	before := r.visible()
	s := r.seat(r.repo.Dir, "")
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	s.interrupt()
	slow.open()
	s.prompt("T2 hello")
	s.compact()
	s.prompt("TSUB hello")
	s.prompt("TWRITE hello")
	s.leave()
	first := r.began("T1").Session
	next := r.play(r.repo.Dir, "", "T3 hello").ok().session()
	r.play(r.repo.Dir, next, "TERR hello")
	r.play(r.repo.Dir, next, "T5 hello").ok()

	source := r.check(r.done("T1"), r.left("TTOOL", "interrupted"), r.done("T2"), r.done("TSUB"), r.done("TWRITE"),
		r.done("T3"), r.left("TERR", r.kind.(player).refused()), r.done("T5"))
	if after := r.visible(); after != before {
		r.t.Errorf("recording can be seen:\n%s\nwas\n%s", after, before)
	}
	r.compacted("TSUB", "T1", "TTOOL", "T2", "TSUB")
	if r.kind.(player).launches() && !r.mock.asked(`(^|\n)SUBTASK\b`) { // else the client refuses the call
		r.t.Errorf("no sub-agent\n%s", r.report())
	}
	r.hears("T3", "## Handoff (from previous session)", "The parser is half done: see XYZZY.", "Is PLUGH to stay?", first, "after turn 5\n", "Last turn: done", "TWRITE hello")
	r.hearsNot("T1", "Handoff (from previous session)")
	r.forkedOnce(source[:3], "T1", "TTOOL", "T2")
}

// headlessWorld is [world] for a client that the tests run without a terminal alone.
func headlessWorld(r *rig) {
	r.mock.play(on("TFORK", bash("echo forked > fork.txt"), say("forked")))
	turnsAndResume(r)
	session := r.began("T1").Session
	source := r.list()
	r.play(r.repo.Dir, session, "TERR hello")
	r.play(r.repo.Dir, session, "T5 hello").ok()
	r.check(r.done("T1"), r.done("T2"), r.done("T3"), r.left("TERR", r.kind.(player).refused()), r.done("T5"))
	r.forkedOnce(source[:2], "T1", "T2")
	r.play(r.repo.Dir, "", "T4 hello").ok()
	r.hears("T4", "git-agent: the last session here")
}

// forkedOnce forks the last one of these turns: the client goes on with the prompts in the fork's worktree.
func (r *rig) forkedOnce(source []turn, words ...string) {
	r.t.Helper()
	last := source[len(source)-1]
	f := r.fork(r.repo.Dir, fmt.Sprintf("%s/%d", last.Mission, last.Turn))
	if got, err := snapshot(f.Worktree, r.env()); err != nil || got != r.tree(last.Code) {
		r.t.Errorf("the fork's worktree is %s (%v), want the turn's\n%s", got, err, r.changes(r.tree(last.Code), got))
	}
	r.onboardAlso(f.Worktree)
	r.play(f.Worktree, f.Session, "TFORK hello").ok()
	r.sends("the fork", append(words, "TFORK")...)
	for _, e := range r.witness.events() {
		if e.Session == f.Session && (e.Cwd != f.Worktree || e.Toplevel != f.Worktree) {
			r.t.Errorf("the fork: a hook ran in %s, want %s: %v", e.Cwd, f.Worktree, e)
		}
	}
	r.checkFork(f, source, r.done("TFORK"))
}

// turnsAndResume has three turns, each in a process of its own: a file written, two tools at once, words only.
func turnsAndResume(r *rig) {
	before := r.visible()
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.play(r.repo.Dir, session, "T2 hello").ok()
	r.play(r.repo.Dir, session, "T3 hello").ok()
	turns := r.check(r.done("T1"), r.done("T2"), r.done("T3"))
	if after := r.visible(); after != before {
		r.t.Errorf("recording can be seen:\n%s\nwas\n%s", after, before)
	}
	for i, tools := range []int{1, 2, 0} {
		n := 0
		for _, times := range turns[i].Tools {
			n += times
		}
		if n != tools {
			r.t.Errorf("tools of turn %d = %v, want %d", i+1, turns[i].Tools, tools)
		}
		if want := r.kind.(player).model(); !strings.HasSuffix(turns[i].Model, want) {
			r.t.Errorf("model of turn %d = %q, want %s", i+1, turns[i].Model, want)
		}
	}
	if got, want := turns[0].Context, 102+1001; got != want {
		r.t.Errorf("context of turn 1 = %d, want %d", got, want)
	}
	if got, want := turns[1].Context, 312+15000; got != want {
		r.t.Errorf("context of turn 2 = %d, want %d", got, want)
	}
	if words := turns[2]; words.Code != turns[1].Code || words.Base != turns[1].Code || words.Files != 0 {
		r.t.Errorf("the turn without changes: %v, want code and base %s", words, turns[1].Code)
	}
}

// serviceFails has a turn that the model's service refuses, between two that it doesn't.
func serviceFails(r *rig) {
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.play(r.repo.Dir, session, "TERR hello")
	r.play(r.repo.Dir, session, "T3 hello").ok()
	r.check(r.done("T1"), r.left("TERR", r.kind.(player).refused()), r.done("T3"))
}

// refusedConversation has a turn that the service refuses for what is in the conversation: with the next prompt the user
// is told of the turn before, and the model is not.
func refusedConversation(r *rig) {
	refuse := reply{"error": map[string]any{"status": 400, "type": "invalid_request_error", "message": "Unable to process input image"}}
	r.mock.play(on("TREFUSED", refuse))
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.play(r.repo.Dir, session, "TREFUSED hello")
	r.play(r.repo.Dir, session, "T3 hello").ok()
	command := fmt.Sprintf("git agent-fork %s/1", r.list()[0].Mission)
	if doctor, _ := r.tryCommand(r.repo.Dir, "doctor"); !strings.Contains(doctor, ": "+command+"\n") {
		r.t.Errorf("the user was not told %q\n%s\n%s", command, doctor, r.report())
	}
	r.hearsNot("T3", "has refused this conversation")
}

// left is what is wanted of a turn that no Stop ended: its worktree is the one that the session's next
// event found.
func (r *rig) left(text, outcome string) want {
	r.t.Helper()
	b := r.began(text)
	for _, e := range r.witness.events() {
		if e.Session == b.Session && e.At.After(b.At) && !slices.Contains([]string{"PreCompact", "PostCompact"}, e.Name) {
			return want{session: b.Session, prompt: b.Prompt, promptID: b.PromptID, outcome: outcome, base: b.Tree, tree: e.Tree}
		}
	}
	r.t.Fatalf("no event after %q\n%s", text, r.report())
	return want{}
}

// inTool begins a turn that stays in a tool call when it has changed a file; session is "" for a new one.
func (r *rig) inTool(session string) (x *process, slow *gate) {
	r.t.Helper()
	slow = r.gate("slow")
	r.mock.play(on("TTOOL", bash("echo half > half.txt"), bash(slow.wait()), say("not reached")))
	x = r.startRun(r.repo.Dir, session, "TTOOL hello")
	slow.reached()
	return x, slow
}

// interruptedInTool is Ctrl-C in the middle of a turn.
func interruptedInTool(r *rig) {
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	x, slow := r.inTool(session)
	x.signal(os.Interrupt)
	x.wait()
	slow.open()
	r.play(r.repo.Dir, session, "T3 hello").ok()
	r.check(r.done("T1"), r.left("TTOOL", "interrupted"), r.done("T3"))
}

// killedInTool is kill -9 in the middle of a turn: the next session is told what was done, and the turn is
// recorded as it was found.
func killedInTool(r *rig) {
	x, slow := r.inTool("")
	session := x.session()
	if c, is := r.kind.(copilot); is { // whose file may come later than the first tool
		r.await("the client's file", func() bool {
			data, _ := os.ReadFile(filepath.Join(c.dir(r), "session-state", session, "events.jsonl"))
			return bytes.Contains(data, []byte(`"type":"user.message"`))
		})
	}
	x.signal(syscall.SIGKILL)
	x.wait()
	slow.open() // the tool outlives the client
	r.play(r.repo.Dir, "", "T3 hello").ok()
	r.hears("T3", "## Handoff (from previous session)", "Exit: killed", session, "after turn 1\n", "Last turn: interrupted", "TTOOL hello", "+half")
	killed := r.began("TTOOL")
	after := r.began("T3")
	r.check(want{session: session, prompt: "TTOOL hello", promptID: killed.PromptID, outcome: "interrupted", base: killed.Tree, tree: after.Tree},
		r.done("T3"))
	r.play(r.repo.Dir, "", "T2 hello").ok()
	r.hearsNot("T2", "Exit: killed") // T3 has gone on from it
}

// compactedByItself has a turn that fills the context, after which the client compacts the conversation.
func compactedByItself(r *rig) {
	full := bash("echo full > full.txt")
	full["usage"] = map[string]int{"input_tokens": 250_000, "output_tokens": 50}
	if r.kind == (qwen{}) { // it reckons what is left from what the summary took
		r.mock.base.Aside = reply{"text": "MOCK SUMMARY", "usage": full["usage"]}
	}
	// OpenCode asks the model to go on with what the summary says.
	r.mock.play(rule{Match: "Continue if you have next steps", Steps: []reply{say("AFULL done")}}, on("TFULL", full, say("AFULL done")))
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.play(r.repo.Dir, session, "TFULL hello").ok()
	r.play(r.repo.Dir, session, "T2 hello").ok()
	if len(r.witness.named("PostCompact")) == 0 {
		r.t.Fatalf("no compaction, this test is about one\n%s", r.report())
	}
	turns := r.check(r.done("T1"), r.done("TFULL"), r.done("T2"))
	if got := turns[1].Compactions + turns[2].Compactions; got != 1 {
		r.t.Errorf("%d compactions, want 1", got)
	}
}

// subagent has a turn in which the agent launches another one: its events and its conversation are none of
// the session's, and are stored beside it.
func subagent(r *rig) {
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.play(r.repo.Dir, session, "TSUB hello").ok()
	if !r.mock.asked(`(^|\n)SUBTASK\b`) {
		r.t.Fatalf("no sub-agent\n%s", r.report())
	}
	r.play(r.repo.Dir, session, "T2 hello").ok()
	turns := r.check(r.done("T1"), r.done("TSUB"), r.done("T2"))
	if got := turns[1].Tools; len(got) == 0 {
		r.t.Errorf("tools of the launching turn = %v", got)
	}
	// Codex doesn't wait for it, and stops it at its own end: what it did after the first turn is in the next one.
	parts := append(turns[1].Agents, turns[2].Agents...)
	to := 0
	for _, p := range parts {
		if p.ID != parts[0].ID || p.From != to {
			r.t.Errorf("the sub-agent's parts are %+v", parts)
		}
		to = p.To
	}
	ended := "done"
	if r.kind.program() == "codex" {
		ended = "interrupted"
	}
	if to == 0 || parts[len(parts)-1].Outcome != ended {
		r.t.Errorf("the sub-agent's parts are %+v, want it %s", parts, ended)
	}
}

// twoAtOnce has two clients in one checkout, one turn inside the other.
func twoAtOnce(r *rig) {
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", bash("echo outer > outer.txt"), bash(slow.wait()), say("outer done")))
	outer := r.startRun(r.repo.Dir, "", "TTOOL hello")
	slow.reached()
	r.play(r.repo.Dir, "", "T1 hello").ok()
	r.hearsNot("T1", "Exit: killed")
	r.hears("T1", "git-agent: beside this session, ", " at work in this checkout", "; to work apart: git worktree add ")
	slow.open()
	outer.wait()
	outer.ok()
	r.check(r.done("TTOOL"), r.done("T1"))
}

// company has a client in a terminal, and beside it another one: the first is told at its next prompt, once.
func company(r *rig) {
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", bash("echo beside > beside.txt"), bash(slow.wait()), say("beside done")))
	s := r.seat(r.repo.Dir, "")
	s.prompt("T1 hello")
	beside := r.startRun(r.repo.Dir, "", "TTOOL hello")
	slow.reached()
	s.prompt("T2 hello")
	s.prompt("T3 hello")
	slow.open()
	beside.wait()
	beside.ok()
	s.leave()
	const told = "git-agent: beside this session, "
	r.hears("TTOOL", told)
	r.hearsNot("T1", told)
	r.hears("T2", told, "; to work apart: git worktree add ")
	if n := strings.Count(spoken(r.given("T3")[0].Body), told); n != 1 {
		r.t.Errorf("the first one is told %d times\n%s", n, r.report())
	}
	r.check(r.done("T1"), r.done("TTOOL"), r.done("T2"), r.done("T3"))
}

// companyAtPrompt has no hook for the start of a session: what it tells comes with the first prompt, and is no part of it.
func companyAtPrompt(r *rig) {
	settings := filepath.Join(r.home, ".gemini", "settings.json")
	text, err := os.ReadFile(settings)
	gittest.Must(r.t, err)
	gittest.Must(r.t, os.WriteFile(settings, []byte(strings.ReplaceAll(string(text), `"SessionStart"`, `"SessionStartNot"`)), 0o666))
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", bash("echo beside > beside.txt"), bash(slow.wait()), say("beside done")))
	beside := r.startRun(r.repo.Dir, "", "TTOOL hello")
	slow.reached()
	r.play(r.repo.Dir, "", "T1 hello").ok()
	r.hears("T1", "git-agent: beside this session, ", "; to work apart: git worktree add ")
	slow.open()
	beside.wait()
	beside.ok()
	r.check(r.done("TTOOL"), r.done("T1"))
}

// handoffWritten has the agent hand off in a tool call: the next session is told, once.
func handoffWritten(r *rig) {
	r.mock.play(onHandoff)
	first := r.play(r.repo.Dir, "", "TWRITE hello").ok().session()
	r.play(r.repo.Dir, "", "T3 hello").ok()
	r.hears("T3", "## Handoff (from previous session)", "The parser is half done: see XYZZY.", "Is PLUGH to stay?", first, "after turn 1\n", "Last turn: done", "TWRITE hello")
	r.hearsNot("TWRITE", "Handoff (from previous session)")
	r.play(r.repo.Dir, "", "T2 hello").ok()
	r.hearsNot("T2", "XYZZY")
}

// forkAtEveryTurn begins another line at every turn of a session, twice at one of them. What the model is
// sent is that line's conversation and nothing else, and the source stays as it is.
func forkAtEveryTurn(r *rig) {
	r.mock.play(on(`TF[0-9]`, bash("echo forked > fork.txt"), say("forked")))
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.play(r.repo.Dir, session, "T2 hello").ok()
	r.play(r.repo.Dir, session, "T3 hello").ok()
	source := r.check(r.done("T1"), r.done("T2"), r.done("T3"))
	mission := r.kind.mission(r, session)
	ledger := r.repo.Git("rev-parse", ledgerRef(mission))
	words := []string{"T1", "T2", "T3"}
	missions := []string{mission}
	for i, k := range []int{1, 2, 3, 2} {
		what, own := fmt.Sprintf("fork %d, at %d", i+1, k), fmt.Sprintf("TF%d", i+1)
		f := r.fork(r.repo.Dir, fmt.Sprintf("%s/%d", mission, k))
		if slices.Contains(missions, f.Mission) || f.Session == "" || f.Session == session {
			r.t.Fatalf("%s says %+v, want a mission and a session of its own", what, f)
		}
		missions = append(missions, f.Mission)
		if got, err := snapshot(f.Worktree, r.env()); err != nil || got != r.tree(source[k-1].Code) {
			r.t.Errorf("%s: the worktree is %s (%v), want the turn's\n%s", what, got, err, r.changes(r.tree(source[k-1].Code), got))
		}
		if !strings.Contains(strings.Join(f.Command, " "), f.Session) {
			r.t.Errorf("%s: the command %q does not name the session %s", what, f.Command, f.Session)
		}
		r.onboardAlso(f.Worktree)
		r.play(f.Worktree, f.Session, own+" hello").ok()
		r.sends(what, append(words[:k:k], own)...)
		for _, e := range r.witness.events() {
			if e.Session == f.Session && (e.Cwd != f.Worktree || e.Toplevel != f.Worktree) {
				r.t.Errorf("%s: a hook ran in %s, want %s: %v", what, e.Cwd, f.Worktree, e)
			}
		}
		all := r.checkFork(f, source[:k], r.done(own))
		if got := all[k].Transcript.After; got != k {
			r.t.Errorf("%s: the new segment comes after %d", what, got)
		}
	}
	if got := r.repo.Git("rev-parse", ledgerRef(mission)); got != ledger {
		r.t.Errorf("the source has changed: %s, want %s", got, ledger)
	}
	r.play(r.repo.Dir, session, "T5 hello").ok()
	r.sends("the source", "T1", "T2", "T3", "T5")
	if got := r.turns(mission); len(got) != 4 || got[3].Prompt != "T5 hello" {
		r.t.Errorf("the source went on with %v, want one more turn", got)
	}
}

// onboardAlso has the user say that a new worktree may be worked in, if the client asks.
func (r *rig) onboardAlso(dir string) {
	r.t.Helper()
	if c, ok := r.kind.(codex); ok {
		config, err := os.ReadFile(c.configFile(r))
		gittest.Must(r.t, err)
		replaceFile(r.t, c.configFile(r), fmt.Appendf(config, "\n[projects.%q]\ntrust_level = \"trusted\"\n", dir))
	}
}

// inTerminal is a session as people have them: turns, one stopped in a tool call, a compaction.
func inTerminal(r *rig) {
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", bash("echo half > half.txt"), bash(slow.wait()), say("not reached")))
	s := r.seat(r.repo.Dir, "")
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	s.interrupt()
	slow.open()
	s.prompt("T2 hello")
	s.compact()
	s.prompt("T3 hello")
	s.leave()
	r.check(r.done("T1"), r.left("TTOOL", "interrupted"), r.done("T2"), r.done("T3"))
	r.compacted("T3", "T1", "TTOOL", "T2", "T3")
}

// compacted fails the test if the model was sent the whole conversation with a prompt.
func (r *rig) compacted(word string, whole ...string) {
	r.t.Helper()
	if q := r.given(word)[0]; slices.Equal(q.prompts(), whole) && len(q.Said) > 8 {
		r.t.Errorf("nothing was compacted: %v", q.prompts())
	}
}

// withDaemon has two terminals on one daemon, in which all hooks run: the second one's worktree is believed,
// its environment can't be. The daemon is not the session's life: the terminal is closed and opened again.
func withDaemon(r *rig) {
	r.kind = codex{daemon: true}
	other := filepath.Join(r.home, "other")
	r.repo.Git("worktree", "add", "-q", "--detach", other)
	r.onboardAlso(other)
	a := r.seat(r.repo.Dir, "")
	a.prompt("T1 hello")
	second := *r
	second.tmp = filepath.Join(r.tmp, "second")
	gittest.Must(r.t, os.Mkdir(second.tmp, 0o777))
	second.kind = daemonOf{codex{daemon: true}, r.tmp}
	b := second.seat(other, "")
	b.prompt("T2 hello")
	a.prompt("T3 hello")
	b.leave()
	a.leave()
	session := r.began("T1").Session
	again := r.seat(r.repo.Dir, session)
	again.prompt("T5 hello")
	again.leave()
	r.check(r.done("T1"), r.done("T2"), r.done("T3"), r.done("T5"))
}

// daemonOf is a client in a terminal of its own with the daemon of another rig.
type daemonOf struct {
	codex
	tmp string
}

func (d daemonOf) env(r *rig) []string {
	return []string{"CODEX_HOME=" + filepath.Join(d.tmp, "codex")}
}

// trustedByPerson has the user asked about the hooks: what is answered is what the headless client obeys.
func trustedByPerson(r *rig) {
	run := func(session, prompt string) *process {
		x := r.startArgv(r.repo.Dir, slices.DeleteFunc(r.kind.(player).command(r, session, prompt), bypass)...)
		x.wait()
		return x.ok()
	}
	run("", "T1 hello")
	if got := r.list(); len(got) != 0 || len(r.witness.events()) != 0 {
		r.t.Fatalf("hooks that nobody trusts ran: %v", got)
	}
	s := r.sit(r.repo.Dir, slices.DeleteFunc(r.kind.(player).open(r, ""), bypass)...)
	r.await("the question about hooks", func() bool { return s.shows("Trust all and continue") })
	r.await("the answer", func() bool {
		if s.shows("› 1.") {
			s.term.keys("Down") // what is pressed at once gets lost
		}
		return s.shows("› 2. Trust all")
	})
	s.term.keys("Enter")
	s.ready("the answer")
	s.prompt("T2 hello")
	s.leave()
	run("", "T3 hello")
	r.check(r.done("T2"), r.done("T3"))
}

func bypass(argument string) bool { return argument == "--dangerously-bypass-hook-trust" }

// rewound goes back to the second prompt and on from there. Codex begins a file that continues the first one, Qwen Code
// writes on in a tree: the turn that was left is in the ledger, and not in the conversation that goes on.
func rewound(r *rig) {
	r.mock.play(on(`TF[0-9]`, say("forked")))
	s := r.seat(r.repo.Dir, "")
	s.prompt("T1 hello")
	s.prompt("T2 hello")
	s.rewind("T2 hello")
	s.prompt("T3 hello")
	s.prompt("T5 hello")
	s.leave()
	r.sends("the session", "T1", "T3", "T5")
	session := r.began("T1").Session
	turns := r.turns(passive(session))
	var prompts []string
	var after []int
	for _, t := range turns {
		prompts, after = append(prompts, t.Prompt), append(after, t.Transcript.After)
	}
	if want := []string{"T1 hello", "T2 hello", "T3 hello", "T5 hello"}; !slices.Equal(prompts, want) {
		r.t.Fatalf("prompts = %q, want %q\n%s", prompts, want, r.report())
	}
	if want := []int{0, 1, 1, 3}; !slices.Equal(after, want) {
		r.t.Errorf("the segments come after %v, want %v", after, want)
	}
	for i, w := range []want{r.done("T1"), r.done("T2"), r.done("T3"), r.done("T5")} {
		r.checkRecord(turns[i], w)
	}
	r.forkedAt(passive(session), map[int][]string{2: {"T1", "T2"}, 3: {"T1", "T3"}, 4: {"T1", "T3", "T5"}})
}

// forkedAt forks a mission at turns, and says which prompts must be sent.
func (r *rig) forkedAt(mission string, words map[int][]string) {
	r.t.Helper()
	for k, want := range words {
		f := r.fork(r.repo.Dir, fmt.Sprintf("%s/%d", mission, k))
		own := fmt.Sprintf("TF%d", k)
		r.onboardAlso(f.Worktree)
		r.play(f.Worktree, f.Session, own+" hello").ok()
		r.sends(fmt.Sprintf("fork at %d", k), append(want, own)...)
	}
}

// forkOf checks that a mission says that it is a fork of another one's turn.
func (r *rig) forkOf(mission, source string, turn int) {
	r.t.Helper()
	var m struct {
		ForkedFrom struct {
			Mission string
			Turn    int
		} `json:"forked_from"`
	}
	text := r.repo.Git("show", "refs/agent/missions/"+mission+":mission.json")
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.ForkedFrom.Mission != source || m.ForkedFrom.Turn != turn {
		r.t.Errorf("mission %s is %s (%v), want it forked from %s/%d", mission, text, err, source, turn)
	}
}

// A forker is a player whose client forks a session without a terminal: the command that does, of one that begins a session.
type forker interface {
	fork(argv []string, session string) []string
}

// forkedByClient is the client's own fork of a session, whose file continues or repeats the other one's.
func forkedByClient(r *rig) {
	r.mock.play(on(`TF[0-9]`, say("forked")))
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	argv := r.kind.(player).command(r, "", "T2 hello")
	x := r.startArgv(r.repo.Dir, r.kind.(forker).fork(argv, session)...)
	x.wait()
	fork := x.ok().session()
	if fork == session {
		r.t.Fatal("the client did not fork")
	}
	r.play(r.repo.Dir, session, "T3 hello").ok()
	r.sends("the fork", "T1", "T2")
	source, forked := r.turns(passive(session)), r.turns(passive(fork))
	if len(source) != 2 || len(forked) == 0 {
		r.t.Fatalf("the missions have the turns %v and %v\n%s", source, forked, r.report())
	}
	r.checkRecord(source[0], r.done("T1"))
	r.checkRecord(source[1], r.done("T3"))
	r.checkRecord(forked[len(forked)-1], r.done("T2"))
	r.forkOf(passive(fork), passive(session), 1)
	r.forkedAt(passive(fork), map[int][]string{len(forked): {"T1", "T2"}})
}

// branchedInTerminal is the client's own fork in a terminal, which goes on in it: a file that repeats the other one's turns.
func branchedInTerminal(r *rig) {
	r.mock.play(on(`TF[0-9]`, say("forked")))
	s := r.seat(r.repo.Dir, "")
	s.prompt("T1 hello")
	s.prompt("T2 hello")
	s.enter("/fork")
	s.r.await("the fork", func() bool { return s.shows("Forked") && s.shows("MCP Servers reloaded") }) // what is typed before that may be lost
	s.ready("/fork")
	s.prompt("T3 hello")
	s.enter("/exit") // out of the fork, into the session that it is of
	r.await("the fork's end", func() bool { return len(r.witness.named("SessionEnd")) == 1 })
	s.ready("the fork's end")
	s.leave()
	r.sends("the fork", "T1", "T2", "T3")
	session, fork := r.began("T1").Session, r.began("T3").Session
	if fork == session {
		r.t.Fatal("the client did not fork")
	}
	source, forked := r.turns(passive(session)), r.turns(passive(fork))
	if len(source) != 2 || len(forked) == 0 {
		r.t.Fatalf("the missions have the turns %v and %v\n%s", source, forked, r.report())
	}
	r.checkRecord(source[1], r.done("T2"))
	r.checkRecord(forked[len(forked)-1], r.done("T3"))
	r.forkOf(passive(fork), passive(session), 2)
	r.forkedAt(passive(fork), map[int][]string{len(forked): {"T1", "T2", "T3"}})
}

// hooksOfAnother has a project with hooks for another agent, which this client runs as well: beside its own they do nothing,
// and without them the turn is the client's.
func hooksOfAnother(r *rig) {
	r.command(r.repo.Dir, "init", "--agent", "claude", "--project")
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	gittest.Must(r.t, os.Remove(r.settings()))
	r.play(r.repo.Dir, session, "T2 hello").ok()
	r.check(r.done("T1"), r.done("T2"))
}

// noticedInBackground has a command in the background end after its turn: the client tells the model, and what comes of it
// belongs to that turn, which has no prompt but the user's.
func noticedInBackground(r *rig) {
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", behind(slow.wait()+"; echo late > late.txt"), say("waits"), say("it has ended")))
	s := r.seat(r.repo.Dir, "")
	s.enter("TTOOL hello")
	slow.reached()
	r.await("the first end of the turn", func() bool { return len(r.witness.named("Stop")) == 1 })
	slow.open()
	r.await("the second end of the turn", func() bool { return len(r.witness.named("Stop")) == 2 })
	s.ready("the notice")
	s.prompt("T3 hello")
	s.leave()
	late := r.ended("TTOOL", "Stop", "done")
	late.tree = r.witness.named("Stop")[1].Tree
	r.check(late, r.done("T3"))
}

// forkAtStep begins another line within a turn: with the files of that moment, and a conversation that ends with what the
// tools before it answered.
func forkAtStep(r *rig) {
	r.mock.play(
		on("TSTEPS", bash("echo one > a.txt"), bash("echo two | tee a.txt b.txt"), bash("rm -f a.txt b.txt"), say("all done")),
		on("TFORK", bash("echo forked > fork.txt"), say("forked")),
	)
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.play(r.repo.Dir, session, "TSTEPS hello").ok()
	for step, want := range map[int]string{1: "a.txt", 2: "a.txt b.txt"} {
		what := fmt.Sprintf("%s/2.%d", passive(session), step)
		f := r.fork(r.repo.Dir, what)
		files, _ := filepath.Glob(filepath.Join(f.Worktree, "?.txt"))
		for i := range files {
			files[i] = filepath.Base(files[i])
		}
		if got := strings.Join(files, " "); got != want {
			r.t.Errorf("%s has %q, want %q", what, got, want)
		}
		r.play(f.Worktree, f.Session, "TFORK hello").ok()
		r.sends(what, "T1", "TSTEPS", "TFORK")
		calls := 0
		all := r.given("TFORK")
		for _, s := range all[len(all)-1].Said {
			calls += len(s.Calls)
		}
		if calls != 1+step {
			r.t.Errorf("%s: %d calls were sent, want %d", what, calls, 1+step)
		}
	}
}

// inBackground has a sub-agent work on after the turn that began it: its report begins a turn of the client's own.
func inBackground(r *rig) {
	slow := r.gate("slow")
	r.mock.play(
		on("TSUB", reply{"tool": "Agent", "input": map[string]any{"description": "look around", "prompt": "SUBTASK list the files", "background": true}}, say("ASUB begun"), say("ASUB done")),
		on("SUBTASK", bash(slow.wait()+" && echo sub > by-subagent.txt"), say("subagent result: file written")),
	)
	x := r.startRun(r.repo.Dir, "", "TSUB hello")
	slow.reached()
	r.await("the first turn", func() bool { return len(r.list()) == 1 && len(r.witness.named("Stop")) == 1 })
	slow.open()
	x.wait()
	session := x.ok().session()
	turns := r.check(r.done("TSUB"), want{
		session: session, outcome: "done", tree: r.witness.last("Stop").Tree,
		prompt: `Background agent "general-purpose: look around" completed.`,
	})
	began, ended := turns[0].Agents, turns[1].Agents
	if len(began) > 1 || len(ended) != 1 || ended[0].Outcome != "done" {
		r.t.Errorf("sub-agents: %+v, then %+v", began, ended)
	}
	r.play(r.repo.Dir, session, "T2 hello").ok()
	if got := r.turns(passive(session)); len(got) != 3 || got[2].Prompt != "T2 hello" {
		r.t.Errorf("it went on with %v", got)
	}
}

// sentOn has a Stop hook of the user's own send the agent on: the turn has two Stops, and is one turn.
func sentOn(r *rig) {
	text, err := os.ReadFile(r.settings())
	gittest.Must(r.t, err)
	var settings map[string]any
	gittest.Must(r.t, json.Unmarshal(text, &settings))
	own := `test -e "$HOME/once" || { touch "$HOME/once"; echo "write more" >&2; exit 2; }`
	hooks := settings["hooks"].(map[string]any)
	hooks["Stop"] = append(hooks["Stop"].([]any), map[string]any{"hooks": []any{map[string]any{"type": "command", "command": own}}})
	text, err = json.Marshal(settings)
	gittest.Must(r.t, err)
	replaceFile(r.t, r.settings(), text)
	r.mock.play(rule{Match: "write more", Steps: []reply{bash("echo more > more.txt"), say("wrote more")}})
	session := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	stops := r.witness.named("Stop")
	if len(stops) != 2 {
		r.t.Fatalf("%d Stop hooks, this test is about two\n%s", len(stops), r.report())
	}
	whole := r.done("T1")
	whole.tree = stops[1].Tree
	r.play(r.repo.Dir, session, "T2 hello").ok()
	turns := r.check(whole, r.done("T2"))
	if got, want := turns[0].Paths, []string{"more.txt", "one.txt"}; !slices.Equal(got, want) {
		r.t.Errorf("paths = %q, want %q", got, want)
	}
}
