package copilot

import (
	"fmt"
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
	event := func(session, name string, change func(*hooks.Payload)) hooks.Payload {
		e := hooks.Payload{SessionID: "22222222-2222-4222-8222-" + session, Name: name, Cwd: "/home/dev/copilot"}
		change(&e)
		return e
	}
	for file, want := range map[string]hooks.Payload{
		"SessionStart-new": event("000000000001", "SessionStart", func(e *hooks.Payload) { e.Source = "startup" }),
		"UserPromptSubmit": event("000000000001", "UserPromptSubmit", func(e *hooks.Payload) { e.Prompt = "turn one SAY:answer one" }),
		"PostToolUse": event("000000000001", "PostToolUse", func(e *hooks.Payload) {
			e.Calls = []hooks.Call{{Tool: "Bash", Command: "env | sort > env.txt"}}
		}),
		"Stop":                event("000000000001", "Stop", func(*hooks.Payload) {}),
		"SessionEnd-headless": event("000000000001", "SessionEnd", func(e *hooks.Payload) { e.Reason = "complete" }),
		"tui-UserPromptSubmit-of-the-client": event("0000000000e1", "", func(e *hooks.Payload) {
			e.Cwd, e.Prompt = "/home/dev/coptui", "<system_notification>\nShell command \"mock run\" (shellId: 0) has completed successfully.\n</system_notification>"
		}),
		"auto-PreCompact": event("0000000000d5", "", func(e *hooks.Payload) { e.Cwd, e.Trigger = "/home/dev/coptui", "auto" }),
	} {
		got := agenttest.Event(t, Event, file)
		got.TranscriptPath = ""
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, want %+v", file, *got, want)
		}
	}
}

// TestStop: what turn has ended is in the file, whatever sub-agents have written behind it. As long as the file lacks the
// note of this hook, it may end in the turn before.
func TestStop(t *testing.T) {
	t.Parallel()
	const note = `{"type":"hook.start","data":{"hookInvocationId":"%s"`
	for _, tt := range []struct{ name, hook, more, want string }{
		{"three-turns", "2a40a597-e584-4a69-8499-6d646cc9f1fb", "", ""}, // of the end of the session
		{"three-turns", "3195c50c-1d53-41a9-9bac-12b542c2e7f2", "", "b8ed035e-8d63-4bc7-b40c-a0732426b60d"},
		{"sub-agent", "0d20736e-14e1-480e-9a40-a34c2110b800", `{"type":"user.message","data":{"interactionId":"x"},"agentId":"a"}` + "\n", "80bfd875-08f1-4edd-99cf-16659a505384"},
	} {
		data := string(agenttest.Capture(t, tt.name))
		at := strings.Index(data, fmt.Sprintf(note, tt.hook))
		at += strings.Index(data[at:], "\n") + 1
		path := filepath.Join(t.TempDir(), "events.jsonl")
		gittest.Must(t, os.WriteFile(path, []byte(data[:at]+tt.more), 0o600))
		e, err := Event(strings.NewReader(`{"session_id":"s","cwd":"/","hook_event_name":"Stop","transcript_path":"` + filepath.ToSlash(path) + `"}`))
		gittest.Must(t, err)
		if e.Name != "Stop" || e.PromptID != tt.want {
			t.Errorf("%s, %s: %+v", tt.name, tt.hook, e)
		}
	}
}

// TestStopAgain: of a turn that went on after its first Stop, and of which the client has not written that yet, the second
// one's note is waited for.
func TestStopAgain(t *testing.T) {
	t.Parallel()
	const turn = `{"type":"assistant.message","data":{"interactionId":"one"}}` + "\n"
	note := func(at string) string {
		return `{"type":"hook.start","data":{"hookType":"agentStop"},"timestamp":"` + at + `"}` + "\n"
	}
	for _, tt := range []struct {
		data, at string
		ended    bool
	}{
		{turn + note("1"), "1", true},
		{turn + note("1"), "2", false},
		{turn + note("1") + turn + note("2"), "2", true},
		{turn + note("1"), "", true},
	} {
		if id, ended := interaction([]byte(tt.data), tt.at); id != "one" || ended != tt.ended {
			t.Errorf("at %q of %s: %q, %v", tt.at, tt.data, id, ended)
		}
	}
}

// TestSubagent: a sub-agent's events are those of the session that started it, if that is one.
func TestSubagent(t *testing.T) {
	config := t.TempDir()
	t.Setenv("COPILOT_HOME", config)
	const payload = `{"session_id":"sub","agent_id":"sub","parent_agent_id":"top","cwd":"/","hook_event_name":"PostToolUse","tool_name":"Bash"}`
	if e, err := Event(strings.NewReader(payload)); err != nil || e.Name != "" {
		t.Errorf("of a sub-agent's sub-agent: %+v, %v", e, err)
	}
	gittest.Must(t, os.MkdirAll(filepath.Dir(Path(config, "top")), 0o700))
	gittest.Must(t, os.WriteFile(Path(config, "top"), nil, 0o600))
	if e, err := Event(strings.NewReader(payload)); err != nil || e.Name != "PostToolUse" || e.SessionID != "top" || e.AgentID != "sub" {
		t.Errorf("of a session's sub-agent: %+v, %v", e, err)
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	agenttest.Client(t, Client, "COPILOT_PROJECT_DIR", "COPILOT_AGENT_SESSION_ID")
	for line, want := range map[string]bool{
		"/n/@github/copilot-linux-x64/copilot -p x": true,
		"copilot":                    true,
		"node /usr/bin/copilot -p x": false, // it only waits for the other one
		"/bin/bash -c dump copilot":  false,
		"":                           false,
	} {
		if got := runs(strings.Fields(line)); got != want {
			t.Errorf("%q is the client: %t", line, got)
		}
	}
}

// TestEffects: what tools may do to files, by their names. A tool that failed may have done it.
func TestEffects(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]hooks.Call{
		`"tool_name":"Edit","tool_input":{"path":"/r/a","old_str":"x","new_str":"y"}`: {Tool: "Edit", Effect: hooks.Edits, Paths: []string{"/r/a"}},
		`"tool_name":"Write","tool_input":{"path":"/r/a","file_text":"x"}`:            {Tool: "Write", Effect: hooks.Edits, Paths: []string{"/r/a"}},
		`"tool_name":"Read","tool_input":{"path":"/r/a"}`:                             {Tool: "Read", Effect: hooks.Reads, Paths: []string{"/r/a"}},
		`"tool_name":"sql","tool_input":{"query":"select 1"}`:                         {Tool: "sql", Effect: hooks.Reads},
		`"tool_name":"Agent","tool_input":{"prompt":"x"}`:                             {Tool: "Agent"},
		`"tool_name":"server-tool"`:                                                   {Tool: "server-tool"},
	} {
		e, err := Event(strings.NewReader(`{"session_id":"s","cwd":"/r","hook_event_name":"PostToolUseFailure","error":"x",` + input + `}`))
		gittest.Must(t, err)
		if e.Tell(Effects); e.Name != "PostToolUse" || !reflect.DeepEqual(e.Calls, []hooks.Call{want}) {
			t.Errorf("%s: got %+v", input, e)
		}
	}
}
