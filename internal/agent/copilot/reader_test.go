package copilot

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
)

// TestReader reads what the real client wrote.
func TestReader(t *testing.T) {
	t.Parallel()
	type told = agenttest.Told
	cached := func(requests, input int64) transcript.Tokens {
		return transcript.Tokens{Input: input - 400*requests, CacheRead: 400 * requests, Output: 20 * requests}
	}
	words := func(prompt, reply string, input int64) told {
		return told{Prompt: prompt, Reply: reply, Model: "mock-model", Context: input, Tokens: cached(1, input), Answered: true}
	}
	const sub = `go CALL:task:{"agent_type":"general-purpose","description":"sub work","prompt":"sub prompt SAY:sub answer","name":"sub-one","mode":"sync"}END`
	bash := map[string]int{"bash": 1}
	agenttest.Reads(t, Reader, map[string][]told{
		"three-turns": {
			words("turn one SAY:answer one", "answer one", 1001),
			{Prompt: "turn two RUN:env | sort > env.txt", Reply: "mock answer 3", Tools: bash, Model: "mock-model", Context: 1003, Tokens: cached(2, 1002+1003), Answered: true},
			words("turn three SAY:answer three", "answer three", 1004),
		},
		// What the compaction itself took counts.
		"auto-compact": {
			{
				Prompt: "auto one TOK:126000 RUN:echo x", Reply: "mock answer 25", Tools: bash,
				Model: "mock-model", Context: 126025, Tokens: cached(3, 126023+1024+126025), Compactions: 1, Answered: true,
			},
			words("auto two SAY:after auto", "after auto", 1026),
		},
		// The second one's client was hung up on.
		"failed":      {{Prompt: "turn FAIL:400", Reply: "400 mock failure 400", Model: "mock-model", Error: true}, {Prompt: "tui two SLOW:61003"}},
		"interrupted": {{Prompt: "inted SLOW:63000", Interrupted: true}},
		// The third prompt waited in the queue. The fourth one's turn got another two, failed on the first, and went on when its
		// command in the background had ended.
		"steering": {
			words("tui one SAY:tui-answer-one", "tui-answer-one", 1027),
			words("tui two SLOW:61001", "mock answer 28", 1028),
			words("tui three SAY:tui-answer-three", "tui-answer-three", 1029),
			{
				Prompt: "tui four RUN:sleep 60", Reply: "tui-answer-six", Queued: []string{"tui five FAIL:400", "tui six SAY:tui-answer-six"},
				Tools: map[string]int{"bash": 1, "read_bash": 1}, Model: "mock-model", Context: 1032, Tokens: cached(2, 1030+1032), Answered: true,
			},
			words("second client on a live session", "mock answer 33", 1033),
		},
		// Of what the sub-agent did, only its answer counts.
		"sub-agent": {{
			Prompt: sub, Reply: "sub answer", Tools: map[string]int{"task": 1}, Model: "mock-model", Context: 1011, Tokens: cached(2, 1009+1011), Answered: true,
		}},
		// After the second turn the user compacted, gave another prompt, went back to before it, and ran a command.
		"tui": {
			{Prompt: "tui one RUN:echo tuione > t1.txt", Reply: "mock answer 34", Tools: bash, Model: "mock-model", Context: 1034, Tokens: cached(2, 1033+1034), Answered: true},
			{Prompt: "tui two SAY:answer-two", Reply: "answer-two", Model: "mock-model", Context: 1035, Tokens: cached(2, 1035+1036), Compactions: 1, Answered: true},
			words("tui four SAY:answer-four", "answer-four", 1038),
			words("tui six SAY:six", "six", 1039),
		},
	})
}

// TestTurns: a turn's id is its interaction's, and it begins with its prompt. One that waited says so.
func TestTurns(t *testing.T) {
	t.Parallel()
	data := agenttest.Capture(t, "steering")
	var sources []string
	for _, turn := range transcript.Turns(Reader(), data) {
		line, _, _ := bytes.Cut(data[turn.Start:], []byte{'\n'})
		if !bytes.HasPrefix(line, []byte(`{"type":"user.message",`)) || !bytes.Contains(line, []byte(`"interactionId":"`+turn.PromptID+`"`)) ||
			!bytes.Contains(line, []byte(`"id":"`+turn.UUID+`"`)) || turn.At.IsZero() {
			t.Errorf("%+v begins with %s", turn, line)
		}
		sources = append(sources, turn.Source)
	}
	if want := []string{"", "", "queued", "", ""}; !slices.Equal(sources, want) {
		t.Errorf("sources = %q, want %q", sources, want)
	}
	if u, err := transcript.LastUsage(Reader, filepath.Join("testdata", "tui.jsonl")); err != nil || u.Tokens != 1039 || u.Window != 128000 || u.Model != "mock-model" {
		t.Errorf("the context is %+v, %v", u, err)
	}
}

// TestEvents: one line each, as the client writes it or a stranger may.
func TestEvents(t *testing.T) {
	t.Parallel()
	const head = `"id":"e","timestamp":"2026-11-27T02:04:05.765Z","parentId":null}`
	part := func(kind transcript.Kind, text string) []transcript.Part {
		return []transcript.Part{{Kind: kind, Text: text}}
	}
	type entry = transcript.Entry
	for _, tt := range []struct {
		line string
		want entry
	}{
		{`{"type":"user.message","data":{"content":"go","interactionId":"i","source":"user"},`, entry{
			PromptID: "i", Parts: part(transcript.Asked, "go"), Opens: &transcript.FileTurn{Start: 7, UUID: "e", PromptID: "i", Prompt: "go"},
		}},
		{`{"type":"user.message","data":{"content":"more","interactionId":"i","delivery":"steering"},`, entry{PromptID: "i", Parts: part(transcript.Queued, "more")}},
		{`{"type":"user.message","data":{"content":"a skill","source":"skill-pdf"},`, entry{Parts: part(transcript.Told, "a skill")}},
		{`{"type":"user.message","data":{"content":"go on","isAutopilotContinuation":true},`, entry{Parts: part(transcript.Told, "go on")}},
		{`{"type":"user.message","agentId":"a","data":{"content":"look"},`, entry{Subagent: true, Parts: part(transcript.Told, "look")}},
		{
			`{"type":"system.notification","data":{"content":"<system_notification>\nShell has completed.\n</system_notification>"},`,
			entry{Parts: []transcript.Part{{Kind: transcript.Task, Name: "Shell has completed."}}},
		},
		{`{"type":"tool.user_requested","data":{"toolName":"local_shell","arguments":{"command":"ls"}},`, entry{Parts: part(transcript.Asked, "!ls")}},
		{`{"type":"tool.execution_complete","data":{"isUserRequested":true,"success":true,"result":{"content":"a"}},`, entry{Parts: part(transcript.Shell, "a")}},
		{`{"type":"tool.execution_complete","data":{"toolCallId":"c","interactionId":"i","success":true,"shellExecution":{"exitCode":3},"result":{"content":"x"}},`, entry{
			PromptID: "i", Parts: []transcript.Part{{Kind: transcript.Answer, Call: "c", Text: "x", Failed: true, Ended: evidence.Exit(3)}},
		}},
		{`{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"No match found"}},`, entry{
			Parts: []transcript.Part{{Kind: transcript.Answer, Call: "c", Text: "No match found", Failed: true, Ended: evidence.Ended{How: evidence.Refused}}},
		}},
		{`{"type":"assistant.message","data":{"messageId":"m","model":"x","reasoningText":"hm","content":"done"},`, entry{
			Message: "m", Model: "x", Answers: true, Stopped: true, Parts: []transcript.Part{{Kind: transcript.Thought, Text: "hm"}, {Kind: transcript.Said, Text: "done"}},
		}},
		{`{"type":"session.usage_record","data":{"usage":{"model":"x","inputTokens":10,"cacheReadTokens":6,"cacheWriteTokens":9,"outputTokens":2,"apiCallId":"c"}},`, entry{
			Message: "c", Model: "x", Context: 10, Tokens: transcript.Tokens{CacheRead: 6, CacheWrite: 4, Output: 2},
		}},
		{`{"type":"session.compaction_complete","data":{"success":false,"compactionTokensUsed":{"inputTokens":3}},`, entry{Tokens: transcript.Tokens{Input: 3}}},
		{`{"type":"hook.start","data":{"hookType":"agentStop"},`, entry{Ended: true}},
		{`{"type":"hook.start","agentId":"a","data":{"hookType":"agentStop"},`, entry{Subagent: true, Ended: true}},
		{`{"type":"hook.start","data":{"hookType":"preToolUse"},`, entry{}},
		{`{"type":"abort","data":{"reason":"user_initiated"},`, entry{Interrupted: true}},
		{`{"type":"session.start","data":{"context":{"cwd":"/home/dev/copilot"},"selectedModel":"x"},`, entry{Cwd: "/home/dev/copilot", Model: "x"}},
	} {
		got := Reader().Read(7, []byte(tt.line+head))
		if got.ID != "e" || got.At.IsZero() {
			t.Errorf("%s: %+v", tt.line, got)
		}
		if got.Opens != nil {
			got.Opens.At = time.Time{}
		}
		got.ID, got.At = "", time.Time{}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tt.line, got, tt.want)
		}
	}
	for _, line := range []string{``, `[]`, `"user.message"`, `{"type":"user.message"`, `{"type":1,"data":{}}`, `{"type":"system.message","data":{"content":"x"},` + head, `{"type":"../x","data":null}`} {
		if got := Reader().Read(0, []byte(line)); !reflect.DeepEqual(got, transcript.Entry{}) {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// FuzzReader: whatever the lines, reading ends, and what is said can be shown.
func FuzzReader(f *testing.F) {
	for _, name := range agenttest.Captures(f) {
		for line := range bytes.Lines(agenttest.Capture(f, name)) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e := Reader().Read(0, line)
		if e.Opens != nil && (e.Opens.Start != 0 || e.Subagent) {
			t.Errorf("it opens %+v", e.Opens)
		}
		agenttest.Sound(t, &e)
		for _, foreign := range []bool{false, true} {
			kind, kept := keep(line, gjson.Parse(`"p"`), foreign)
			if kept == nil {
				continue
			}
			if again, same := keep(kept, gjson.Parse(`"p"`), foreign); again != kind || !bytes.Equal(same, kept) {
				t.Errorf("%s, kept as %s, and then as %s", line, kept, same)
			}
		}
	})
}
