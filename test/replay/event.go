package replay

import (
	"encoding/json"
	"time"
)

// An Event is what a hook of the client is told.
type Event struct {
	At         time.Time
	PID        int // of the client
	Name       string
	Session    string
	Transcript string
	Cwd        string
	PromptID   string
	Prompt     string // UserPromptSubmit
	Reply      string // Stop, and StopFailure: the error's text
	Again      bool   // Stop
	Error      string // StopFailure
	Reason     string // SessionEnd
	Source     string // SessionStart
	Trigger    string // PreCompact
	Calls      []Call // PostToolBatch; of PreToolUse the one
	Agent      string // the sub-agent that calls them, or has ended
}

// A Call is one of a batch.
type Call struct {
	ID, Name string
	Input    map[string]any
}

// Payload is what the hook reads on its standard input.
func (e Event) Payload() []byte {
	p := map[string]any{
		"session_id": e.Session, "transcript_path": e.Transcript, "cwd": e.Cwd,
		"hook_event_name": e.Name, "permission_mode": "default",
	}
	if e.PromptID != "" {
		p["prompt_id"] = e.PromptID
	}
	if e.Agent != "" {
		p["agent_id"], p["agent_type"] = e.Agent, "general-purpose"
	}
	switch e.Name {
	case "UserPromptSubmit":
		p["prompt"] = e.Prompt
	case "Stop":
		p["stop_hook_active"], p["last_assistant_message"] = e.Again, e.Reply
		p["background_tasks"], p["session_crons"] = []any{}, []any{}
	case "StopFailure":
		p["error"], p["last_assistant_message"] = e.Error, e.Reply
	case "SessionEnd":
		p["reason"] = e.Reason
	case "SessionStart":
		p["source"] = e.Source
	case "PreToolUse":
		call := e.Calls[0]
		p["tool_name"], p["tool_use_id"], p["tool_input"] = call.Name, call.ID, call.Input
	case "PostToolBatch":
		calls := []any{}
		for _, call := range e.Calls {
			calls = append(calls, map[string]any{"tool_name": call.Name, "tool_use_id": call.ID, "tool_input": call.Input, "tool_response": "ok"})
		}
		p["tool_calls"] = calls
	case "PreCompact":
		p["trigger"], p["custom_instructions"] = e.Trigger, ""
	}
	data, err := json.Marshal(p)
	check(err)
	return data
}
