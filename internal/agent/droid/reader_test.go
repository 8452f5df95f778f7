package droid

import (
	"bytes"
	"reflect"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	const mock = "custom:Mock-0"
	const fault = "BYOK Error: 400 mock failure 400\n\nUpstream error: mock failure 400\n\nTroubleshooting tips for custom models:\n1. Verify the \"provider\" type in your BYOK config matches your endpoint (use \"openai\" for GPT-4o/GPT-5+/o-series/Codex, \"anthropic\" for Claude, \"generic-chat-completion-api\" for other OpenAI-compatible APIs)\n2. Ensure your baseUrl is reachable and the API key is valid\n3. Check that the model name matches what your endpoint expects"
	type told = agenttest.Told
	execute := map[string]int{"Execute": 1}
	agenttest.Reads(t, Reader, map[string][]told{
		"three-turns": {
			{Prompt: "turn one SAY:answer one", Reply: "answer one", Model: mock, Answered: true},
			{Prompt: "turn two RUN:env | sort > env.txt", Reply: "mock answer 8", Model: mock, Tools: execute, Answered: true},
			{Prompt: "turn three SAY:answer three", Reply: "answer three", Model: mock, Answered: true},
		},
		"failed":      {{Prompt: "turn FAIL:400", Reply: fault, Error: true}},
		"interrupted": {{Prompt: "inted SLOW:61009"}},
		"compacted": {
			{Prompt: "T1 hello", Reply: "A1 done", Model: mock, Answered: true},
			{Prompt: "T2 hello", Reply: "mock: ok", Model: mock, Tools: execute, Answered: true},
			{Prompt: "TFULL", Reply: "mock: ok", Model: mock, Tools: execute, Compactions: 1, Answered: true},
		},
	})
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
		for _, turn := range transcript.Turns(Reader(), data) {
			s := transcript.Summarise(Reader(), data[turn.Start:turn.End])
			if turn.PromptID != turn.UUID || len(turn.PromptID) != 36 || s.Started.IsZero() || s.Ended.IsZero() && name != "interrupted" {
				t.Errorf("%s: a turn is %+v, %+v", name, turn, s)
			}
		}
	}
}

// TestEntry: lines that the captures lack.
func TestEntry(t *testing.T) {
	t.Parallel()
	message := func(fields string) string { return `{"type":"message","id":"m","message":{` + fields + `}}` }
	for line, want := range map[string]transcript.Entry{
		message(`"role":"user","content":"hello"`): {
			ID: "m", Opens: &transcript.FileTurn{Start: 7, UUID: "m", PromptID: "m", Prompt: "hello"}, Parts: []transcript.Part{{Kind: transcript.Asked, Text: "hello"}},
		},
		message(`"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"look"},{"type":"image","source":{"media_type":"image/png","data":"AAAA"}}]`): {
			ID: "m", Opens: &transcript.FileTurn{Start: 7, UUID: "m", PromptID: "m", Prompt: "look"},
			Parts: []transcript.Part{{Kind: transcript.Asked, Text: "look", Files: []transcript.Attached{{Kind: "image", Media: "image/png", Size: 3}}}},
		},
		message(`"role":"user","visibility":"llm_only","content":"go on"`):          {ID: "m", Parts: []transcript.Part{{Kind: transcript.Told, Text: "go on"}}},
		message(`"role":"user","hookEventName":"Stop","content":"typed by nobody"`): {ID: "m"},
		message(`"role":"assistant","isError":true,"content":"overloaded"`): {
			ID: "m", Message: "m", Failed: true, Parts: []transcript.Part{{Kind: transcript.Said, Text: "overloaded"}},
		},
		message(`"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]`): {ID: "m", Message: "m", Parts: []transcript.Part{{Kind: transcript.Thought, Text: "hm"}}},
		`{"type":"session_start","id":"s","cwd":"/home/dev/x"}`:                       {Cwd: "/home/dev/x"},
		`{"type":"agent_turn_outcome","turnId":"m","reason":"completed"}`:             {},
		`{"type":"agent_turn_outcome","turnId":"m","reason":"cancelled"}`:             {Interrupted: true},
		`{"type":"agent_turn_outcome","turnId":"m","reason":"model_rate_limited"}`:    {Failed: true},
		``: {}, `[]`: {}, `"message"`: {}, `{"type":"message"`: {}, `{"type":1}`: {}, `{"type":"todo_state","id":"x"}`: {},
	} {
		if got := Reader().Read(7, []byte(line)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", line, got, want)
		}
	}
}

// FuzzReader: whatever the lines, reading ends, what is said can be shown, and what is kept is kept again.
func FuzzReader(f *testing.F) {
	for _, name := range agenttest.Captures(f) {
		for line := range bytes.Lines(agenttest.Capture(f, name)) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r := new(reader)
		for range 2 {
			e := r.Read(0, line)
			if e.Opens != nil && e.Opens.Start != 0 {
				t.Errorf("it opens %+v", e.Opens)
			}
			agenttest.Sound(t, &e)
		}
		for _, foreign := range []bool{false, true} {
			kept, message := keep(line, `"p"`, foreign)
			if kept == nil {
				continue
			}
			if same, again := keep(kept, `"p"`, foreign); again != message || !bytes.Equal(same, kept) {
				t.Errorf("%s, kept as %s, and then as %s", line, kept, same)
			}
		}
	})
}
