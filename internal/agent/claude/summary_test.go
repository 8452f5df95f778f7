package claude

import (
	"context"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

func TestSummariseRealSessions(t *testing.T) {
	const opus, sonnet = "claude-opus-4-8", "claude-sonnet-4-5"
	const slow = "This is a slow answer that streams for a while so that it can be stopped in the middle of it all, word by word."
	slowly := strings.TrimSpace(strings.Repeat("This is a slow answer. ", 30))
	failed := transcript.Summary{Reply: "API Error: 400 mock: scripted failure", APIError: true}
	for name, want := range map[string][]transcript.Summary{
		"five turns": {
			{Reply: "A1 done: wrote one.txt", Model: opus, Tools: map[string]int{"Write": 1}, Context: 2105, Output: 23},
			{Reply: "A2 done: bash ran", Model: opus, Tools: map[string]int{"Bash": 2}, Context: 15312, Output: 84},
			{Reply: "A3 done: no file change, just words", Model: opus, Context: 15312, Output: 42},
			{Reply: "A4 done: command failed, then edited one.txt", Model: opus, Tools: map[string]int{"Bash": 1, "Read": 1, "Edit": 1}, Context: 15312, Output: 168},
			{Reply: "A5 done: wrote sub/five.txt", Model: opus, Tools: map[string]int{"Write": 1}, Context: 15312, Output: 84},
		},
		"compaction": {
			{Reply: "A1 done: wrote one.txt", Model: opus, Tools: map[string]int{"Write": 1}, Context: 2105, Output: 23},
			{Reply: "A2 done: bash ran", Model: opus, Tools: map[string]int{"Bash": 2}, Context: 15312, Output: 84},
			{Reply: "A3 done: no file change, just words", Model: opus, Context: 15312, Output: 42},
			{Reply: "A4 done: command failed, then edited one.txt", Model: opus, Tools: map[string]int{"Bash": 1, "Read": 1, "Edit": 1}, Context: 15312, Output: 168},
			{Reply: "A5 done: wrote sub/five.txt", Model: opus, Tools: map[string]int{"Write": 1}, Context: 15312, Output: 84, Compactions: 1},
			{Reply: "ANEXT: continuing after the fork", Model: opus, Context: 15312, Output: 42},
		},
		"sub-agent": {
			{Reply: "ASUB done: the subagent answered", Model: opus, Tools: map[string]int{"Agent": 1}, Context: 15312, Output: 84},
			{Reply: "ASUB done: the subagent answered", Model: opus, Context: 15312, Output: 42},
		},
		"after clear": {
			{Reply: "A3 done: no file change, just words", Model: opus, Context: 15312, Output: 42},
		},
		"fork by client": {
			{Reply: "A1 done: wrote one.txt", Model: opus, Tools: map[string]int{"Write": 1}, Context: 2105, Output: 23},
			{Reply: "A2 done: bash ran", Model: opus, Tools: map[string]int{"Bash": 2}, Context: 15312, Output: 84},
			{Reply: "A3 done: no file change, just words", Model: opus, Context: 15312, Output: 42},
			{Reply: "ANEXT: continuing after the fork", Model: opus, Context: 15312, Output: 42},
		},
		"command and esc": {
			{Reply: "AGREET hello", Model: opus, Context: 15312, Output: 42},
			{
				Reply: "AMID took the extra prompt", Model: opus, Tools: map[string]int{"Bash": 1}, Context: 15312, Output: 84,
				Queued: []string{"TMID an extra prompt typed while busy"},
			},
			{Reply: slow, Model: opus, Context: 15312, Output: 42},
			{Model: opus, Tools: map[string]int{"Bash": 1}, Context: 15312, Output: 42, Interrupted: true},
			failed, failed, failed, failed,
			{Reply: slow, Model: opus, Context: 15312, Output: 42},
			{Reply: "AQ2 queued answered", Model: opus, Context: 15312, Output: 42},
			{Reply: "mock: ok", Model: opus, Context: 15312, Output: 42},
		},
		"blocks and queue": {
			{Reply: "First part.\n\nSecond part.", Model: opus, Context: 15312, Output: 42},
			{Reply: "before\nafter", Model: opus, Context: 15312, Output: 42},
			{Reply: "same", Model: opus, Tools: map[string]int{"Bash": 1}, Context: 15312, Output: 84},
			{Model: opus, Context: 15312, Output: 84},
			{Reply: slowly, Model: opus, Context: 15312, Output: 1, Interrupted: true}, // only its beginning
			{Reply: slowly, Model: opus, Context: 15312, Output: 42},
			{Reply: "AQ2 queued answered", Model: opus, Context: 15312, Output: 42},
		},
		"autocompaction": {
			{Reply: "AAUTO done after compaction", Model: sonnet, Tools: map[string]int{"Bash": 1}, Context: 15312, Output: 84, Compactions: 1},
			{Reply: "ABLOCK same", Model: opus, Context: 15312, Output: 84},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := recorded(t, name)
			turns := transcript.Turns(new(reader), b)
			if len(turns) != len(want) {
				t.Fatalf("got %d turns, want %d", len(turns), len(want))
			}
			for i, turn := range turns {
				got := transcript.Summarise(new(reader), b[turn.Start:turn.End])
				if got.Prompt != turn.Prompt {
					t.Errorf("turn %d: prompt %q, but Turns says %q", i+1, got.Prompt, turn.Prompt)
				}
				if !got.Started.Equal(turn.At) || !got.Ended.After(got.Started) || got.Ended.Sub(got.Started) > 10*time.Second {
					t.Errorf("turn %d: from %v to %v, but Turns says %v", i+1, got.Started, got.Ended, turn.At)
				}
				want := want[i]
				if want.Interrupted && want.Reply != "" { // where it stops is up to chance
					if !strings.HasPrefix(slowly, got.Reply) || got.Reply == "" {
						t.Errorf("turn %d: reply %q is no beginning of the answer", i+1, got.Reply)
					}
					want.Reply = got.Reply
				}
				want.Prompt, want.Started, want.Ended, want.Cwd = got.Prompt, got.Started, got.Ended, turn.Cwd
				want.Tokens = got.Tokens // see TestTokensOfRealSessions
				want.Answered = !want.Interrupted && !want.APIError
				if !reflect.DeepEqual(got, want) {
					t.Errorf("turn %d:\n got %+v\nwant %+v", i+1, got, want)
				}
			}
		})
	}
}

// TestTokensOfRealSessions compares with sums made by hand of the figures in the files: each message
// counts once, however many lines it has.
func TestTokensOfRealSessions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]transcript.Tokens{
		"five turns":      {"claude-opus-4-8": {Input: 311, CacheRead: 136001, CacheWrite: 4703, Output: 401}},
		"sub-agent's own": nil, // all of it is aside
	} {
		if got := transcript.Summarise(new(reader), recorded(t, name)).Tokens; !maps.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestSummarise(t *testing.T) {
	at := func(s string) time.Time {
		u, err := time.Parse(time.RFC3339, "2026-11-21T00:00:"+s+"Z")
		gittest.Must(t, err)
		return u
	}
	for _, tt := range []struct {
		name  string
		lines []string
		want  transcript.Summary
	}{
		{"nothing", nil, transcript.Summary{}},
		{"usage once per message, the last line's; context of the last message", []string{
			`{"type":"assistant","message":{"id":"m1","model":"a","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":1}}}`,
			`{"type":"assistant","message":{"id":"m1","model":"a","content":[{"type":"tool_use","id":"t1","name":"Bash"}],"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":100}}}`,
			`{"type":"assistant","message":{"id":"m2","model":"b","content":[{"type":"text","text":"y"}],"usage":{"input_tokens":10,"output_tokens":1000}}}`,
			`{"type":"assistant","message":{"model":"b","content":[],"usage":{"output_tokens":10000}}}`,
			`{"type":"assistant","message":{"model":"b","content":[],"usage":{"output_tokens":10000}}}`,
		}, transcript.Summary{
			Reply: "y", Model: "b", Tools: map[string]int{"Bash": 1}, Context: 10, Output: 21100,
			Tokens: map[string]transcript.Tokens{"a": {Input: 1, CacheWrite: 2, CacheRead: 4, Output: 100}, "b": {Input: 10, Output: 21000}},
		}},
		{
			"sub-agents count nowhere",
			[]string{
				`{"type":"assistant","message":{"id":"m1","model":"a","content":[{"type":"text","text":"mine"}],"usage":{"input_tokens":1,"output_tokens":1}}}`,
				`{"type":"assistant","isSidechain":true,"message":{"id":"m2","model":"b","content":[{"type":"text","text":"its"},{"type":"tool_use","id":"t","name":"Read"}],"usage":{"input_tokens":9,"output_tokens":9}}}`,
				`{"type":"user","isSidechain":true,"message":{"content":"[Request interrupted by user]"}}`,
			},
			transcript.Summary{Answered: true, Reply: "mine", Model: "a", Context: 1, Output: 1, Tokens: map[string]transcript.Tokens{"a": {Input: 1, Output: 1}}},
		},
		{"a tool call counts once by its id, every time without", []string{
			`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash"},{"type":"tool_use","id":"t2","name":"Bash"}]}}`,
			`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash"},{"type":"tool_use","name":"Read"},{"type":"tool_use","name":"Read"}]}}`,
		}, transcript.Summary{Tools: map[string]int{"Bash": 2, "Read": 2}}},
		{"a record that is there twice counts once", []string{
			`{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`,
			`{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`,
			`{"type":"system","uuid":"b","subtype":"compact_boundary"}`,
			`{"type":"system","uuid":"b","subtype":"compact_boundary"}`,
		}, transcript.Summary{Answered: true, Reply: "x", Compactions: 1}},
		{
			"what the client says in the model's place is neither reply nor model",
			[]string{
				`{"type":"assistant","message":{"id":"m","model":"a","content":[{"type":"text","text":"half"}],"usage":{"input_tokens":5}}}`,
				`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
				`{"type":"assistant","message":{"id":"s","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}],"usage":{"input_tokens":0}}}`,
			},
			transcript.Summary{Reply: "half", Model: "a", Context: 5, Interrupted: true, Tokens: map[string]transcript.Tokens{"a": {Input: 5}}},
		},
		{"an interruption that the turn went on after is none", []string{
			`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`,
			`{"type":"assistant","message":{"id":"m","model":"a","content":[{"type":"text","text":"fine"}]}}`,
		}, transcript.Summary{Answered: true, Reply: "fine", Model: "a"}},
		{"an error that the turn went on after is none", []string{
			`{"type":"assistant","isApiErrorMessage":true,"message":{"id":"s","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}`,
			`{"type":"assistant","message":{"id":"m","model":"a","content":[{"type":"text","text":"fine"}]}}`,
		}, transcript.Summary{Answered: true, Reply: "fine", Model: "a"}},
		{
			"an error ends it",
			[]string{
				`{"type":"assistant","message":{"id":"m","model":"a","content":[{"type":"text","text":"fine"}],"usage":{"input_tokens":5}}}`,
				`{"type":"assistant","isApiErrorMessage":true,"message":{"id":"s","model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"usage":{"input_tokens":0}}}`,
			},
			transcript.Summary{Reply: "API Error", Model: "a", Context: 5, APIError: true, Tokens: map[string]transcript.Tokens{"a": {Input: 5}}},
		},
		{"a prompt that looks like the mark of an interruption", []string{
			`{"type":"user","turnOrigin":"human","message":{"content":"[Request interrupted by user] - what does that mean?"}}`,
		}, transcript.Summary{Prompt: "[Request interrupted by user] - what does that mean?"}},
		{
			"times are those of the work, not of what the client notes around it",
			[]string{
				`{"type":"user","promptId":"p","timestamp":"2026-11-21T00:00:01Z","isMeta":true,"message":{"content":"reminder"}}`,
				`{"type":"user","promptId":"p","timestamp":"2026-11-21T00:00:02Z","turnOrigin":"human","message":{"content":"go"}}`,
				`{"type":"assistant","timestamp":"2026-11-21T00:00:03Z","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash"}]}}`,
				`{"type":"user","timestamp":"2026-11-21T00:00:04Z","message":{"content":[{"type":"tool_result"}]}}`,
				`{"type":"user","timestamp":"2026-11-21T00:00:05Z","message":{"content":"<command-name>/model</command-name>"}}`,
				`{"type":"system","timestamp":"2026-11-21T00:00:06Z","subtype":"compact_boundary"}`,
			},
			transcript.Summary{Prompt: "go", Tools: map[string]int{"Bash": 1}, Compactions: 1, Started: at("02"), Ended: at("04")},
		},
		{"the rest of a turn has no prompt", []string{
			`{"type":"user","timestamp":"2026-11-21T00:00:04Z","promptId":"p","message":{"content":[{"type":"tool_result"}]}}`,
			`{"type":"assistant","timestamp":"2026-11-21T00:00:05Z","message":{"id":"m","content":[{"type":"text","text":"done"}]}}`,
		}, transcript.Summary{Answered: true, Reply: "done", Started: at("04"), Ended: at("05")}},
		{"queued: what a person typed, not what a task notified", []string{
			`{"type":"attachment","attachment":{"type":"queued_command","prompt":"stop that","origin":{"kind":"human"}}}`,
			`{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"image"},{"type":"text","text":"see here"}]}}`,
			`{"type":"attachment","attachment":{"type":"queued_command","prompt":"<task-notification>","origin":{"kind":"task-notification"}}}`,
			`{"type":"attachment","attachment":{"type":"queued_command"}}`,
			`{"type":"user","attachment":{"type":"queued_command","prompt":"no attachment"}}`,
		}, transcript.Summary{Queued: []string{"stop that", "see here"}}},
		{
			"numbers that cannot be counts of tokens",
			[]string{
				`{"type":"assistant","message":{"id":"m1","content":[],"usage":{"input_tokens":7,"output_tokens":7}}}`,
				`{"type":"assistant","message":{"id":"m2","content":[],"usage":{"input_tokens":-1,"cache_read_input_tokens":1e300,"output_tokens":"many"}}}`,
				`{"type":"assistant","message":{"id":"m3","content":[],"usage":[1,2]}}`,
				`{"type":"assistant","message":{"id":"m4","content":[],"usage":"{\"input_tokens\":9}"}}`,
			},
			transcript.Summary{Context: 7, Output: 7, Tokens: map[string]transcript.Tokens{"": {Input: 7, Output: 7}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := transcript.Summarise(new(reader), []byte(strings.Join(tt.lines, "\n")+"\n"))
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf(" got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestPathological guards time and stack: nothing quadratic or recursive may come back here.
func TestPathological(t *testing.T) {
	gittest.Check(t)
	const many = 1 << 20
	for name, segment := range map[string]string{
		"depth":           `{"type":"user","message":` + strings.Repeat("[", 16*many),
		"closed depth":    `{"type":"user","message":{"content":` + strings.Repeat("[", many) + strings.Repeat("]", many) + `}}`,
		"objects":         strings.Repeat(`{"type":`, many),
		"quotes":          strings.Repeat(`"`, many),
		"backslashes":     `{"type":"user","turnOrigin":"` + strings.Repeat(`\`, many) + `"}`,
		"escaped quotes":  `{"type":"user","turnOrigin":"` + strings.Repeat(`\"`, many) + `"}`,
		"empty lines":     strings.Repeat("\n", many),
		"NUL":             strings.Repeat("\x00", many),
		"blocks":          `{"type":"assistant","message":{"content":[` + strings.Repeat(`{"type":"text","text":"a"},`, many/16) + `0]}}`,
		"lines of a text": strings.Repeat(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a"}]}}`+"\n", many/32),
		"prompts":         strings.Repeat(`{"type":"user","turnOrigin":"human","message":{"content":"a"}}`+"\n", many/32),
		"one long prompt": `{"type":"user","turnOrigin":"human","message":{"content":"` + strings.Repeat("<command-name>", many) + `"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := []byte(segment)
			checkRanges(t, b, transcript.Turns(new(reader), b))
			transcript.Summarise(new(reader), b)
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, segment)
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // one look
			if _, err := transcript.Wait(ctx, Reader, path, transcript.Cursor{}, transcript.Want{Reply: strings.Repeat("a", 1000)}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A line of 100 MB (a file written by a tool, an image) is a line like any other.
func TestLargeLine(t *testing.T) {
	gittest.Check(t)
	line := `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Write","input":{"content":"` +
		strings.Repeat(`package main\n`, 8<<20) + `"}}]}}` + "\n"
	got := transcript.Summarise(new(reader), []byte(line+answer+"\n"))
	if !maps.Equal(got.Tools, map[string]int{"Write": 1}) || got.Reply != "done" {
		t.Errorf("got %+v", got)
	}
}
