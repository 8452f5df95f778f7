package gemini

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

// TestReader reads what the real client wrote: resumed within the minute and later, and in a terminal.
func TestReader(t *testing.T) {
	t.Parallel()
	type told = agenttest.Told
	const model = "gemini-2.5-pro"
	shell := func(times int) map[string]int { return map[string]int{"run_shell_command": times} }
	cached := func(requests int64) transcript.Tokens {
		return transcript.Tokens{Input: 312 * requests, CacheRead: 15000 * requests, Output: 42 * requests}
	}
	words := func(prompt, reply string) told {
		return told{Prompt: prompt, Reply: reply, Model: model, Context: 15312, Tokens: cached(1), Answered: true}
	}
	one := told{
		Prompt: "T1 hello", Reply: "A1 done: wrote one.txt", Model: model, Tools: shell(1), Context: 1103,
		Tokens: transcript.Tokens{Input: 1101 + 102, CacheRead: 1001, Output: 11 + 12}, Answered: true,
	}
	two := words("T2 hello", "A2 done: bash ran")
	two.Tools, two.Tokens = shell(2), cached(2)
	full := words("TFULL hello", "AFULL done")
	full.Tools = shell(1)
	full.Tokens = transcript.Tokens{Input: 900000 + 312, CacheRead: 30000, Output: 50 + 42}
	compacted := full
	compacted.Compactions = 1
	agenttest.Reads(t, Reader, map[string][]told{
		"two-turns": {
			{Prompt: "hello gemini", Reply: "gemini mock answer 1", Model: model, Context: 1001, Tokens: transcript.Tokens{Input: 1001, Output: 20}, Answered: true},
			{Prompt: "second gemini", Reply: "gemini mock answer 2", Model: model, Context: 1002, Tokens: transcript.Tokens{Input: 1002, Output: 20}, Answered: true},
		},
		"resumed": {full, words("T3 hello", "A3 done: no file change, just words")},
		"tui": {
			one,
			{Prompt: "TERR hello", Reply: "mock: scripted failure", Error: true},
			compacted,
			two,
			{Prompt: "TTOOL hello", Model: model, Tools: shell(1), Context: 15312, Tokens: cached(1), Interrupted: true},
			words("[System: You successfully executed a tool but returned an empty response. Please analyze the tool output and explain your progress or final answer.]", "mock: ok"),
			words("T3 hello", "A3 done: no file change, just words"),
			words("/compressT5 hello", "mock: ok"),
			words("T3 again", "A3 done: no file change, just words"),
		},
	})
}

// TestAnswers: what a tool has answered, in every form that there is, once.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		call   string // its members besides the id and the name
		want   string
		failed bool
		how    evidence.How
	}{
		{`"result":"a text"`, "a text", false, evidence.Untold},
		{`"result":[{"functionResponse":{"response":{"output":"an output"}}}]`, "an output", false, evidence.Untold},
		{`"status":"error","result":[{"functionResponse":{"response":{"error":"an error"}}}]`, "an error", true, evidence.Untold},
		{`"status":"cancelled","result":[{"functionResponse":{"response":{"output":"one","error":"two"}}}]`, "one\ntwo", true, evidence.Halted},
		{`"status":"success","result":[{"functionResponse":{"response":{"output":"one"}}},{"functionResponse":{"response":{"output":"two"}}}]`, "one\ntwo", false, evidence.Untold},
		{`"result":[{"text":"no answer"}]`, "", false, evidence.Untold},
	} {
		r := Reader()
		line := []byte(`{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"c","name":"read_file","args":{},` + tt.call + `}]}`)
		e := r.Read(0, line)
		want := transcript.Part{Kind: transcript.Answer, Call: "c", Failed: tt.failed, Text: tt.want, Ended: evidence.Ended{How: tt.how}}
		if len(e.Parts) != 2 || e.Parts[0].Kind != transcript.Call || !reflect.DeepEqual(e.Parts[1], want) {
			t.Errorf("%s: %+v", tt.call, e.Parts)
		}
		if e = r.Read(len(line), line); len(e.Parts) != 0 {
			t.Errorf("%s, again: %+v", tt.call, e.Parts)
		}
	}
	// A call is written when it begins, and once more when it has ended.
	r := Reader()
	first := r.Read(0, []byte(`{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"c","name":"read_file","args":{}}]}`))
	second := r.Read(1, []byte(`{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"c","name":"read_file","args":{},"result":"x"}]}`))
	if len(first.Parts) != 1 || first.Parts[0].Kind != transcript.Call || len(second.Parts) != 1 || second.Parts[0].Text != "x" {
		t.Errorf("%+v, then %+v", first.Parts, second.Parts)
	}
}

// A turn begins with its prompt's line, and has the id of that.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, name := range agenttest.Captures(t) {
		data := agenttest.Capture(t, name)
		for _, turn := range transcript.Turns(Reader(), data) {
			if line := data[turn.Start:]; !bytes.HasPrefix(line, []byte(`{"id":"`+turn.PromptID+`","timestamp":"`)) || turn.At.IsZero() {
				t.Errorf("%s: %+v begins with %.60s", name, turn, line)
			}
		}
	}
}

// How full the context is: what the last request has sent.
func TestUsage(t *testing.T) {
	t.Parallel()
	u, err := transcript.LastUsage(Reader, filepath.Join("testdata", "two-turns.jsonl"))
	if err != nil || u.Tokens != 1002 || u.Model != "gemini-2.5-pro" {
		t.Errorf("%+v, %v", u, err)
	}
}

// hostile are lines that the client doesn't write.
var hostile = []string{
	``, `{`, `[]`, `null`, `{}`, `{"$set":null}`, `{"$set":{"messages":null}}`, `{"$set":{"messages":[null,1,[],{"type":"user"}]}}`,
	`{"$set":[{"messages":[]}]}`, `{"$rewindTo":1}`, `{"$rewindTo":"x"}`, `{"id":1,"type":"user"}`, `{"id":"a","type":"user","content":7}`,
	`{"id":"a","type":"user","content":{"text":"x"}}`, `{"id":"a","type":"user","content":["x",{"text":1},{"text":"<hook_context>"}]}`,
	`{"id":"a","type":"gemini","content":null,"toolCalls":{"id":1},"thoughts":"x","tokens":[1]}`,
	`{"id":"a","type":"gemini","content":"x","toolCalls":[{},{"id":"c","result":[{"functionResponse":1}]},7],"tokens":{"input":-1,"cached":1e99,"output":"x"}}`,
	`{"id":"a","type":"error"}`, `{"id":"a","type":"error","content":"[API Error: {\"error\":{\"message\":1}}]"}`, `{"id":"a","type":"info","content":{}}`,
	`{"sessionId":1,"projectHash":[]}`, `{"id":"a","type":"user","content":"` + "\xff" + `"}`, `{"id":"a","id":"b","type":"user","content":"x"}`,
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
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, turn := range agenttest.Turns(Reader, data) {
			if !utf8.ValidString(turn.Prompt) || !utf8.ValidString(turn.Reply) {
				t.Errorf("%+v", turn)
			}
		}
		for _, foreign := range []bool{false, true} {
			agenttest.Rebuilds(t, Rebuild, cut(t.TempDir(), foreign, data))
		}
	})
}

// TestSteering: what was typed while a turn ran belongs to it.
func TestSteering(t *testing.T) {
	t.Parallel()
	answered := `{"functionResponse":{"id":"c","name":"run_shell_command","response":{"output":"x"}}}`
	for text, want := range map[string][]transcript.Part{
		`User steering update:\n<user_input>\nuse tabs\n</user_input>\nInternal instruction: Re-evaluate.`: {{Kind: transcript.Queued, Text: "use tabs"}},
		`User steering update:\n<user_input>\nuse tabs`:                                                    nil,
		`Background execution update:\n<background_output>\ndone\n</background_output>`:                    nil,
	} {
		line := `{"id":"a","timestamp":"2026-11-29T10:00:00Z","type":"user","content":[{"text":"` + text + `"},` + answered + `]}`
		if e := Reader().Read(0, []byte(line)); e.Opens != nil || !reflect.DeepEqual(e.Parts, want) {
			t.Errorf("%s: %+v opens %+v", text, e.Parts, e.Opens)
		}
	}
}
