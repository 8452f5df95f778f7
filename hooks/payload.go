package hooks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
)

// MaxPayload is the largest payload that [Parse] reads, in bytes. Payloads have
// what tools read and wrote, including images.
const MaxPayload = 64 << 20

// ErrPayload reports a payload that is not what a client sends.
var ErrPayload = errors.New("malformed hook payload")

// A Payload is the part of a payload that we keep. Fields that the event does
// not have are zero.
type Payload struct {
	Name           string // hook_event_name: UserPromptSubmit, Stop, ...; unchecked, there may be new ones
	SessionID      string // letters, digits, - and _, at most 128: safe as a file name
	TranscriptPath string // absolute, or "" if the client keeps none; the file need not exist
	Cwd            string // absolute; follows the agent's cd
	PromptID       string // prompt_id or else turn_id; "" before the first prompt

	Prompt               string // UserPromptSubmit
	Submitted            string // UserPromptSubmit: what was typed, if the client tells it beside what it sends
	LastAssistantMessage string // Stop; StopFailure: the error's text
	StopHookActive       bool   // Stop: the turn goes on because of a Stop hook
	Source               string // SessionStart: startup, resume, fork, clear, compact
	Reason               string // SessionEnd: other, prompt_input_exit, clear
	Error                string // StopFailure
	Trigger              string // PreCompact: manual, auto
	Model                string
	Timestamp            string // of the event, as the client writes it
	AgentID, AgentType   string // set for an event of a subagent
	ParentID             string // parent_agent_id: who started that subagent, a session or another one
	ToolCalls            int    // PostToolBatch: number of tool calls
	Calls                []Call // the first [MaxCalls] of them, or the one that the event is about

	// CallBegan is when that one began, in ms since 1970; 0 if the client
	// doesn't say.
	CallBegan int64
	// Window is how many tokens the model's context has; 0 if the client
	// doesn't say.
	Window int64

	// Begins says of a SessionStart that the session's first turn begins with it:
	// the client tells of no prompt. It is not from the payload.
	Begins bool
	// Lock is a file that the client locks while the session lives, or "". It
	// is not from the payload.
	Lock string
}

// Parse decodes the payload on r, one JSON object, and stops reading after it.
// It skips fields that [Payload] and [Call] lack, so a large tool input costs
// time but no memory. The effects of calls are for the agent's package to say. An error wraps [ErrPayload] and names the field, unless reading
// failed.
//
// Clients may pass it on a non-blocking socket, where [os.Stdin] still waits.
func Parse(r io.Reader) (*Payload, error) {
	e := new(Payload)
	var turnID, began, window string
	var one Call
	s := newScanner(r)
	fields := s.call("", &one)
	maps.Copy(fields, map[string]any{
		"hook_event_name":        &e.Name,
		"session_id":             &e.SessionID,
		"transcript_path":        &e.TranscriptPath,
		"cwd":                    &e.Cwd,
		"prompt_id":              &e.PromptID,
		"turn_id":                &turnID,
		"prompt":                 &e.Prompt,
		"submitted_prompt":       &e.Submitted,
		"last_assistant_message": &e.LastAssistantMessage,
		"stop_hook_active":       &e.StopHookActive,
		"source":                 &e.Source,
		"reason":                 &e.Reason,
		"error":                  &e.Error,
		"trigger":                &e.Trigger,
		"model":                  &e.Model,
		"timestamp":              &e.Timestamp,
		"agent_id":               &e.AgentID,
		"agent_type":             &e.AgentType,
		"parent_agent_id":        &e.ParentID,
		"tool_calls":             func() error { return s.calls(e) },
		"git_agent_call_began":   func() (err error) { began, _, err = s.text("git_agent_call_began", 20); return err },
		"git_agent_window":       func() (err error) { window, _, err = s.text("git_agent_window", 20); return err },
	})
	if err := s.object("", fields); err != nil {
		return nil, err
	}
	if one.Tool != "" {
		e.Calls = []Call{one}
		e.CallBegan, _ = strconv.ParseInt(began, 10, 64)
	}
	e.Window, _ = strconv.ParseInt(window, 10, 64)
	e.Window = max(0, e.Window)
	e.PromptID = cmp.Or(e.PromptID, turnID) // an event may have both
	if err := e.check(); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Payload) check() error {
	switch {
	case e.Name == "":
		return malformed("hook_event_name", "missing")
	case e.SessionID == "":
		return malformed("session_id", "missing")
	case !ValidID(e.SessionID):
		return malformed("session_id", "%.40q is not up to 128 letters, digits, - and _", e.SessionID)
	case e.Cwd == "":
		return malformed("cwd", "missing")
	case !validPath(e.Cwd):
		return malformed("cwd", "%.80q is not an absolute path", e.Cwd)
	case e.ParentID != "" && !ValidID(e.ParentID):
		return malformed("parent_agent_id", "%.40q is not up to 128 letters, digits, - and _", e.ParentID)
	case e.TranscriptPath != "" && !validPath(e.TranscriptPath):
		return malformed("transcript_path", "%.80q is not an absolute path", e.TranscriptPath)
	}
	return nil
}

// ValidID reports whether id matches [A-Za-z0-9][A-Za-z0-9_-]{0,127}, so that
// it is a safe file name, part of a ref, and argument.
func ValidID(id string) bool {
	const first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return id != "" && len(id) <= 128 && strings.IndexByte(first, id[0]) >= 0 && strings.Trim(id, first+"-_") == ""
}

func validPath(path string) bool {
	return filepath.IsAbs(path) && !strings.ContainsRune(path, 0)
}

// decode stores raw in field, a string or bool. null gives the zero value.
func decode(name string, raw []byte, field any) error {
	want := "a string"
	switch field := field.(type) { // null changes nothing
	case *string:
		*field = ""
	case *bool:
		*field, want = false, "true or false"
	}
	err := json.Unmarshal(raw, field)
	if errors.As(err, new(*json.UnmarshalTypeError)) {
		return malformed(name, "is %s, want %s", kindOf(raw[0]), want)
	}
	if err != nil {
		return malformed(name, "%v", err)
	}
	return nil
}

func kindOf(c byte) string {
	kinds := map[byte]string{'{': "an object", '[': "an array", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null"}
	return cmp.Or(kinds[c], "a number")
}

// malformed returns an error about field, or if "" about the whole payload.
func malformed(field, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	switch {
	case field == "":
		return fmt.Errorf("%w: %s", ErrPayload, text)
	case !ValidID(field): // untrusted text
		return fmt.Errorf("%w: %.40q: %s", ErrPayload, field, text)
	}
	return fmt.Errorf("%w: %s: %s", ErrPayload, field, text)
}

// An Environment is what a hook's or command's environment says about the
// client. Missing and invalid variables give zero values. The environment also
// holds secrets: it must never be logged as a whole.
type Environment struct {
	ProjectDir string // where the client was launched, even if the agent changes directory
	PID        int    // the client's; a shell may stand between it and the hook, so this is not our parent
	SessionID  string // like PID, and unlike ProjectDir, also in the agent's shell commands
	PluginRoot string // the plugin's directory; "" for a hook from settings
	// Shared says that the process serves several clients, so its environment
	// is not the session's: GIT_AGENT_MISSION, GIT_AGENT_DISABLE and the pane
	// of tmux don't count, and only the payload says where the agent works.
	Shared bool
}

// ReadEnvironment reads a project's directory and a session's id from variables
// with these names.
func ReadEnvironment(getenv func(string) string, projectDir, sessionID string) Environment {
	e := Environment{ProjectDir: getenv(projectDir), SessionID: getenv(sessionID)}
	if !filepath.IsAbs(e.ProjectDir) {
		e.ProjectDir = ""
	}
	if !ValidID(e.SessionID) {
		e.SessionID = ""
	}
	return e
}
