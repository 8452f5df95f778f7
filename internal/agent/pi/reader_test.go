package pi

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
)

// TestReader reads what the real client wrote: headless, in a terminal with prompts that waited, gone back in, compacted.
func TestReader(t *testing.T) {
	t.Parallel()
	type told = agenttest.Told
	bash := map[string]int{"bash": 1}
	tokens := func(input, cached, output int64) transcript.Tokens {
		return transcript.Tokens{Input: input, CacheRead: cached, Output: output}
	}
	answered := func(prompt, reply string, input int64) told {
		return told{Prompt: prompt, Reply: reply, Model: "mock-model", Context: input + 400, Tokens: tokens(input, 400, 20), Answered: true}
	}
	worked := func(prompt, reply string, tools map[string]int, requests int64) told {
		return told{Prompt: prompt, Reply: reply, Model: "gpt-mock", Tools: tools, Context: 15312, Tokens: tokens(312*requests, 15000*requests, 42*requests), Answered: true}
	}
	two := answered("turn two RUN:env | sort > env.txt; ps -o pid,ppid,args -e > ps.txt", "mock answer 3", 603)
	two.Tools, two.Tokens = bash, tokens(602+603, 800, 40)
	tui := answered("tui three RUN:touch three.txt; sleep 0", "mock answer 12", 612)
	tui.Tools, tui.Tokens = bash, tokens(611+612, 800, 40)
	full := answered("compact two SAY:second TOK:99500", "second TOK:99500", 99121)
	full.Compactions, full.Tokens = 1, tokens(99121+622, 800, 40)
	stopped := told{Prompt: "tui two SLOW:61000", Model: "mock-model", Interrupted: true}
	steered := worked("TSLOW hello", "mock: ok", bash, 2)
	steered.Queued = []string{"steer me"}
	followed := worked("TSLOW two", "mock: ok", bash, 3)
	followed.Queued = []string{"follow up"}
	halted := worked("TSLOW three", "", bash, 1)
	halted.Answered, halted.Interrupted = false, true
	compacted := worked("TBIGT go", "mock: ok", bash, 1)
	compacted.Compactions, compacted.Tokens = 2, tokens(195000+312*4, 15000*5, 5+42*4)
	agenttest.Reads(t, Reader, map[string][]told{
		"three-turns": {answered("turn one SAY:answer one", "mock answer 1", 601), two, answered("turn three SAY:answer three", "answer three", 604)},
		"tree": {
			answered("tui one SAY:tui-answer-one", "tui-answer-one", 609), stopped, tui,
			answered("tui four SAY:tui-answer-four", "tui-answer-four", 613), answered("tui five SAY:tui-answer-five", "tui-answer-five", 614),
		},
		"forked":    {answered("tui one SAY:tui-answer-one", "tui-answer-one", 609), stopped, tui, answered("tui six SAY:tui-answer-six", "tui-answer-six", 615)},
		"compacted": {answered("compact one SAY:first", "first", 620), full, answered("compact three SAY:third", "third", 623)},
		"failed":    {{Prompt: "turn FAIL:400", Reply: `400: {"message":"mock failure 400","type":"invalid_request_error","code":"mock"}`, Model: "mock-model", Error: true}},
		"queued":    {steered, followed, halted, compacted, worked("T1 again", "A1 done", bash, 2)},
	})
}

// TestParts: what each kind of entry says.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry string // its members besides the id
		want  []transcript.Part
	}{
		{`"type":"custom_message","content":"told"`, []transcript.Part{{Kind: transcript.Told, Text: "told"}}},
		{`"type":"branch_summary","summary":"left"`, []transcript.Part{{Kind: transcript.Told, Text: "left"}}},
		{`"type":"compaction","summary":"all"`, []transcript.Part{{Kind: transcript.Gist, Text: "all"}}},
		{`"type":"custom","data":{"text":"x"}`, nil},
		{`"type":"message","message":{"role":"system","content":"x"}`, nil},
		{`"type":"message","message":{"role":"bashExecution","command":"ls","output":"a"}`, []transcript.Part{{Kind: transcript.Asked, Text: "!ls"}, {Kind: transcript.Shell, Text: "a"}}},
		{
			`"type":"message","message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`,
			[]transcript.Part{{Kind: transcript.Asked, Text: "see", Files: []transcript.Attached{{Kind: "image", Media: "image/png", Size: 3}}}},
		},
		{
			`"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"}],"stopReason":"length"}`,
			[]transcript.Part{{Kind: transcript.Thought, Text: "hm"}, {Kind: transcript.Said, Text: "so"}},
		},
		{`"type":"message","message":{"role":"toolResult","toolCallId":"c","content":"no","isError":true}`, []transcript.Part{{Kind: transcript.Answer, Call: "c", Text: "no", Failed: true, Ended: evidence.Ended{How: evidence.Refused}}}},
	} {
		if e := Reader().Read(0, []byte(`{"id":"a",`+tt.entry+`}`)); !reflect.DeepEqual(e.Parts, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.entry, e.Parts, tt.want)
		}
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	const skill = "<skill name=\"tidy\" location=\"/s/SKILL.md\">\nTidy </skill>.\n</skill>"
	for prompt, want := range map[string]string{
		"": "", "x": "x", skill: "/skill:tidy", skill + "\n\nall\nof it": "/skill:tidy all\nof it",
		"say " + skill: "say " + skill, `<skill name="x`: `<skill name="x`, `<skill name="x" location="y">`: `<skill name="x" location="y">`,
	} {
		if got := typed(prompt); got != want {
			t.Errorf("%q: got %q, want %q", prompt, got, want)
		}
	}
}

// A turn begins with its prompt's line, and has the id of that.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
		for _, turn := range transcript.Turns(Reader(), data) {
			if line := data[turn.Start:]; !bytes.HasPrefix(line, []byte(`{"type":"message","id":"`+turn.PromptID+`","parentId":"`)) || turn.At.IsZero() {
				t.Errorf("%s: %+v begins with %.60s", name, turn, line)
			}
		}
	}
}

// How full the context is: what the last request has sent.
func TestUsage(t *testing.T) {
	t.Parallel()
	u, err := transcript.LastUsage(Reader, filepath.Join("testdata", "three-turns.jsonl"))
	if err != nil || u.Tokens != 1004 || u.Model != "mock-model" {
		t.Errorf("%+v, %v", u, err)
	}
}

// hostile are lines that the client doesn't write.
var hostile = []string{
	``, `{`, `[]`, `null`, `{}`, `{"type":1}`, `{"type":"message"}`, `{"type":"message","id":7,"message":[]}`, `{"type":"session","cwd":{}}`,
	`{"type":"message","id":"a","parentId":"a","message":{"role":"user","content":7,"timestamp":-1}}`,
	`{"type":"message","id":"a","parentId":["b"],"message":{"role":"user","content":[null,1,{"type":"text","text":{}}],"timestamp":1e400}}`,
	`{"type":"message","id":"b","parentId":"a","timestamp":"never","message":{"role":"assistant","content":{"type":"text"},"usage":{"input":-1,"output":1e99,"cacheRead":"x"},"stopReason":"deferred","deferred":{"id":"x"}}}`,
	`{"type":"message","id":"../x","parentId":null,"message":{"role":"user","content":"x"}}`,
	`{"type":"message","id":"c","parentId":"b","message":{"role":"assistant","provider":"p","model":"m","stopReason":"stop","content":[{"type":"toolCall","id":"i","name":"n","arguments":[1]},{"type":"other"}]}}`,
	`{"type":"message","id":"c","id":"d","parentId":"b","message":{"role":"user","content":"` + "\xff" + `"}}`,
	`{"type":"compaction","id":"e","parentId":"e","summary":"s","firstKeptEntryId":"z","tokensBefore":-5,"systemMessage":"x"}`,
	`{"type":"context_edit","id":"f","parentId":"a","targetId":"a","replacement":{"content":7}}`,
	`{"type":"custom_message","id":"g","parentId":"a","customType":"x","content":{}}`,
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for _, line := range hostile {
		e := Reader().Read(0, []byte(line))
		agenttest.Sound(t, &e)
	}
}

// FuzzReader: whatever a file has in it, what is read of it is text, and a new session made of it is
// one that says the same.
func FuzzReader(f *testing.F) {
	for _, name := range agenttest.Captures(f) {
		f.Add(agenttest.Capture(f, name))
	}
	for _, line := range hostile {
		f.Add([]byte(line + "\n"))
	}
	f.Add([]byte(strings.Join(hostile, "\n") + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, turn := range agenttest.Turns(Reader, data) {
			if !utf8.ValidString(turn.Prompt) || !utf8.ValidString(turn.Reply) {
				t.Errorf("%+v", turn)
			}
		}
		at := int64(len(data) / 2)
		from, last, _ := goesOn(data, at, true)
		near, before, known := goesOn(data[at/2:], at-at/2, false)
		if known && ((near == before) != (from == last) || near != before && near != from) {
			t.Errorf("of a part it goes on from %q after %q, of all from %q after %q", near, before, from, last)
		}
		for _, foreign := range []bool{false, true} {
			agenttest.Rebuilds(t, Rebuild, cut(t.TempDir(), foreign, data))
		}
	})
}
