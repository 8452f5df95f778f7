package qwen

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
)

// TestReader reads what the real client wrote, without a terminal and in one.
func TestReader(t *testing.T) {
	t.Parallel()
	type told = agenttest.Told
	spent := func(requests, context int64) transcript.Tokens { // of requests, whose contexts have this sum
		return transcript.Tokens{Input: context - 400*requests, CacheRead: 400 * requests, Output: 20 * requests}
	}
	words := func(prompt, reply string, context int64) told {
		return told{Prompt: prompt, Reply: reply, Model: "mock-model", Context: context, Tokens: spent(1, context), Answered: true}
	}
	ran := func(s told, before int64) told {
		s.Tools, s.Tokens = map[string]int{"run_shell_command": 1}, spent(2, before+s.Context)
		return s
	}
	launched := func(s told, before int64) told {
		s = ran(s, before)
		s.Tools = map[string]int{"agent": 1}
		return s
	}
	compacted := words("big two SAY:second-big word0 lorem ipsum dolor word1 lorem i [elided 39413 characters]",
		"second-big word0 lorem ipsum dolor word1 lorem ipsum dolor w [elided 39400 characters]", 1042)
	compacted.Compactions = 1
	sentOn := words("T2 RUN:echo two > two.txt", "mock answer 31", 1031)
	sentOn.Tools, sentOn.Tokens = map[string]int{"run_shell_command": 2}, spent(4, 1028+1029+1030+1031)
	refused := func(prompt string) told { return told{Prompt: prompt, Reply: "400 mock failure 400", Error: true} }
	rewound := []told{
		words("T1 SAY:one", "one", 1015),
		{
			Prompt: "T2 RUN:echo half > half.txt; sleep 60", Model: "mock-model", Tools: map[string]int{"run_shell_command": 1},
			Context: 1016, Tokens: spent(1, 1016), Interrupted: true,
		},
		words("T3 SAY:three", "three", 1017), words("T41 SAY:four 1", "four 1", 1018),
		words("T42 SAY:four 2", "four 2", 1019), words("T43 SAY:four 3", "four 3", 1020),
		words("T44 SAY:four 4", "four 4", 1021), words("T45 SAY:four 5", "four 5", 1022),
	}
	agenttest.Reads(t, Reader, map[string][]told{
		"three-turns": {
			words("turn one SAY:answer one", "answer one", 1003),
			ran(words("turn two RUN:echo two > two.txt", "mock answer 6", 1006), 1005),
			words("turn three SAY:answer three", "answer three", 1007),
		},
		"failed": {refused("turn FAIL:400")},
		"compressed": {
			{Prompt: "big one SAY:first-big word0 lorem ipsum dolor word1 lorem ip [elided 39412 characters]"}, // stopped
			compacted,
			words("three SAY:tui-answer-three", "tui-answer-three", 1045), words("four SAY:tui-answer-four", "tui-answer-four", 1046),
			refused("seven FAIL:400"), refused("eight RUN:tail -f /dev/null"), refused("nine SAY:tui-answer-nine"),
		},
		"background": {
			words("tui five SAY:tui-answer-five", "tui-answer-five", 1032),
			launched(words(`sub CALL:agent:{"description":"sub work","prompt":"sub prompt SAY:sub-answer","subagent_type":"general-purpose"}END`, "sub-answer", 1035), 1033),
			words(`Background agent "general-purpose: sub work" completed.`, "mock answer 36", 1036),
			words("tui six SAY:tui-answer-six", "tui-answer-six", 1037),
		},
		"stop-hook": {
			launched(words(`sub CALL:agent:{"description":"sub work","prompt":"sub prompt RUN:echo sub > sub.txt","subagent_type":"general-purpose"}END`, "mock answer 25", 1025), 1023),
			words(`Background agent "general-purpose: sub work" completed.`, "mock answer 27", 1027),
			sentOn,
		},
		"rewound": rewound,
		"forked":  append(rewound[:4:4], rewound[6], rewound[7], words("TF1 SAY:forked", "forked", 1032)),
	})
}

// A turn begins with its prompt's record, and has the id of that.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
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
			{Kind: transcript.Answer, Call: "c", Text: "no", Failed: true, Ended: evidence.Ended{How: evidence.Refused}},
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
		agenttest.Sound(t, &e)
	}
}

// FuzzReader: whatever a file has in it, what is read of it is text, each turn goes on from one of it, and a new
// session made of it is one that says the same.
func FuzzReader(f *testing.F) {
	for _, name := range agenttest.Captures(f) {
		f.Add(agenttest.Capture(f, name))
	}
	for _, line := range hostile {
		f.Add([]byte(line + "\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, turn := range agenttest.Turns(Reader, data) {
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
			agenttest.Rebuilds(t, Rebuild, cut(t.TempDir(), foreign, data))
		}
	})
}
