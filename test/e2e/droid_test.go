//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gitagent/test/gittest"
)

// droid is Factory's droid, without its screen, for which one needs an account, as for going on with a session: each prompt
// after the first is one to a fork.
type droid struct{}

func (droid) program() string                       { return "droid" }
func (droid) agent() string                         { return "droid" }
func (droid) service() (script, scenario string)    { return "mock-chat.mjs", "scenario-bash.json" }
func (droid) mission(r *rig, session string) string { return passive(session) }
func (droid) quit() string                          { return "" }
func (droid) launches() bool                        { return false }
func (droid) escape() []string                      { return nil }
func (droid) stops() int                            { return 0 }
func (droid) model() string                         { return "custom:Mock-0" }
func (droid) refused() string                       { return "failed" }
func (droid) env(r *rig) []string                   { return nil }
func (droid) settings(r *rig) string                { return filepath.Join(r.home, ".factory", "settings.json") }

func (c droid) limits(r *rig) (string, *regexp.Regexp, string) {
	return c.settings(r), seconds, `"timeout": 3600`
}

func (c droid) onboard(r *rig, dirs ...string) {
	r.t.Helper()
	b, err := json.MarshalIndent(map[string]any{
		"customModels": []any{map[string]any{
			"model": "gpt-mock", "displayName": "Mock", "baseUrl": r.mock.url + "/v1", "apiKey": "dummy", "provider": "generic-chat-completion-api",
			"maxContextLimit": 200_000,
		}},
		"cloudSessionSync": false,
		"hooks": r.hooks(3600, []string{"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"},
			"PreToolUse", "PostToolUse", "Notification", "SubagentStop"),
	}, "", "  ")
	gittest.Must(r.t, err)
	r.repo.In(r.home).Write(".factory/settings.json", string(b)+"\n")
}

func (droid) command(r *rig, session, prompt string) []string {
	argv := []string{r.client(), "exec", "--skip-permissions-unsafe", "-m", "custom:Mock-0", "-o", "stream-json"}
	if session != "" {
		argv = append(argv, "--fork", session)
	}
	return append(argv, prompt)
}

func (droid) started(stdout []byte) string { return field(stdout, "session_id") }

func (droid) open(r *rig, session string) []string       { return nil }
func (droid) box(screen string) (text string, idle bool) { return "", false }
func (droid) over(r *rig, stop event) bool               { return true }
func (droid) file(r *rig, session string) (string, []byte) {
	r.t.Helper()
	found, _ := filepath.Glob(filepath.Join(r.home, ".factory", "sessions", "*", session+".jsonl"))
	if len(found) != 1 {
		r.t.Fatalf("the client keeps the files %q of session %s\n%s", found, session, r.report())
	}
	data, err := os.ReadFile(found[0])
	gittest.Must(r.t, err)
	return found[0], data
}

// A droidLine is what the tests look at in a line of its file.
type droidLine struct {
	Type, ID string
	Message  struct {
		Role, Visibility, HookEventName string
		Content                         []struct{ Type, Text string }
	}
}

func (l droidLine) asked() bool {
	m := l.Message
	return l.Type == "message" && m.Role == "user" && m.Visibility == "" && m.HookEventName == "" && len(m.Content) > 0 && m.Content[0].Type == "text"
}

// stored leaves the messages that no hook wrote: a fork has another first line, and more of hooks, than its segments.
func (droid) stored(segment string) string {
	var kept strings.Builder
	for line := range strings.Lines(segment) {
		var l droidLine
		if json.Unmarshal([]byte(line), &l) == nil && l.Type == "message" && l.Message.HookEventName == "" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func (c droid) transcript(r *rig, session string) transcript {
	r.t.Helper()
	path, data := c.file(r, session)
	tr := transcript{path: path, data: []byte(c.stored(string(data)))}
	offset := 0
	for line := range bytes.Lines(tr.data) {
		began := offset
		offset += len(line)
		var l droidLine
		gittest.Must(r.t, json.Unmarshal(line, &l))
		switch {
		case l.asked():
			tr.runs = append(tr.runs, exchange{promptID: l.ID, began: began})
		case l.Message.Role == "assistant" && len(tr.runs) > 0:
			run := &tr.runs[len(tr.runs)-1]
			run.last = offset
			for _, part := range l.Message.Content {
				if part.Type == "text" {
					run.reply = part.Text
				}
			}
		}
	}
	return tr
}

// began finds the start of the session whose last prompt is the text.
func (c droid) began(r *rig, text string) event {
	r.t.Helper()
	for _, e := range r.witness.named("SessionStart") {
		_, data := c.file(r, e.Session)
		for line := range bytes.Lines(data) {
			var l droidLine
			if json.Unmarshal(line, &l) == nil && l.asked() {
				e.Prompt = l.Message.Content[0].Text
			}
		}
		if strings.HasPrefix(e.Prompt, text) {
			return e
		}
	}
	r.t.Fatalf("no session was asked %q\n%s", text, r.report())
	return event{}
}

// checkForks compares the last turns of the missions of these sessions, each of which is a fork of the one before.
func (r *rig) checkForks(wants ...want) (last []turn) {
	r.t.Helper()
	for i, w := range wants {
		all := r.turns(passive(w.session))
		if len(all) != i+1 {
			r.t.Fatalf("the mission of session %d has %d turns: %v\n%s", i+1, len(all), all, r.report())
		}
		for j := range all { // an inherited turn is in this ledger, too
			all[j].Mission = passive(w.session)
		}
		r.checkRecord(all[i], w)
		r.checkConversation(all, all[i])
		r.checkObjects(all[i])
		last = append(last, all[i])
	}
	return last
}

// executed has three turns without a screen, each but the first in a fork of the session before.
func executed(r *rig) {
	before := r.visible()
	one := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	r.repo.Write("mine.txt", "a person's, between two turns\n")
	two := r.play(r.repo.Dir, one, "T2 hello").ok().session()
	r.play(r.repo.Dir, two, "T3 hello").ok()
	turns := r.checkForks(r.done("T1"), r.done("T2"), r.done("T3"))
	r.sends("the second fork", "T1", "T2", "T3")
	gittest.Must(r.t, os.Remove(filepath.Join(r.repo.Dir, "mine.txt")))
	if after := r.visible(); after != before {
		r.t.Errorf("recording can be seen:\n%s\nwas\n%s", after, before)
	}
	for i, tools := range []int{1, 2, 0} {
		if got := turns[i].Tools["Execute"]; got != tools {
			r.t.Errorf("turn %d called %d tools, want %d", i+1, got, tools)
		}
		if got, want := turns[i].Model, r.kind.(player).model(); got != want {
			r.t.Errorf("model of turn %d = %q, want %s", i+1, got, want)
		}
		if got, want := turns[i].Context, []int{102 + 1001, 312 + 15000, 312 + 15000}[i]; got != want {
			r.t.Errorf("context of turn %d = %d, want %d", i+1, got, want)
		}
		if got, want := turns[i].Tokens.output(), []int{11 + 12, 42 + 42, 42}[i]; got != want {
			r.t.Errorf("turn %d wrote %d tokens, want %d", i+1, got, want)
		}
	}
}

// executedAndRefused has a turn in a fork that the model's service refuses, and one in a fork of that.
func executedAndRefused(r *rig) {
	one := r.play(r.repo.Dir, "", "T1 hello").ok().session()
	refused := r.play(r.repo.Dir, one, "TERR hello").session()
	r.play(r.repo.Dir, refused, "T3 hello").ok()
	turns := r.checkForks(r.done("T1"), r.ended("TERR", "Stop", "failed"), r.done("T3"))
	if !strings.Contains(turns[1].Reply, "mock: scripted failure") {
		r.t.Errorf("the refused turn says %q", turns[1].Reply)
	}
}

// executedAndStopped is Ctrl-C while the model answers. In a tool call it stops that alone.
func executedAndStopped(r *rig) {
	held := filepath.Join(r.tmp, "held")
	r.mock.play(on("THOLD", bash("echo half > half.txt"), reply{"text": strings.Repeat("slow ", 20), "hold": held}))
	x := r.startRun(r.repo.Dir, "", "THOLD hello")
	r.await("the second request", func() bool { return len(r.mock.requests()) == 2 })
	x.signal(os.Interrupt)
	x.wait()
	gittest.Must(r.t, os.WriteFile(held, nil, 0o666))
	r.play(r.repo.Dir, "", "T1 hello").ok()
	r.check(r.ended("THOLD", "SessionEnd", "interrupted"), r.done("T1"))
}

// executedAndCompacted has a turn that fills the context, whereupon the client compacts the conversation.
func executedAndCompacted(r *rig) {
	full := bash("echo full > full.txt")
	full["usage"] = map[string]int{"input_tokens": 250_000, "output_tokens": 50}
	r.mock.play(on("TFULL", full, say("AFULL done")), on(`TF[0-9]`, say("forked")))
	session := r.play(r.repo.Dir, "", "TFULL hello").ok().session()
	if got := r.check(r.done("TFULL"))[0].Compactions; got != 1 {
		r.t.Errorf("%d compactions, want 1\n%s", got, r.report())
	}
	r.forkedAt(passive(session), map[int][]string{1: {"TFULL"}})
	if sent := spoken(r.given("TF1")[0].Body); !strings.Contains(sent, "MOCK SUMMARY") {
		r.t.Errorf("the fork lacks the summary: %s", sent)
	}
}

// executedForks begins another line at every turn of a mission whose sessions are forks of one another, by our fork and then
// the client's of that.
func executedForks(r *rig) {
	r.mock.play(on(`TF[0-9]`, bash("echo forked > fork.txt"), say("forked")))
	session := ""
	for _, prompt := range []string{"T1 hello", "T2 hello", "T3 hello"} {
		session = r.play(r.repo.Dir, session, prompt).ok().session()
	}
	mission := passive(session)
	source := r.turns(mission)
	if len(source) != 3 {
		r.t.Fatalf("the mission has the turns %v\n%s", source, r.report())
	}
	ledger := r.repo.Git("rev-parse", ledgerRef(mission))
	words := []string{"T1", "T2", "T3"}
	for i, k := range []int{1, 2, 3, 2} {
		what, own := fmt.Sprintf("fork %d, at %d", i+1, k), fmt.Sprintf("TF%d", i+1)
		f := r.fork(r.repo.Dir, fmt.Sprintf("%s/%d", mission, k))
		if !slices.Contains(f.Command, f.Session) {
			r.t.Errorf("%s: the command %q does not name the session %s", what, f.Command, f.Session)
		}
		r.play(f.Worktree, f.Session, own+" hello").ok()
		r.sends(what, append(words[:k:k], own)...)
		if all := r.checkFork(f, source[:k], r.done(own)); all[k].Transcript.After != k {
			r.t.Errorf("%s: the new segment comes after %d", what, all[k].Transcript.After)
		}
	}
	if got := r.repo.Git("rev-parse", ledgerRef(mission)); got != ledger {
		r.t.Errorf("the source has changed: %s, want %s", got, ledger)
	}
}
