package qwen

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// capture returns a file that the real client wrote, less some telemetry.
func capture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	gittest.Must(t, err)
	return data
}

// captures are the names of all.
func captures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	return paths
}

// A said is what the file says of a turn.
type said struct {
	Prompt, Reply      string
	Tools              map[string]int
	Context            int64
	Tokens             transcript.Tokens
	Compactions        int
	Answered           bool
	Interrupted, Error bool
}

// turns are those of a segment.
func turns(segment []byte) (list []said) {
	for _, turn := range transcript.Turns(Reader(), segment) {
		s := transcript.Summarise(Reader(), segment[turn.Start:turn.End])
		list = append(list, said{s.Prompt, s.Reply, s.Tools, s.Context, s.Tokens[s.Model], s.Compactions, s.Answered, s.Interrupted, s.APIError})
	}
	return list
}

// TestReader reads what the real client wrote, without a terminal and in one.
func TestReader(t *testing.T) {
	t.Parallel()
	spent := func(requests, context int64) transcript.Tokens { // of requests, whose contexts have this sum
		return transcript.Tokens{Input: context - 400*requests, CacheRead: 400 * requests, Output: 20 * requests}
	}
	words := func(prompt, reply string, context int64) said {
		return said{Prompt: prompt, Reply: reply, Context: context, Tokens: spent(1, context), Answered: true}
	}
	ran := func(s said, before int64) said {
		s.Tools, s.Tokens = map[string]int{"run_shell_command": 1}, spent(2, before+s.Context)
		return s
	}
	launched := func(s said, before int64) said {
		s = ran(s, before)
		s.Tools = map[string]int{"agent": 1}
		return s
	}
	compacted := words("big two SAY:second-big word0 lorem ipsum dolor word1 lorem i [elided 39413 characters]",
		"second-big word0 lorem ipsum dolor word1 lorem ipsum dolor w [elided 39400 characters]", 1042)
	compacted.Compactions = 1
	sentOn := words("T2 RUN:echo two > two.txt", "mock answer 31", 1031)
	sentOn.Tools, sentOn.Tokens = map[string]int{"run_shell_command": 2}, spent(4, 1028+1029+1030+1031)
	refused := func(prompt string) said { return said{Prompt: prompt, Reply: "400 mock failure 400", Error: true} }
	rewound := []said{
		words("T1 SAY:one", "one", 1015),
		{
			Prompt: "T2 RUN:echo half > half.txt; sleep 60", Tools: map[string]int{"run_shell_command": 1},
			Context: 1016, Tokens: spent(1, 1016), Interrupted: true,
		},
		words("T3 SAY:three", "three", 1017), words("T41 SAY:four 1", "four 1", 1018),
		words("T42 SAY:four 2", "four 2", 1019), words("T43 SAY:four 3", "four 3", 1020),
		words("T44 SAY:four 4", "four 4", 1021), words("T45 SAY:four 5", "four 5", 1022),
	}
	for _, tt := range []struct {
		name string
		want []said
	}{
		{"three-turns", []said{
			words("turn one SAY:answer one", "answer one", 1003),
			ran(words("turn two RUN:echo two > two.txt", "mock answer 6", 1006), 1005),
			words("turn three SAY:answer three", "answer three", 1007),
		}},
		{"failed", []said{refused("turn FAIL:400")}},
		{"compressed", []said{
			{Prompt: "big one SAY:first-big word0 lorem ipsum dolor word1 lorem ip [elided 39412 characters]"}, // stopped
			compacted,
			words("three SAY:tui-answer-three", "tui-answer-three", 1045), words("four SAY:tui-answer-four", "tui-answer-four", 1046),
			refused("seven FAIL:400"), refused("eight RUN:tail -f /dev/null"), refused("nine SAY:tui-answer-nine"),
		}},
		{"background", []said{
			words("tui five SAY:tui-answer-five", "tui-answer-five", 1032),
			launched(words(`sub CALL:agent:{"description":"sub work","prompt":"sub prompt SAY:sub-answer","subagent_type":"general-purpose"}END`, "sub-answer", 1035), 1033),
			words(`Background agent "general-purpose: sub work" completed.`, "mock answer 36", 1036),
			words("tui six SAY:tui-answer-six", "tui-answer-six", 1037),
		}},
		{"stop-hook", []said{
			launched(words(`sub CALL:agent:{"description":"sub work","prompt":"sub prompt RUN:echo sub > sub.txt","subagent_type":"general-purpose"}END`, "mock answer 25", 1025), 1023),
			words(`Background agent "general-purpose: sub work" completed.`, "mock answer 27", 1027),
			sentOn,
		}},
		{"rewound", rewound},
		{"forked", append(rewound[:4:4], rewound[6], rewound[7], words("TF1 SAY:forked", "forked", 1032))},
	} {
		got := turns(capture(t, tt.name))
		for i := range max(len(got), len(tt.want)) {
			var g, w said
			if i < len(got) {
				g = got[i]
			}
			if i < len(tt.want) {
				w = tt.want[i]
			}
			if !reflect.DeepEqual(g, w) {
				t.Errorf("%s, turn %d:\ngot  %+v\nwant %+v", tt.name, i+1, g, w)
			}
		}
	}
}

// A turn begins with its prompt's record, and has the id of that.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, name := range captures(t) {
		data := capture(t, name)
		for _, turn := range transcript.Turns(Reader(), data) {
			if line := data[turn.Start:]; !bytes.HasPrefix(line, []byte(`{"uuid":"`+turn.PromptID+`",`)) || turn.At.IsZero() || turn.Cwd == "" {
				t.Errorf("%s: %+v begins with %.60s", name, turn, line)
			}
		}
	}
}

// How full the context is: what the last request has sent or, after a compaction, what is left.
func TestUsage(t *testing.T) {
	t.Parallel()
	u, err := transcript.LastUsage(Reader, filepath.Join("testdata", "three-turns.jsonl"))
	if err != nil || u.Tokens != 1007 || u.Model != "mock-model" {
		t.Errorf("%+v, %v", u, err)
	}
	e := Reader().Read(0, []byte(`{"uuid":"a","type":"assistant","contextWindowSize":200000,"message":{"parts":[{"text":"x"}]},"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":5,"thoughtsTokenCount":9}}`))
	if want := (transcript.Tokens{Input: 7, Output: 14}); e.Window != 200_000 || e.Context != 7 || e.Tokens != want {
		t.Errorf("%+v", e)
	}
}

// TestParts: what is said in lines of every kind.
func TestParts(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]transcript.Part{
		`{"uuid":"a","type":"user","message":{"parts":[{"text":"<system-reminder>\nx\n</system-reminder>\n\n"},{"text":"go"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}`: {
			{Kind: transcript.Asked, Text: "go", Files: []transcript.Attached{{Kind: "image", Media: "image/png", Size: 3}}},
		},
		`{"uuid":"a","type":"user","message":{"parts":[{"text":"go"},{"text":"<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>"}]},"systemPayload":{"displayText":"/go","hookContext":"x"}}`: {
			{Kind: transcript.Asked, Text: "/go"},
		},
		`{"uuid":"a","type":"user","subtype":"notification","message":{"parts":[{"text":"<task-notification>\n<result>done</result>\n</task-notification>"}]},"systemPayload":{"displayText":"Background agent x completed."}}`: {
			{Kind: transcript.Task, Name: "Background agent x completed.", Text: "done"},
		},
		`{"uuid":"a","type":"user","subtype":"mid_turn_user_message","message":{"parts":[{"text":"wait"}]},"systemPayload":{"displayText":"wait"}}`: {
			{Kind: transcript.Queued, Text: "wait"},
		},
		`{"uuid":"a","type":"user","subtype":"goal_runtime","message":{"parts":[{"text":"go on"}]}}`: {{Kind: transcript.Told, Text: "go on"}},
		`{"uuid":"a","type":"assistant","message":{"parts":[{"text":"hm","thought":true},{"text":"ye"},{"text":"s"}]}}`: {
			{Kind: transcript.Thought, Text: "hm"}, {Kind: transcript.Said, Text: "yes"},
		},
		`{"uuid":"a","type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c","response":{"error":"no"}}}]},"toolCallResult":{"status":"error"}}`: {
			{Kind: transcript.Answer, Call: "c", Text: "no", Failed: true},
		},
		`{"uuid":"a","type":"system","subtype":"slash_command","systemPayload":{"phase":"invocation","rawCommand":"/stats"}}`: {
			{Kind: transcript.Asked, Text: "/stats"},
		},
		`{"uuid":"a","type":"system","subtype":"slash_command","systemPayload":{"phase":"result","outputHistoryItems":[{"type":"info","text":"3 turns"},{"type":"stats"}]}}`: {
			{Kind: transcript.Shell, Text: "3 turns"},
		},
		`{"uuid":"a","type":"system","subtype":"slash_command","systemPayload":{"phase":"invocation","rawCommand":"/mine","sentToModel":true}}`:                                          nil,
		`{"uuid":"a","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","prompt_id":"s#general-purpose-1#0","error_message":"x"}}}`: nil,
	} {
		if e := Reader().Read(0, []byte(line)); !reflect.DeepEqual(e.Parts, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", line, e.Parts, want)
		}
	}
	e := Reader().Read(0, []byte(`{"uuid":"a","type":"assistant","message":{"parts":[{"functionCall":{"name":"todo_write","args":{"todos":[{"content":"x","status":"pending"},{"content":""}]}}}]}}`))
	if want := []transcript.Todo{{Text: "x", Status: "pending"}}; !reflect.DeepEqual(e.Todos, want) || e.Answers {
		t.Errorf("%+v", e)
	}
}

// hostile are lines that the client doesn't write.
var hostile = []string{
	``, `{`, `[]`, `null`, `{}`, `{"type":"user"}`, `{"uuid":1,"type":"user","message":7}`, `{"uuid":"a","type":"user","message":{"parts":{}}}`,
	`{"uuid":"a","type":"user","message":{"parts":[null,1,[],{"text":1},{"inlineData":{"data":7}}]},"systemPayload":[]}`,
	`{"uuid":"a","type":"user","subtype":7,"isSidechain":1,"message":{"role":"system","parts":[{"text":"x"}]}}`,
	`{"uuid":"a","type":"assistant","message":{"parts":[{"functionCall":1},{"functionCall":{"name":[],"args":"x"}},{"text":{}}]},"usageMetadata":[1]}`,
	`{"uuid":"a","type":"assistant","model":7,"contextWindowSize":-1,"usageMetadata":{"promptTokenCount":-1,"cachedContentTokenCount":1e99,"totalTokenCount":"x"}}`,
	`{"uuid":"a","type":"tool_result","message":{"parts":[{"functionResponse":{"parts":7,"response":"x"}}]},"toolCallResult":7}`,
	`{"uuid":"a","type":"system","subtype":"chat_compression","systemPayload":{"info":7,"compressedHistory":{"0":1}}}`,
	`{"uuid":"a","type":"system","subtype":"slash_command","systemPayload":{"phase":1,"outputHistoryItems":{"text":"x"}}}`,
	`{"uuid":"a","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","prompt_id":"########","error_message":{}}}}`,
	`{"uuid":"a","type":"user","message":{"parts":[{"text":"` + "\xff" + `"}]}}`, `{"uuid":"a","uuid":"b","parentUuid":"a","type":"user","message":{"role":"user","parts":[{"text":"x"}]}}`,
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for _, line := range hostile {
		e := Reader().Read(0, []byte(line))
		if e.Context < 0 || e.Tokens.Input < 0 || e.Tokens.Output < 0 {
			t.Errorf("%s: %+v", line, e)
		}
	}
}

// FuzzReader: whatever a file has in it, what is read of it is text, each turn goes on from one of it, and a new
// session made of it is one that says the same.
func FuzzReader(f *testing.F) {
	for _, name := range captures(f) {
		f.Add(capture(f, name))
	}
	for _, line := range hostile {
		f.Add([]byte(line + "\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, turn := range turns(data) {
			if !utf8.ValidString(turn.Prompt) || !utf8.ValidString(turn.Reply) {
				t.Errorf("%+v", turn)
			}
		}
		for at := range data {
			if id, jumps, _ := goesOn(data, at); id != "" && !jumps {
				t.Errorf("at %d it goes on from %q without a jump", at, id)
			}
			if at > 1000 {
				break
			}
		}
		for _, foreign := range []bool{false, true} {
			rebuilt, err := Rebuild(cut(t.TempDir(), foreign, data))
			if err != nil {
				continue
			}
			once := bytes.Join(rebuilt.Pieces, nil)
			again, err := Rebuild(cut(t.TempDir(), foreign, once))
			if err != nil || !bytes.Equal(bytes.Join(again.Pieces, nil), once) {
				t.Errorf("rebuilt twice: %v\n%s\n%s", err, once, bytes.Join(again.Pieces, nil))
			}
		}
	})
}
