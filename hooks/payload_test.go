package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"gitagent/test/gittest"
)

// captured returns payloads that real clients sent, by name: those of Claude Code that the whole
// project uses, and in testdata/payloads.jsonl those of Codex and some more of Claude Code.
func captured(t testing.TB) map[string][]byte {
	t.Helper()
	type capture struct {
		Name    string
		Payload json.RawMessage
	}
	all := map[string][]byte{}
	add := func(name string, data []byte) {
		c := capture{Name: name}
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[c.Name] = c.Payload
	}
	files, err := filepath.Glob(filepath.Join("..", "testdata", "payloads", "*.json"))
	gittest.Must(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		gittest.Must(t, err)
		add("claude-code/"+strings.TrimSuffix(filepath.Base(file), ".json"), data)
	}
	data, err := os.ReadFile(filepath.Join("testdata", "payloads.jsonl"))
	gittest.Must(t, err)
	for line := range bytes.Lines(data) {
		add("", line)
	}
	if len(all) < 60 {
		t.Fatalf("%d captured payloads", len(all))
	}
	return all
}

// reference decodes a payload as [Parse] does, but through encoding/json.
// ok is false if a field has the wrong type or the payload is not an object.
func reference(data []byte) (e Payload, ok bool) {
	var fields map[string]json.RawMessage // a map, because struct fields match names in any case
	if json.Unmarshal(data, &fields) != nil || fields == nil {
		return e, false
	}
	var turnID string
	for name, field := range map[string]any{
		"hook_event_name": &e.Name, "session_id": &e.SessionID, "transcript_path": &e.TranscriptPath, "cwd": &e.Cwd,
		"prompt_id": &e.PromptID, "turn_id": &turnID, "prompt": &e.Prompt, "submitted_prompt": &e.Submitted, "last_assistant_message": &e.LastAssistantMessage,
		"stop_hook_active": &e.StopHookActive, "source": &e.Source, "reason": &e.Reason, "error": &e.Error,
		"trigger": &e.Trigger, "model": &e.Model, "agent_id": &e.AgentID, "agent_type": &e.AgentType, "parent_agent_id": &e.ParentID,
	} {
		if raw := fields[name]; raw != nil && json.Unmarshal(raw, field) != nil {
			return e, false
		}
	}
	if e.PromptID == "" {
		e.PromptID = turnID
	}
	var calls []json.RawMessage
	if json.Unmarshal(fields["tool_calls"], &calls) == nil {
		for _, c := range calls {
			if c[0] == '{' {
				e.ToolCalls++
				if len(e.Calls) < MaxCalls {
					e.Calls = append(e.Calls, referenceCall(c))
				}
			}
		}
	}
	var window string
	_ = json.Unmarshal(fields["git_agent_window"], &window)
	e.Window, _ = strconv.ParseInt(window, 10, 64)
	e.Window = max(0, e.Window)
	if one := referenceCall(data); one.Tool != "" {
		e.Calls = []Call{one}
		var began string
		_ = json.Unmarshal(fields["git_agent_call_began"], &began)
		e.CallBegan, _ = strconv.ParseInt(began, 10, 64)
	}
	return e, true
}

func referenceCall(data []byte) (c Call) {
	var fields, input map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields)
	_ = json.Unmarshal(fields["tool_input"], &input)
	text := func(raw json.RawMessage) (s string) { _ = json.Unmarshal(raw, &s); return s }
	c.Tool, c.ID, c.Command = text(fields["tool_name"]), text(fields["tool_use_id"]), text(input["command"])
	for _, name := range pathNames {
		if p := text(input[name]); p != "" {
			c.Paths = append(c.Paths, p)
		}
	}
	c.Background = string(input["run_in_background"]) == "true" || string(input["is_background"]) == "true"
	return c
}

// TestCalls: what is kept of calls, whatever they are made of.
func TestCalls(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`\n`, MaxCommand)
	for calls, want := range map[string][]Call{
		`[{"tool_name":"Edit","tool_use_id":"1","tool_input":{"old_string":"\"}]","file_path":"/a"}}]`:       {{Tool: "Edit", ID: "1", Effect: Edits, Paths: []string{"/a"}}},
		`[{"tool_input":{"path":"p","notebook_path":"n"},"tool_name":"Read"},{"tool_name":"Edit"}]`:          {{Tool: "Read", Effect: Reads, Paths: []string{"n", "p"}}, {Tool: "Edit"}},
		`[{"tool_name":"Bash","tool_input":{"command":"ls \u003e a","run_in_background":true}}]`:             {{Tool: "Bash", Command: "ls > a", Background: true}},
		`[{"tool_name":"sh","tool_input":{"is_background":true}},{"tool_input":{"is_background":1}}]`:        {{Tool: "sh", Background: true}, {}},
		`[{"tool_name":7,"tool_use_id":[{}],"tool_input":{"command":["ls"],"file_path":{"a":[]},"path":1}}]`: {{}},
		`[{"tool_name":"Edit","tool_input":[{"file_path":"a"}]},[{"tool_name":"Edit"}],"Edit",{}]`:           {{Tool: "Edit"}, {}},
		`[{"tool_name":"Bash","tool_input":{"command":"` + long + `"}}]`:                                     {{Tool: "Bash", Command: strings.Repeat("\n", MaxCommand/2), Cut: true}},
		`[{"tool_name":"Bash","tool_input":{"command":"x` + long + `"}}]`:                                    {{Tool: "Bash", Command: "x" + strings.Repeat("\n", MaxCommand/2), Cut: true}},
		`[{"tool_name":"Edit","tool_input":{"file_path":"` + long + `"}}]`:                                   {{Tool: "Edit"}},
		`[{"tool_input":{"file_path":"a"},"tool_input":{},"tool_name":"Edit"}]`:                              {{Tool: "Edit"}},
	} {
		e, err := Parse(strings.NewReader(`{"hook_event_name":"PostToolBatch","tool_calls":` + calls + `,"session_id":"s","cwd":"/r"}`))
		if err != nil {
			t.Errorf("%.100s: %v", calls, err)
			continue
		}
		e.Tell(func(tool string) Effect { return map[string]Effect{"Edit": Edits, "Read": Reads}[tool] })
		if !reflect.DeepEqual(e.Calls, want) {
			t.Errorf("%.100s: got %.300v, want %.300v", calls, e.Calls, want)
		}
	}
	many := `[{}` + strings.Repeat(`,{"tool_name":"Read"}`, MaxCalls) + `]`
	e, err := Parse(strings.NewReader(`{"hook_event_name":"PostToolBatch","session_id":"s","cwd":"/r","tool_calls":` + many + `}`))
	if err != nil || len(e.Calls) != MaxCalls || e.ToolCalls != MaxCalls+1 {
		t.Errorf("of many there are %d, %v", len(e.Calls), err)
	}
	e, err = Parse(strings.NewReader(`{"tool_name":"edit","tool_input":{"file_path":"a"},"git_agent_call_began":"5","git_agent_window":"9","hook_event_name":"PostToolUse","session_id":"s","cwd":"/r"}`))
	if want := []Call{{Tool: "edit", Paths: []string{"a"}}}; err != nil || !reflect.DeepEqual(e.Calls, want) || e.CallBegan != 5 || e.Window != 9 {
		t.Errorf("alone it is %+v, %v", e, err)
	}
}

func TestToolCalls(t *testing.T) {
	t.Parallel()
	for calls, want := range map[string]int{
		`[]`: 0, `[{}]`: 1, ` [ {"a":[{},{"b":"]"}]} , {} ]`: 2, `{"a":{},"b":{}}`: 0, `"[{}]"`: 0, `null`: 0, `[[{}],1]`: 0,
	} {
		e, err := Parse(strings.NewReader(`{"hook_event_name":"PostToolBatch","session_id":"s","cwd":"/r","tool_calls":` + calls + `}`))
		if err != nil || e.ToolCalls != want {
			t.Errorf("%s: %+v, %v, want %d calls", calls, e, err, want)
		}
	}
}

func TestParseCaptured(t *testing.T) {
	t.Parallel()
	for name, payload := range captured(t) {
		want, ok := reference(payload)
		if !ok || want.Name == "" || want.SessionID == "" {
			t.Fatalf("%s: not a payload: %s", name, payload)
		}
		got, err := Parse(bytes.NewReader(payload))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, *got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	payloads := captured(t)
	base := Payload{Name: "Stop", SessionID: "s", Cwd: "/r"}
	with := func(set func(e *Payload)) Payload {
		e := base
		set(&e)
		return e
	}
	for _, tt := range []struct {
		name, payload string
		want          Payload
	}{
		{"stop", string(payloads["claude-code/Stop"]), Payload{
			Name:                 "Stop",
			SessionID:            "5b603d06-8528-4d54-8275-dcebec74b87e",
			TranscriptPath:       "/home/dev/home/.claude/projects/-home-dev-repo/5b603d06-8528-4d54-8275-dcebec74b87e.jsonl",
			Cwd:                  "/home/dev/repo",
			PromptID:             "c60091d5-9d73-4bf8-93cf-f76c644d0ec7",
			LastAssistantMessage: "A1 done: wrote one.txt",
		}},
		{"codex has turn_id", string(payloads["codex/Stop"]), Payload{
			Name:                 "Stop",
			SessionID:            "01a1fb78-f074-7c62-afb1-90ff61f95387",
			TranscriptPath:       "/home/dev/codexhome/sessions/2026/11/21/rollout-2026-11-21T00-19-29-01a1fb78-f074-7c62-afb1-90ff61f95387.jsonl",
			Cwd:                  "/home/dev/cx",
			PromptID:             "01a1fb78-f08a-79f3-bbc8-704742320f1e",
			LastAssistantMessage: "codex mock answer 4",
			Model:                "gpt-mock",
		}},
		{
			"prompt_id wins over turn_id",
			`{"hook_event_name":"Stop","session_id":"s","cwd":"/r","prompt_id":"p","turn_id":"t"}`,
			with(func(e *Payload) { e.PromptID = "p" }),
		},
		{
			"submitted_prompt is what was typed",
			`{"hook_event_name":"Stop","session_id":"s","cwd":"/r","submitted_prompt":"go","prompt":"<system-reminder>\nx\n</system-reminder>\n\ngo"}`,
			with(func(e *Payload) { e.Prompt, e.Submitted = "<system-reminder>\nx\n</system-reminder>\n\ngo", "go" }),
		},
		{
			"white space, escapes in names, unknown fields of every kind",
			" {\r\n\t\"hook_event_name\" : \"Stop\" , \"a\":[{\"]\":\"}\\\"\"}],\"b\":{},\"c\":1e999,\"d\":null, \"session\\u005fid\":\"s\",\"cwd\":\"/r\" } ",
			base,
		},
		{
			"names are compared as they are written",
			`{"hook_event_name":"Stop","session_id":"s","cwd":"/r","CWD":"/x","Session_ID":"x"}`, base,
		},
		{
			"null is absent, the last of two wins",
			`{"hook_event_name":"Stop","session_id":"x","session_id":"s","cwd":"/r","transcript_path":null,"prompt":"x","prompt":null,"stop_hook_active":true,"stop_hook_active":null}`,
			base,
		},
		{
			"what follows the object is not read",
			`{"hook_event_name":"Stop","session_id":"s","cwd":"/r"}` + "\x00\x01", base,
		},
		{
			"stop hook active", `{"hook_event_name":"Stop","session_id":"s","cwd":"/r","stop_hook_active":true}`,
			with(func(e *Payload) { e.StopHookActive = true }),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(strings.NewReader(tt.payload))
			gittest.Must(t, err)
			if !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", *got, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const rest = `"hook_event_name":"Stop","session_id":"s","cwd":"/r"}`
	for _, tt := range []struct{ name, payload, want string }{
		{"nothing", "", "ends in the middle"},
		{"white space", " \n", "ends in the middle"},
		{"binary", "\x7fELF\x02\x01\x01\x00", `starts with '\x7f', want an object`},
		{"array", "[1]", "starts with '[', want an object"},
		{"null", "null", "starts with 'n', want an object"},
		{"no fields", "{}", "hook_event_name: missing"},
		{"no event", `{"session_id":"s","cwd":"/r"}`, "hook_event_name: missing"},
		{"no session", `{"hook_event_name":"Stop","cwd":"/r"}`, "session_id: missing"},
		{"no directory", `{"hook_event_name":"Stop","session_id":"s"}`, "cwd: missing"},
		{"session that climbs", `{"hook_event_name":"Stop","session_id":"../../x","cwd":"/r"}`, `session_id: "../../x" is not`},
		{"session like an option", `{"hook_event_name":"Stop","session_id":"-x","cwd":"/r"}`, `session_id: "-x" is not`},
		{"session with NUL", `{"hook_event_name":"Stop","session_id":"a\u0000","cwd":"/r"}`, `session_id: "a\x00" is not`},
		{"long session", `{"hook_event_name":"Stop","session_id":"` + strings.Repeat("a", 129) + `","cwd":"/r"}`, "session_id: \"aaaa"},
		{"relative directory", `{"hook_event_name":"Stop","session_id":"s","cwd":"r"}`, `cwd: "r" is not an absolute path`},
		{"directory with NUL", `{"hook_event_name":"Stop","session_id":"s","cwd":"/r\u0000"}`, `cwd: "/r\x00" is not an absolute path`},
		{"relative transcript", `{"transcript_path":"t",` + rest, `transcript_path: "t" is not an absolute path`},
		{"number for a string", `{"prompt":1,` + rest, "prompt: is a number, want a string"},
		{"object for a string", `{"prompt":{"a":"b"},` + rest, "prompt: is an object, want a string"},
		{"string for a boolean", `{"stop_hook_active":"true",` + rest, "stop_hook_active: is a string, want true or false"},
		{"bad escape", `{"prompt":"\x",` + rest, "prompt: invalid character"},
		{"half a literal", `{"stop_hook_active":tru,` + rest, "stop_hook_active: "},
		{"cut in a string", `{"prompt":"a`, "prompt: ends in the middle"},
		{"cut in an escape", `{"prompt":"a\`, "prompt: ends in the middle"},
		{"cut in what is skipped", `{"tool_input":{"a":[`, "tool_input: ends in the middle"},
		{"cut behind a name", `{"prompt"`, "prompt: ends in the middle"},
		{"cut behind a value", `{"prompt":"a"`, "prompt: ends in the middle"},
		{"cut in a name", `{"prompt":"a","ses`, "prompt: ends in the middle"},
		{"no colon", `{"prompt" "a"}`, `prompt: followed by '"', want a colon`},
		{"no comma", `{"prompt":"a" "b":1}`, `prompt: followed by '"', want a comma or the end`},
		{"no value", `{"prompt":,` + rest, "prompt: ',' in place of a value"},
		{"no name", `{"prompt":"a",}`, "prompt: followed by '}', want a field"},
		{"control characters in a name", "{\"a\\u001b[2J\":", `"a\x1b[2J": ends in the middle`},
		{"deep in a field of ours", `{"prompt":` + strings.Repeat("[", 20000), "prompt: nested deeper than 10000"},
		{"deep in what is skipped", `{"tool_input":` + strings.Repeat(`{"a":`, 20000), "tool_input: nested deeper than 10000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := Parse(strings.NewReader(tt.payload))
			if err == nil {
				t.Fatalf("no error, got %+v", e)
			}
			if !errors.Is(err, ErrPayload) {
				t.Errorf("%v does not wrap ErrPayload", err)
			}
			if want := "malformed hook payload: " + tt.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %q, want %q...", err, want)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestParseReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	_, err := Parse(io.MultiReader(strings.NewReader(`{"prompt":"a`), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || errors.Is(err, ErrPayload) {
		t.Errorf("got %v, want an error that wraps %q only", err, broken)
	}
}

// endless is a payload with an endless tool input.
type endless struct {
	start io.Reader
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.start.Read(p)
	if err == io.EOF {
		for n = range p {
			p[n] = 'a'
		}
		n, err = len(p), nil
	}
	e.read += n
	return n, err
}

// Not parallel: it measures what the process allocates.
func TestParseBounded(t *testing.T) {
	var before, after runtime.MemStats
	r := &endless{start: strings.NewReader(`{"hook_event_name":"PostToolBatch","tool_calls":[{"tool_input":{"content":"`)}
	runtime.ReadMemStats(&before)
	_, err := Parse(r)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrPayload) || !strings.HasSuffix(err.Error(), "tool_calls: larger than 64 MiB") {
		t.Errorf("got error %v", err)
	}
	if r.read != MaxPayload {
		t.Errorf("read %d bytes, want %d", r.read, MaxPayload)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("allocated %d bytes to skip %d", got, r.read)
	}
}

// A payload of exactly the limit is read.
func TestParseLargest(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	start := `{"hook_event_name":"Stop","session_id":"s","cwd":"/r","tool_input":"`
	if _, err := Parse(strings.NewReader(start + strings.Repeat("a", MaxPayload-len(start)-2) + `"}`)); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, payload := range captured(f) {
		f.Add([]byte(payload))
	}
	f.Add([]byte(`{"cwd":"/r","a":{"b":["\"]}"]},"session\u005fid":"s","hook_event_name":"Stop","stop_hook_active":true}`))
	f.Add([]byte(`{"cwd":"/r","cwd":null,"prompt":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse(bytes.NewReader(data))
		slow, slowErr := Parse(iotest.OneByteReader(bytes.NewReader(data)))
		if (err == nil) != (slowErr == nil) || err == nil && !reflect.DeepEqual(*got, *slow) {
			t.Fatalf("in one piece %+v, %v; byte by byte %+v, %v", got, err, slow, slowErr)
		}
		if err != nil && !errors.Is(err, ErrPayload) {
			t.Fatalf("error %v does not wrap ErrPayload", err)
		}
		if err == nil {
			if strings.ContainsAny(got.SessionID, "/\\.\x00") || !filepath.IsAbs(got.Cwd) || strings.Contains(got.Cwd, "\x00") {
				t.Fatalf("accepted %+v", got)
			}
		}
		if !json.Valid(data) {
			return
		}
		want, ok := reference(data)
		if ok = ok && want.check() == nil; ok != (err == nil) {
			t.Fatalf("error %v, but encoding/json gives %+v, %t", err, want, ok)
		}
		if ok && !reflect.DeepEqual(*got, want) {
			t.Fatalf("got %+v, encoding/json gives %+v", *got, want)
		}
	})
}

// Measured: 16 us for a payload of 5 KB, 0.7 ms for one with 1 MB of tool input.
func BenchmarkParse(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"5KB", 5 << 10}, {"1MB", 1 << 20}} {
		payload := `{"tool_calls":[{"tool_input":{"content":"` + strings.Repeat(`some\n text`, size.bytes/11) + `"}}],` +
			strings.TrimPrefix(string(captured(b)["claude-code/Stop"]), "{")
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(strings.NewReader(payload)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
