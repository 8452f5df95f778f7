package gemini

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

// TestEvent: the client's payloads in the common words. What a turn's end is about is read from the file.
func TestEvent(t *testing.T) {
	t.Parallel()
	session := hooks.Payload{SessionID: "803193ae-2ca9-4c46-8548-8ade9edb1e44", Cwd: "/home/dev/gm"}
	event := func(name string, change func(*hooks.Payload)) hooks.Payload {
		e := session
		e.Name = name
		change(&e)
		return e
	}
	for file, want := range map[string]hooks.Payload{
		"BeforeAgent": event("UserPromptSubmit", func(e *hooks.Payload) { e.Prompt = "T1 hello" }),
		"AfterAgent":  event("Stop", func(e *hooks.Payload) { e.Prompt = "T1 hello" }),
		"AfterTool": event("PostToolUse", func(e *hooks.Payload) {
			e.Calls = []hooks.Call{{Tool: "run_shell_command", Command: "echo one > one.txt"}}
		}),
		"SessionEnd-clear": event("SessionEnd", func(e *hooks.Payload) { e.Reason = "clear" }),
	} {
		got := agenttest.Event(t, Event, file)
		got.TranscriptPath = ""
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, want %+v", file, *got, want)
		}
	}
}

// The client runs the same hook however a turn has ended: the file says how, and which it was.
func TestEnded(t *testing.T) {
	t.Parallel()
	data := string(agenttest.Capture(t, "tui"))
	for _, tt := range []struct{ until, name, prompt, said string }{
		{`{"id":"31b4e28f`, "Stop", "ec289e5c-e098-47d4-aafa-708c955ec932", ""},
		{`{"id":"6655f72c`, "StopFailure", "31b4e28f-6297-4672-9a41-0bf5dab4fc2a", "mock: scripted failure"},
		{`{"id":"28ca3704`, "Interrupt", "280aa278-f0ef-408d-bf7b-83eb98ba210f", ""},
	} {
		path := filepath.Join(t.TempDir(), "session.jsonl")
		gittest.Must(t, os.WriteFile(path, []byte(data[:strings.Index(data, tt.until)]), 0o600))
		e, err := Event(strings.NewReader(`{"session_id":"s","cwd":"/","hook_event_name":"AfterAgent","transcript_path":"` + filepath.ToSlash(path) + `"}`))
		gittest.Must(t, err)
		if e.Name != tt.name || e.PromptID != tt.prompt || e.LastAssistantMessage != tt.said {
			t.Errorf("before %s: %+v", tt.until, e)
		}
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"":  "",
		"x": "x",
		"<hook_context>told</hook_context>\n\nT1 hello":                             "T1 hello",
		"<hook_context>a</hook_context>\n\n<hook_context>b</hook_context>\n\n\nx\n": "x\n",
		"<hook_context>not ended":                                                   "<hook_context>not ended",
		"say <hook_context>x</hook_context>":                                        "say <hook_context>x</hook_context>",
		"<hook_context>x</hook_context>":                                            "",
	} {
		if got := typed(prompt); got != want {
			t.Errorf("%q: got %q, want %q", prompt, got, want)
		}
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	agenttest.Client(t, Client, "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID")
	for line, want := range map[string]bool{
		"node /usr/bin/gemini -p x": true,
		"node --no-warnings=DEP0040 --max-old-space-size=4096 /n/@google/gemini-cli/bundle/gemini.js": true,
		"gemini":                   true,
		"node /usr/bin/npm gemini": false,
		"bash -c gemini":           false,
		"":                         false,
	} {
		if got := runs(strings.Fields(line)); got != want {
			t.Errorf("%q is the client: %t", line, got)
		}
	}
}

// TestEffects: what tools may do to files, by their names.
func TestEffects(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]hooks.Call{
		`"tool_name":"replace","tool_input":{"file_path":"/r/a","old_string":"x","new_string":"y"}`: {Tool: "replace", Effect: hooks.Edits, Paths: []string{"/r/a"}},
		`"tool_name":"write_file","tool_input":{"file_path":"a","content":"x"}`:                     {Tool: "write_file", Effect: hooks.Edits, Paths: []string{"a"}},
		`"tool_name":"replace","tool_input":{}`:                                                     {Tool: "replace"},
		`"tool_name":"read_file","tool_input":{"file_path":"a"}`:                                    {Tool: "read_file", Effect: hooks.Reads, Paths: []string{"a"}},
		`"tool_name":"mcp_server_tool"`:                                                             {Tool: "mcp_server_tool"},
	} {
		e, err := Event(strings.NewReader(`{"session_id":"s","cwd":"/r","hook_event_name":"AfterTool",` + input + `}`))
		gittest.Must(t, err)
		if e.Tell(Effects); !reflect.DeepEqual(e.Calls, []hooks.Call{want}) {
			t.Errorf("%s: got %+v", input, e)
		}
	}
}
