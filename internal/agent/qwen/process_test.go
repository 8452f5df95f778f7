package qwen

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

// TestEvent: the client's payloads in the common words.
func TestEvent(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]hooks.Payload{
		"headless-SessionStart-startup":               {Name: "SessionStart", Source: "startup", Model: "mock-model"},
		"headless-UserPromptSubmit":                   {Name: "UserPromptSubmit", Prompt: "turn one SAY:answer one", Submitted: "turn one SAY:answer one"},
		"headless-UserPromptSubmit-EMPTY-after-tools": {},
		"headless-PostToolBatch": {
			Name: "PostToolBatch", ToolCalls: 1, Calls: []hooks.Call{{ID: "call_mock_5", Tool: "run_shell_command", Command: "echo two > two.txt"}},
		},
		"headless-Stop":            {Name: "Stop", LastAssistantMessage: "mock answer 6"},
		"tui-StopFailure":          {Name: "StopFailure", Error: "invalid_request", LastAssistantMessage: "400 mock failure 400"},
		"tui-PostCompact":          {Name: "PreCompact", Trigger: "manual"},
		"tui-SessionStart-compact": {Name: "SessionStart", Source: "compact", Model: "mock-model"},
		"tui-SessionEnd-clear":     {Name: "SessionEnd", Reason: "clear"},
		"tui-SubagentStop": {
			Name: "SubagentStop", AgentID: "general-purpose-call_mock_33", AgentType: "general-purpose", LastAssistantMessage: "sub-answer",
		},
	} {
		got := agenttest.Event(t, Event, file)
		if !strings.HasPrefix(got.TranscriptPath, "/home/dev/.qwen/projects/-home-dev-qwen") || !strings.HasPrefix(got.Cwd, "/home/dev/qwen") || got.SessionID == "" {
			t.Errorf("%s: got %+v", file, *got)
		}
		got.TranscriptPath, got.Cwd, got.SessionID = "", "", ""
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, want %+v", file, *got, want)
		}
	}
}

// TestOfTurn: which turn an event is about is in the file. What a Stop hook has the agent go on with is no prompt, but
// one after a rewind is, whatever id the client gives it, and one that was typed.
func TestOfTurn(t *testing.T) {
	t.Parallel()
	const session, other = "11111111-1111-4111-8111-0000000000cc", "11111111-1111-4111-8111-0000000000aa"
	going, rewound := string(agenttest.Capture(t, "stop-hook")), string(agenttest.Capture(t, "rewound"))
	for _, tt := range []struct {
		what, file    string
		event, id     string
		prompt, reply string
		name, want    string
	}{
		{"the end of a turn", until(going, `"subtype":"notification"`), "Stop", session + "########0", "", "mock answer 25", "Stop", "dfa83037-3204-428e-8237-32afa72964eb"},
		{"of one that the client has begun", until(going, `<system-reminder>`), "Stop", session + "########0", "", "mock answer 27", "Stop", "f9718635-76dc-46c5-a46b-a4c0ae8e6ba3"},
		{"a failure", string(agenttest.Capture(t, "failed")), "StopFailure", "11111111-1111-4111-8111-0000000000f1########0", "", "[API Error: 400 mock failure 400]", "StopFailure", "f5318e11-7751-4840-a1b1-ab2cb8df7eab"},
		{"an end without words", going, "Stop", session + "########3", "", "[no response text]", "Stop", "aff20c47-4f49-48a6-9469-a1cbbbd9b9dc"},
		{"a prompt", until(going, `<system-reminder>`), "UserPromptSubmit", session + "########3", "T2", "", "UserPromptSubmit", ""},
		{"a hook's words", until(going, `echo more`), "UserPromptSubmit", session + "########3", "write more", "", "", ""},
		{"a prompt with the id of what the client has begun", until(going, `<system-reminder>`), "UserPromptSubmit", session + "########0", `x","submitted_prompt":"x`, "", "UserPromptSubmit", ""},
		{"a hook's words before a rewind", until(rewound, `"rewind"`), "UserPromptSubmit", other + "########5", "x", "", "", ""},
		{"a prompt after it", until(rewound, `T44`), "UserPromptSubmit", other + "########5", "x", "", "UserPromptSubmit", ""},
		{"no file", "", "Stop", session + "########0", "", "x", "Stop", ""},
	} {
		path := filepath.Join(t.TempDir(), "session.jsonl")
		if tt.file != "" {
			gittest.Must(t, os.WriteFile(path, []byte(tt.file), 0o600))
		}
		e, err := Event(payload(path, tt.event, tt.id, tt.prompt, tt.reply))
		gittest.Must(t, err)
		if e.Name != tt.name || e.PromptID != tt.want {
			t.Errorf("%s: %q of %q, want %q of %q", tt.what, e.Name, e.PromptID, tt.name, tt.want)
		}
	}
}

// TestLate: the end of a turn waits for the client to write it, prompt and all.
func TestLate(t *testing.T) {
	t.Parallel()
	going := string(agenttest.Capture(t, "stop-hook"))
	path := filepath.Join(t.TempDir(), "session.jsonl")
	gittest.Must(t, os.WriteFile(path, []byte(until(going, `<system-reminder>`)), 0o600))
	done := make(chan *hooks.Payload)
	go func() {
		e, _ := Event(payload(path, "Stop", "11111111-1111-4111-8111-0000000000cc########3", "", "mock answer 31"))
		done <- e
	}()
	select {
	case e := <-done:
		t.Errorf("it did not wait: %+v", e)
	default:
	}
	gittest.Must(t, os.WriteFile(path, []byte(going), 0o600))
	if e := <-done; e == nil || e.PromptID != "aff20c47-4f49-48a6-9469-a1cbbbd9b9dc" {
		t.Errorf("got %+v", e)
	}
}

// until is what a file has before the line with a text.
func until(file, text string) string {
	return file[:strings.LastIndex(file[:strings.Index(file, text)], "\n")+1]
}

// payload is one of an event; prompt may have more members behind it.
func payload(path, event, id, prompt, reply string) io.Reader {
	return strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":"/","hook_event_name":%q,"transcript_path":%q,"prompt_id":%q,"last_assistant_message":%q,"prompt":"%s"}`,
		event, path, id, reply, prompt))
}

func TestClient(t *testing.T) {
	t.Parallel()
	agenttest.Client(t, Client, "QWEN_PROJECT_DIR", "QWEN_CODE_SESSION_ID")
	for line, want := range map[string]bool{
		"node --expose-gc /n/@qwen-code/qwen-code/cli.js -y":      true,
		"node /n/@qwen-code/qwen-code/cli-entry.js":               true,
		"node /n/.bin/qwen -y --resume x":                         true,
		"qwen":                                                    true,
		"node /n/other/cli.js":                                    false,
		"node --input-type=commonjs --eval code /home/dev/x.json": false,
		"node":         false,
		"bash -c qwen": false,
		"":             false,
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
		`"tool_name":"edit","tool_input":{"file_path":"/r/a","old_string":"x","new_string":"y"}`: {Tool: "edit", Effect: hooks.Edits, Paths: []string{"/r/a"}},
		`"tool_name":"notebook_edit","tool_input":{"notebook_path":"a"}`:                         {Tool: "notebook_edit", Effect: hooks.Edits, Paths: []string{"a"}},
		`"tool_name":"edit","tool_input":{}`:                                                     {Tool: "edit"},
		`"tool_name":"grep_search","tool_input":{"path":"a"}`:                                    {Tool: "grep_search", Effect: hooks.Reads, Paths: []string{"a"}},
		`"tool_name":"run_shell_command","tool_input":{"command":"x &","is_background":true}`:    {Tool: "run_shell_command", Command: "x &", Background: true},
		`"tool_name":"tool_call","tool_input":{"name":"mcp__x"}`:                                 {Tool: "tool_call"},
	} {
		e, err := Event(strings.NewReader(`{"session_id":"s","cwd":"/r","hook_event_name":"PostToolBatch","tool_calls":[{` + input + `}]}`))
		gittest.Must(t, err)
		if e.Tell(Effects); !reflect.DeepEqual(e.Calls, []hooks.Call{want}) {
			t.Errorf("%s: got %+v", input, e)
		}
	}
}
