package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/gittest"
)

// TestEffects: what tools may do to files, as real payloads and others name them.
func TestEffects(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]hooks.Call{
		"PostToolBatch":                {ID: "toolu_f9f1bddc43bee51291", Tool: "Write", Effect: hooks.Edits, Paths: []string{"/home/dev/tui/one.txt"}},
		"PostToolUse-Edit":             {ID: "toolu_b8b84a225c81d6b1d6", Tool: "Edit", Effect: hooks.Edits, Paths: []string{"/home/dev/tui/one.txt"}},
		"PostToolUse-Read":             {ID: "toolu_1f5efa4ba450eb80b0", Tool: "Read", Effect: hooks.Reads, Paths: []string{"/home/dev/tui/one.txt"}},
		"PostToolUse-Bash":             {ID: "toolu_6ed90d1b5dcbcb876d", Tool: "Bash", Command: "echo two > two.txt && cat two.txt"},
		"PostToolUse-Bash-in-subagent": {ID: "toolu_490b0c09aa80fef1c4", Tool: "Bash", Command: "ls -1"},
		"PostToolUse-Agent":            {ID: "toolu_5054422424e1c42e8c", Tool: "Agent"},
		"PostToolUse-EnterWorktree":    {ID: "toolu_6352bc5d67833d25aa", Tool: "EnterWorktree"},
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "payloads", file+".json"))
		gittest.Must(t, err)
		var captured struct{ Payload json.RawMessage }
		gittest.Must(t, json.Unmarshal(data, &captured))
		e, err := hooks.Parse(bytes.NewReader(captured.Payload))
		gittest.Must(t, err)
		if e.Tell(Effects); !reflect.DeepEqual(e.Calls, []hooks.Call{want}) {
			t.Errorf("%s: got %+v", file, e)
		}
	}
	for tool, want := range map[string]hooks.Effect{
		"NotebookEdit": hooks.Edits, "MultiEdit": hooks.Edits, "TodoWrite": hooks.Reads, "TaskUpdate": hooks.Reads, "Grep": hooks.Reads,
		"Task": hooks.Anything, "Bash": hooks.Anything, "mcp__files__write": hooks.Anything, "Skill": hooks.Anything, "": hooks.Anything,
	} {
		e, err := hooks.Parse(strings.NewReader(`{"session_id":"s","cwd":"/r","hook_event_name":"PostToolBatch",
			"tool_calls":[{"tool_name":"` + tool + `","tool_input":{"notebook_path":"/r/a"}}]}`))
		gittest.Must(t, err)
		if e.Tell(Effects); e.Calls[0].Effect != want {
			t.Errorf("%s: got %+v", tool, e)
		}
	}
}
