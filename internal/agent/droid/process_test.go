package droid

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

// TestEvent: the client's payloads in the common words.
func TestEvent(t *testing.T) {
	t.Parallel()
	type told struct{ name, source, promptID, tool, command, reply string }
	for file, want := range map[string]told{
		"exec-SessionStart-startup":     {name: "SessionStart", source: "startup"},
		"exec-fork-SessionStart-resume": {name: "SessionStart", source: "resume"},
		"exec-PostToolUse":              {name: "PostToolUse", tool: "Execute", command: "env | sort > env.txt"},
		"exec-Stop":                     {name: "Stop"},
		"exec-SessionEnd":               {name: "SessionEnd"},
	} {
		e := agenttest.Event(t, Event, file)
		got := told{name: e.Name, source: e.Source, promptID: e.PromptID, reply: e.LastAssistantMessage}
		for _, c := range e.Calls {
			got.tool, got.command = c.Tool, c.Command
		}
		if got != want || e.Cwd != "/home/dev/droid" || e.Begins || !strings.HasSuffix(e.TranscriptPath, e.SessionID+extension) {
			t.Errorf("%s: %+v, want %+v", file, e, want)
		}
	}
	if _, err := Event(strings.NewReader(`{}`)); err == nil {
		t.Error("an event without a name")
	}
}

// TestEnded: the hook for a turn's end starts before the client has written how it ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ event, promptID, reply string }{
		"three-turns": {"Stop", "fb537060-2947-436c-a485-f445d8ca02ac", ""},
		"failed":      {"StopFailure", "a42f85eb-2640-4fca-a463-49a774a309e1", "BYOK Error: 400 mock failure 400"},
	} {
		data := string(agenttest.Capture(t, name))
		at := strings.LastIndex(data, `{"type":"agent_turn_outcome"`)
		at = strings.LastIndex(data[:at-1], "\n") // the hook's own record
		path := filepath.Join(t.TempDir(), "s.jsonl")
		gittest.Must(t, os.WriteFile(path, []byte(data[:at+1]), 0o600))
		e := &hooks.Payload{Name: "Stop", TranscriptPath: path}
		ended(e)
		reply, _, _ := strings.Cut(e.LastAssistantMessage, "\n")
		if e.Name != want.event || e.PromptID != want.promptID || reply != want.reply {
			t.Errorf("%s: %+v, want %+v", name, e, want)
		}
	}
	e := &hooks.Payload{Name: "Stop", TranscriptPath: filepath.Join(t.TempDir(), "none.jsonl")}
	if ended(e); e.Name != "Stop" || e.PromptID != "" {
		t.Errorf("without a file: %+v", e)
	}
}

func TestExecutes(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"droid": false, "droid --fork s": false, "droid exec -m x hello": true, "/opt/droid exec --fork s hello": true,
		"droid exec --input-format stream-json": false, "droid exec --input-format=stream-jsonrpc": false, "": false,
	} {
		if got := executes(strings.Fields(command)); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
}

func TestSpent(t *testing.T) {
	t.Parallel()
	last, all, err := Spent(filepath.Join("testdata", "three-turns.jsonl"))
	if err != nil || last.Tokens != 1009 || last.Model != "custom:Mock-0" || all.Sent() != 1009 || all.Output != 20 || all.CacheRead != 400 {
		t.Errorf("got %+v, %+v, %v", last, all, err)
	}
	for _, name := range []string{"none.jsonl", "payloads", ""} {
		if _, _, err := Spent(filepath.Join("testdata", name)); err == nil {
			t.Errorf("%q has figures", name)
		}
	}
}

func TestInteractive(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"droid": true, "droid --cwd /home/dev --fork s -- exec": true, "droid --auto high hello": true, "": false,
		"droid exec hello": false, "droid mcp": false, "droid --version": false,
	} {
		if got := Interactive(strings.Fields(command)); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
	if got := strings.Join(Command("/home/dev", "s", "-x"), " "); got != "droid --cwd /home/dev --fork s -- -x" {
		t.Errorf("got %q", got)
	}
}
