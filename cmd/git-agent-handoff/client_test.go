package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"gitagent/test/replay"
)

// sessionFile is where the client keeps a session.
func sessionFile(ts *testscript.TestScript, session string) string {
	return filepath.Join(ts.Getenv("HOME"), ".claude", "projects", "-home-dev-repo", session+".jsonl")
}

// says appends to a session's file what the model, or the client, has noted:
//
//	says <session> answer <model> <tokens>       an answer to a request of so many tokens
//	says <session> model <id>                    which model it is, as the client calls it
//	says <session> compacted auto|manual <before> <after>
func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: says <session> answer|model|compacted ...")
	}
	number := func(i int) int {
		if i >= len(args) {
			ts.Fatalf("says: too few arguments")
		}
		n, err := strconv.Atoi(args[i])
		ts.Check(err)
		return n
	}
	record := map[string]any{"isSidechain": false, "uuid": "u", "timestamp": "2026-11-20T12:00:00.000Z"}
	switch args[1] {
	case "answer":
		record["type"] = "assistant"
		record["message"] = map[string]any{"model": args[2], "usage": map[string]any{"input_tokens": number(3)}}
	case "model":
		record["type"] = "attachment"
		record["attachment"] = map[string]any{"type": "model", "identity": map[string]any{"modelId": args[2]}}
	case "compacted":
		record["type"], record["subtype"] = "system", "compact_boundary"
		record["compactMetadata"] = map[string]any{"trigger": args[2], "preTokens": number(3), "postTokens": number(4)}
	default:
		ts.Fatalf("says: %q", args[1])
	}
	line, err := json.Marshal(record)
	ts.Check(err)
	path := sessionFile(ts, args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	ts.Check(err)
	_, err = f.Write(append(line, '\n'))
	ts.Check(err)
	ts.Check(f.Close())
}

// event runs the hook as the client does at an event of a session in the current directory.
// What the hook says is what stdout and stderr look at.
//
//	event <session> PostToolBatch calls=2
//	event <session> PostToolBatch 'tool_calls=[{"tool_name":"Edit","tool_input":{"file_path":"a"}}]'
//	event <session> SessionStart source=clear
func event(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: event <session> <name> [<field>=<value>]...")
	}
	payload := map[string]any{"session_id": args[0], "hook_event_name": args[1], "cwd": ts.MkAbs("."), "transcript_path": sessionFile(ts, args[0])}
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		if payload[name] = value; strings.HasPrefix(value, "[") {
			payload[name] = json.RawMessage(value)
		}
		if name == "calls" {
			n, err := strconv.Atoi(value)
			ts.Check(err)
			delete(payload, name)
			var calls []map[string]string // with ids of their own: an event that is heard twice counts once
			for range n {
				calls = append(calls, map[string]string{"tool_use_id": replay.NewID()})
			}
			payload["tool_calls"] = calls
		}
	}
	b, err := json.Marshal(payload)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("../payload.json"), b, 0o600))
	ts.Check(ts.Exec("sh", "-c", fmt.Sprintf("git-agent-handoff hook <'%s'", ts.MkAbs("../payload.json"))))
}

// step prints the last line of the journal of the current directory's repository, which must have so many, and
// sets TREE to the state that it names:
//
//	step 2
func step(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: step <number>")
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(ts.MkAbs(".git/agent/steps")), "\n"), "\n")
	if strconv.Itoa(len(lines)) != args[0] {
		ts.Fatalf("there are %d entries, want %s:\n%s", len(lines), args[0], strings.Join(lines, "\n"))
	}
	var entry struct{ Tree string }
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &entry))
	ts.Setenv("TREE", entry.Tree)
	ts.Check(ts.Exec("tail", "-n", "1", ".git/agent/steps"))
}

// shows checks that a file is one line in the state that [step] has found:
//
//	shows <line> <file>
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shows <line> <file>")
	}
	ts.Check(ts.Exec("git", "cat-file", "blob", ts.Getenv("TREE")+":"+args[1]))
	if got := ts.ReadFile("stdout"); got != args[0]+"\n" {
		ts.Fatalf("%s is %q", args[1], got)
	}
}
