package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// event runs the hook of an event of a session in the current directory:
//
//	event <session> PostToolBatch prompt_id=p 'tool_calls=[{"tool_name":"Edit","tool_input":{"file_path":"a"}}]'
func event(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: event <session> <name> [<field>=<value>]...")
	}
	payload := map[string]any{"session_id": args[0], "hook_event_name": args[1], "cwd": ts.MkAbs(".")}
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		if payload[name] = value; strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{") {
			payload[name] = json.RawMessage(value)
		}
	}
	b, err := json.Marshal(payload)
	ts.Check(err)
	file := ts.Getenv("WORK") + "/payload.json"
	ts.Check(os.WriteFile(file, b, 0o600))
	program := "git-agent-turn"
	switch args[1] {
	case "SessionStart", "PreToolUse", "PostToolBatch", "PostToolUse", "SubagentStop", "PreCompact":
		program = "git-agent-handoff"
	}
	ts.Check(ts.Exec("sh", "-c", fmt.Sprintf("%s hook <'%s'", program, file)))
}
