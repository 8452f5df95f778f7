//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// Five turns, each in a process of its own: a file written, two tools at once,
// words only, a tool that fails, a new directory.
func TestFiveTurns(t *testing.T) {
	r := newNightly(t)
	before := r.visible()
	session := r.talk("T1 hello", "T2 hello", "T3 hello", "T4 hello", "T5 hello")

	turns := r.check(r.done("T1"), r.done("T2"), r.done("T3"), r.done("T4"), r.done("T5"))
	if after := r.visible(); after != before {
		t.Errorf("recording can be seen:\n%s\nwas\n%s", after, before)
	}
	if words := turns[2]; words.Code != turns[1].Code || words.Base != turns[1].Code || words.Files != 0 {
		t.Errorf("the turn without changes: %v, want code and base %s", words, turns[1].Code)
	}
	if got, want := turns[3].Paths, []string{"one.txt"}; !slices.Equal(got, want) {
		t.Errorf("paths of turn 4 = %q, want %q", got, want)
	}
	if got := turns[3].Tools; got["Bash"] != 1 || got["Read"] != 1 || got["Edit"] != 1 || len(got) != 3 {
		t.Errorf("tools of turn 4 = %v, want one each of Bash, Read and Edit", got)
	}
	if got, want := turns[0].Context, 102+1002+1001; got != want {
		t.Errorf("context of turn 1 = %d, want %d", got, want)
	}
	for i, turn := range turns {
		if turn.Model != model {
			t.Errorf("model of turn %d = %q, want %q", i+1, turn.Model, model)
		}
		parent := turn.Base
		if turn.Code != turn.Base && r.repo.Git("rev-parse", turn.Code+"^") != parent {
			t.Errorf("turn %d: the code commit is not a child of base %s", i+1, parent)
		}
	}

	// What a person asks for afterwards.
	mission := passive(session)
	if got, want := r.command(r.repo.Dir, "show", "4", "--patch"), "+one edited in T4"; !strings.Contains(got, want) || !strings.Contains(got, "T4 hello") {
		t.Errorf("show 4 --patch = %s, want %q and the prompt in it", got, want)
	}
	if got, want := r.command(r.repo.Dir, "diff", mission+"/2"), "+two"; !strings.Contains(got, want) {
		t.Errorf("diff %s/2 = %s, want %q in it", mission, got, want)
	}
	if got := r.command(r.repo.Dir, "missions"); !strings.Contains(got, mission) {
		t.Errorf("missions = %s, want %s in it", got, mission)
	}
	var about struct {
		ID, Agent, Branch string
	}
	if err := json.Unmarshal([]byte(r.show(mission, "mission.json")), &about); err != nil || about.ID != mission || about.Agent != "claude-code" || about.Branch != "" {
		t.Errorf("mission.json = %+v, %v", about, err)
	}
}

// A program drives the client: several prompts, one process.
func TestDrivenByProgram(t *testing.T) {
	r := newNightly(t)
	d := r.driven()
	for i, prompt := range []string{"T1 hello", "T2 hello", "T3 hello"} {
		d.ask(prompt)
		r.stops(i + 1)
	}
	d.leave()
	d.quiet()
	r.check(r.done("T1"), r.done("T2"), r.done("T3"))
}

func TestFailedTurn(t *testing.T) {
	r := newNightly(t)
	session := r.claude(r.repo.Dir, "T1 hello").ok().session()
	if h := r.claude(r.repo.Dir, "TERR hello", "--resume", session); h.status() != 1 || !h.result.IsError {
		t.Fatalf("the failing prompt: status %d, %+v", h.status(), h.result)
	}
	// The client does not wait for the hooks of a failed turn.
	r.await("two turns", func() bool { return len(r.list()) == 2 })
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok()
	r.check(r.done("T1"), r.failed("TERR"), r.done("T2"))
}

// The service refuses a conversation. The user is told with the next prompt, once, and the model never; the command goes
// back to the turn before, and the client goes on there.
func TestRefusedConversation(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for _, c := range []struct {
		message  string
		refusals int // before the user is told
	}{
		{"messages.3.content.1: scripted failure", 2},
		{"prompt is too long: 210000 tokens > 200000 maximum", 1},
	} {
		t.Run(c.message, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			const told = "the model's service has refused this conversation"
			refuse := reply{"error": map[string]any{"status": 400, "type": "invalid_request_error", "message": c.message}}
			r.mock.play(rule{Match: `TREFUSED`, Steps: []reply{refuse}})
			s := r.interactive(r.repo.Dir)
			s.prompt("T1 hello")
			for i := range c.refusals + 2 {
				s.enter(fmt.Sprintf("TREFUSED hello %d", i+1))
				r.await("the failure", func() bool { return len(r.witness.named("StopFailure")) > i && len(r.list()) == i+2 })
				s.ready("the failure")
				shown := strings.Count(strings.Join(strings.Fields(s.term.screen()), " "), told)
				if want := min(1, i/c.refusals); shown != want {
					t.Fatalf("after %d refusals the client shows it %d times, want %d\n%s", i+1, shown, want, s.term.screen())
				}
			}
			command := "git agent-fork " + passive(s.registry().SessionID) + "/1"
			s.exit()
			if doctor, _ := r.tryCommand(r.repo.Dir, "doctor"); !strings.Contains(doctor, ": "+command+"\n") {
				t.Errorf("the user was not told %q\n%s", command, doctor)
			}
			f := r.fork(r.repo.Dir, strings.Fields(command)[2:]...)
			r.claude(f.Worktree, "T2 hello", f.Command[1:]...).ok().quiet()
			r.tells(r.first("T2"), "T1 hello")
			r.tellsNot(r.first("T2"), "TREFUSED", told)
			for _, q := range r.mock.requests() {
				if strings.Contains(string(q.Body), told) {
					t.Errorf("the model was told: %s", q.Body)
				}
			}
		})
	}
}

// A session whose first turn fails, and that ends with it.
func TestFailedAtOnce(t *testing.T) {
	r := newNightly(t)
	r.claude(r.repo.Dir, "TERR hello")
	r.await("one turn", func() bool { return len(r.list()) == 1 })
	r.check(r.failed("TERR"))
}

// The agent launches another one, which goes on working after the turn has ended;
// its report starts a turn of its own.
func TestSubagent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	slow := r.gate("slow")
	r.mock.play(on("SUBTASK", bash(slow.wait()+" && echo sub > by-subagent.txt"), say("subagent result: file written")))
	session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	h := r.startClaude(r.repo.Dir, "TSUB hello", "--resume", session)
	slow.reached()
	// The file must not appear while the Stop hooks, ours and the witness's, look at the worktree.
	r.await("the launching turn in the list", func() bool { return len(r.list()) == 2 && len(r.witness.named("Stop")) == 2 })
	slow.open()
	h.wait()
	h.ok().quiet()
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()

	turns := r.check(r.done("T1"), r.done("TSUB"), r.done("<task-notification>"), r.done("T2"))
	if got := turns[1].Tools; got["Agent"] != 1 || len(got) != 1 {
		t.Errorf("tools of the launching turn = %v, want Agent alone", got)
	}
	// Its transcript is in the turns in which it worked, once: all in the second
	// one if the client, on a busy machine, wrote it after the first Stop.
	launched, ended := turns[1].Agents, turns[2].Agents
	if len(launched) > 1 || len(ended) != 1 || len(turns[0].Agents)+len(turns[3].Agents) > 0 {
		t.Fatalf("sub-agents: %+v, then %+v", launched, ended)
	}
	last := ended[0]
	from, calls := 0, last.Calls
	for _, a := range launched {
		if a.ID != last.ID || a.Outcome != "running" || a.From != 0 {
			t.Errorf("the sub-agent is %+v, then %+v", a, last)
		}
		from, calls = a.To, calls+a.Calls
	}
	if last.Outcome != "done" || last.From != from || calls != 1 {
		t.Errorf("the sub-agent is %+v, then %+v", launched, last)
	}
}

func TestMaxTurns(t *testing.T) {
	r := newNightly(t)
	h := r.claude(r.repo.Dir, "T1 hello", "--max-turns", "1")
	if h.status() != 1 || h.result.TerminalReason != "max_turns" {
		t.Fatalf("status %d, %+v", h.status(), h.result)
	}
	if n := len(r.witness.named("Stop")); n != 0 {
		t.Fatalf("%d Stop hooks, this test is about a turn without", n)
	}
	r.check(r.interrupted("T1"))
	r.claude(r.repo.Dir, "T2 hello", "--resume", h.session()).ok()
	r.check(r.interrupted("T1"), r.done("T2"))
}

// The conversation is compacted by the client itself in the middle of a turn.
func TestCompactedInMidTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	full, after := bash("echo full > full.txt"), bash("echo after > after.txt")
	full["usage"] = map[string]int{"input_tokens": 5, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 191_000, "output_tokens": 50}
	r.mock.play(
		on("TFULL", full),
		// The client keeps the last assistant message, so the first request that it makes
		// afterwards is for step 1.
		rule{Match: "This session is being continued", Steps: []reply{after, after, say("done")}},
	)
	session := r.claude(r.repo.Dir, "T1 hello").ok().quiet().session()
	r.claude(r.repo.Dir, "TFULL hello", "--resume", session, "--autocompact", "100000").ok().quiet()
	if n := len(r.witness.named("PreCompact")); n != 1 {
		t.Fatalf("%d compactions, this test is about one\n%s", n, r.report())
	}
	turns := r.check(r.done("T1"), r.done("TFULL"))
	if got, want := turns[1].Paths, []string{"after.txt", "full.txt"}; !slices.Equal(got, want) {
		t.Errorf("paths = %q, want %q", got, want)
	}
	if got := turns[1].Compactions; got != 1 {
		t.Errorf("compactions = %d, want 1", got)
	}
}

// A Stop hook of the user's own sends the agent on: the turn has two Stops, and is one turn.
func TestStopHookSendsOn(t *testing.T) {
	t.Parallel()
	r := newBareRig(t)
	own := `test -e "$HOME/once" || { touch "$HOME/once"; echo "write more" >&2; exit 2; }`
	b, err := json.MarshalIndent(map[string]any{
		"skipDangerousModePermissionPrompt": true,
		"hooks":                             map[string]any{"Stop": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": own}}}}},
	}, "", "  ")
	gittest.Must(t, err)
	replaceFile(t, r.settings(), b)
	r.command(r.repo.Dir, "init")
	r.mock.play(rule{Match: "Stop hook feedback", Steps: []reply{write("more.txt", "more\n"), say("wrote more")}})

	session := r.claude(r.repo.Dir, "T1 hello").ok().session()
	if n := len(r.witness.named("Stop")); n != 2 {
		t.Fatalf("%d Stop hooks, this test is about two\n%s", n, r.report())
	}
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()
	turns := r.check(r.done("T1"), r.done("T2"))
	if got, want := turns[0].Paths, []string{"more.txt", "one.txt"}; !slices.Equal(got, want) {
		t.Errorf("paths = %q, want %q", got, want)
	}

	// In a fork it is still a hook's, and not the user's.
	f := r.fork(r.repo.Dir, turns[0].Mission+"/1")
	r.claude(f.Worktree, "TFORK hello", f.Command[1:]...).ok().quiet()
	text := regexp.MustCompile(`"(\\.|[^"\\])*Stop hook feedback:(\\.|[^"\\])*"`)
	feedback := func(word string) string {
		messages, err := json.Marshal(r.first(word).Messages)
		gittest.Must(t, err)
		return text.FindString(string(messages))
	}
	got, want := feedback("TFORK"), feedback("T2")
	if want == "" || got != want {
		t.Errorf("the fork's model is told %s, want %s", got, want)
	}
}

// A secret that the agent prints and one that the user types reach no object.
func TestSecrets(t *testing.T) {
	r := newNightly(t)
	const typed, printed = "AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	r.mock.play(on("TKEY", bash("echo token "+printed), say("that was "+printed)))
	session := r.claude(r.repo.Dir, "TKEY my key is "+typed).ok().quiet().session()
	r.claude(r.repo.Dir, "T2 hello", "--resume", session).ok().quiet()

	turns := r.list()
	if len(turns) != 2 || turns[0].Outcome != "done" || turns[1].Outcome != "done" {
		t.Fatalf("turns = %v, want two that are done\n%s", turns, r.report())
	}
	for _, object := range strings.Fields(r.repo.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		kind := r.repo.Git("cat-file", "-t", object)
		if kind == "tree" {
			continue
		}
		content := r.repo.Git("cat-file", kind, object)
		for _, secret := range []string{typed, printed} {
			if strings.Contains(content, secret) {
				t.Errorf("%s %s holds %s", kind, object, secret)
			}
		}
	}

	// Line by line the rest is what the client wrote.
	tr := r.transcript(session)
	stored := strings.SplitAfter(r.conversation(turns, turns[1]), "\n")
	lines := strings.SplitAfter(string(tr.data), "\n")
	redacted := 0
	for i, got := range stored {
		if got == "" {
			continue
		}
		want := lines[i]
		if strings.Contains(want, typed) || strings.Contains(want, printed) {
			redacted++
			if !json.Valid([]byte(got)) {
				t.Errorf("line %d is no longer JSON: %s", i+1, got)
			}
		} else if got != want {
			t.Errorf("line %d: %s", i+1, around(want, got))
		}
	}
	if redacted < 3 {
		t.Errorf("%d lines of the transcript held a secret, want at least prompt, call and reply", redacted)
	}
}
