//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// What the agent is told about its context begins with one of these.
const (
	warningText  = "git-agent: the context of this session is"
	urgentText   = "git-agent, URGENT: the context of this session is"
	reminderText = "git-agent: this session has called tools"
)

// filled is a reply whose request had so many tokens, and that calls a tool. The tool waits until
// the client has written the reply into the session's file, which it does up to 100 ms late: then
// the hook that follows the tool sees it.
func filled(tokens int) reply {
	r := bash(fmt.Sprintf(`until grep -qs '"cache_read_input_tokens":%d,' "$HOME"/.claude/projects/*/"$CLAUDE_CODE_SESSION_ID.jsonl"; do sleep 0.02; done`, tokens-1005))
	r["usage"] = usage(tokens)
	return r
}

func usage(tokens int) map[string]int {
	return map[string]int{"input_tokens": 5, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": tokens - 1005, "output_tokens": 50}
}

// twice makes a reply call its tool twice at the same time.
func twice(r reply) reply {
	call := map[string]any{"type": "tool_use", "name": r["tool"], "input": r["input"]}
	return reply{"content": []any{call, call}, "usage": r["usage"]}
}

// told counts, for each request in which the model was given its tools, how often it held the text.
// What was said once is in all later requests of the conversation, too.
func (r *rig) told(text string) []int {
	r.t.Helper()
	var counts []int
	for _, q := range r.mock.requests() {
		if strings.HasPrefix(q.Rule, "detailed summary") {
			continue // made to compact the conversation
		}
		counts = append(counts, strings.Count(string(q.Body), text))
	}
	return counts
}

// configure writes the user's configuration of git-agent.
func (r *rig) configure(text string) {
	r.t.Helper()
	dir := filepath.Join(r.home, ".config", "git-agent")
	gittest.Must(r.t, os.MkdirAll(dir, 0o777))
	replaceFile(r.t, filepath.Join(dir, "config.toml"), []byte(text))
}

// A session whose context crosses both limits, as they are by default for a window of a million:
// each message is in the request that follows, and nowhere else.
func TestContextFills(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.mock.play(on("TFILL",
		filled(410_000), // near to the limit: from now on every event counts
		filled(499_999),
		twice(filled(500_000)),
		filled(600_000),
		filled(450_000),
		twice(filled(650_000)),
		filled(700_000),
		say("done"),
	))
	h := r.claude(r.repo.Dir, "TFILL hello").ok()
	if got, want := r.told(warningText), []int{0, 0, 0, 1, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("the warning is in the requests %v, want %v\n%s", got, want, r.report())
	}
	if got, want := r.told(urgentText), []int{0, 0, 0, 0, 0, 0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("the urgent message is in the requests %v, want %v\n%s", got, want, r.report())
	}
	// The urgent message names the document and the command.
	requests := r.mock.requests()
	document := filepath.Join(r.home, ".local", "share", "git-agent", "handoffs", h.session()+".md")
	for _, want := range []string{"65% full, 650,000 of 1,000,000 tokens", `    ` + document + `\n`, `    git agent-handoff write ` + document + `\n`} {
		if body := string(requests[len(requests)-1].Body); !strings.Contains(body, want) {
			t.Errorf("the last request lacks %q", want)
		}
	}
}

// Between two looks at the file nothing is said, and below the limits never.
func TestContextBelowLimits(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on("TFILL",
		filled(300_000), // a look
		filled(600_000), filled(601_000), filled(602_000), filled(603_000),
		filled(399_999), // a look
		filled(604_000),
		say("done"),
	))
	r.claude(r.repo.Dir, "TFILL hello").ok()
	for _, text := range []string{warningText, urgentText, reminderText} {
		if got, want := r.told(text), make([]int, 8); !slices.Equal(got, want) {
			t.Errorf("%q is in the requests %v, want %v\n%s", text, got, want, r.report())
		}
	}
}

// After /compact and after /clear the messages come again, once. That the figure falls and stays
// above a limit brings no second one.
func TestContextArmedAgain(t *testing.T) {
	r := newNightly(t)
	r.mock.play(
		on("TFULL", filled(700_000), filled(701_000), say("full")),
		on("TLESS", filled(640_000), filled(560_000), filled(530_000), say("less")),
		on("TMORE", filled(541_000), filled(660_000), filled(661_000), say("more")),
	)
	s := r.interactive(r.repo.Dir)
	s.prompt("TFULL hello")
	s.compact()
	s.prompt("TLESS hello")
	s.clear()
	s.prompt("TMORE hello")
	s.exit()
	if got, want := r.told(warningText), []int{0, 0, 0 /* compacted */, 0, 1, 1, 1 /* cleared */, 0, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("the warning is in the requests %v, want %v\n%s", got, want, r.report())
	}
	if got, want := r.told(urgentText), []int{0, 1, 1 /* compacted */, 0, 0, 0, 0 /* cleared */, 0, 0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("the urgent message is in the requests %v, want %v\n%s", got, want, r.report())
	}
	log, err := os.ReadFile(filepath.Join(r.repo.Dir, ".git", "agent", "log"))
	if err != nil || strings.Count(string(log), "it was too late") != 1 {
		t.Errorf("the log does not say that a compaction came too late: %s, %v", log, err)
	}
}

// The agent that works for another one has a context of its own.
func TestContextOfSubagent(t *testing.T) {
	r := newNightly(t)
	r.configure("[context]\ncheck_frequency = 1\n")
	echo := bash("echo sub")
	echo["usage"] = usage(900_000)
	r.mock.play(on("SUBTASK", echo, echo, reply{"text": "subagent result", "usage": usage(900_000)}))
	h := r.claude(r.repo.Dir, "TSUB hello").ok()
	if n := h.ran("PostToolBatch"); n < 3 {
		t.Fatalf("%d PostToolBatch hooks, this test is about one in the session and two in its sub-agent\n%s", n, r.report())
	}
	for _, text := range []string{warningText, urgentText, reminderText} {
		if got := r.told(text); slices.Max(got) > 0 {
			t.Errorf("%q is in the requests %v, want none\n%s", text, got, r.report())
		}
	}
}

// The client keeps no file: tool calls are counted, parallel ones too, and the agent is reminded
// once.
func TestContextWithoutTranscript(t *testing.T) {
	r := newNightly(t)
	r.configure("[context]\ncheck_frequency = 1\nfallback_tool_count = 4\n")
	call := bash("echo one")
	r.mock.play(on("TFILL", twice(call), call, call, call, say("done")))
	r.claude(r.repo.Dir, "TFILL hello", "--no-session-persistence").ok()
	if got, want := r.told(reminderText), []int{0, 0, 0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("the reminder is in the requests %v, want %v\n%s", got, want, r.report())
	}
}
