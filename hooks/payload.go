package hooks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// MaxPayload is the largest payload in bytes that [Parse] reads. Payloads carry what tools read and
// wrote, including images, so they can have megabytes.
const MaxPayload = 64 << 20

// ErrPayload reports a payload that is not what a client sends.
var ErrPayload = errors.New("malformed hook payload")

// An Event is the part of a payload that we keep. Fields that the event does not have are zero.
type Payload struct {
	Name           string // hook_event_name: UserPromptSubmit, Stop, ...; not checked, there may be new ones
	SessionID      string // letters, digits, - and _, at most 128: safe as a file name
	TranscriptPath string // absolute, or "" if the client keeps none; the file need not exist
	Cwd            string // absolute; follows the agent's cd
	PromptID       string // prompt_id, or turn_id where there is none; "" before the first prompt

	Prompt               string // UserPromptSubmit
	LastAssistantMessage string // Stop; StopFailure, where it is the error's text
	StopHookActive       bool   // Stop: the turn goes on because of a Stop hook
	Source               string // SessionStart: startup, resume, fork, clear, compact
	Reason               string // SessionEnd: other, prompt_input_exit, clear
	Error                string // StopFailure
	Trigger              string // PreCompact: manual, auto
	Model                string
	AgentID, AgentType   string // set if the event comes from inside a sub-agent
	ToolCalls            int    // PostToolBatch: how many tool calls it reports

	// Lock is a file that the client should keep locked as long as the session lives; "" if it has
	// none. It is no part of the payload.
	Lock string
}

// Parse decodes the payload on r, one JSON object, and stops reading after it. Fields that [Event]
// does not have are skipped without being kept or checked, so a payload with a large tool input
// costs time but no memory. An error wraps [ErrPayload] and names the field at fault, unless
// reading itself failed.
//
// Clients pass the payload on a socket, which may be in non-blocking mode; [os.Stdin] still waits
// for it.
func Parse(r io.Reader) (*Payload, error) {
	e := new(Payload)
	var turnID string
	err := newScanner(r).object(map[string]any{
		"hook_event_name":        &e.Name,
		"session_id":             &e.SessionID,
		"transcript_path":        &e.TranscriptPath,
		"cwd":                    &e.Cwd,
		"prompt_id":              &e.PromptID,
		"turn_id":                &turnID,
		"prompt":                 &e.Prompt,
		"last_assistant_message": &e.LastAssistantMessage,
		"stop_hook_active":       &e.StopHookActive,
		"source":                 &e.Source,
		"reason":                 &e.Reason,
		"error":                  &e.Error,
		"trigger":                &e.Trigger,
		"model":                  &e.Model,
		"agent_id":               &e.AgentID,
		"agent_type":             &e.AgentType,
		"tool_calls":             &e.ToolCalls,
	})
	if err != nil {
		return nil, err
	}
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
	case e.TranscriptPath != "" && !validPath(e.TranscriptPath):
		return malformed("transcript_path", "%.80q is not an absolute path", e.TranscriptPath)
	}
	return nil
}

// ValidID reports whether id matches [A-Za-z0-9][A-Za-z0-9_-]{0,127}, so that it can be a file
// name, a part of a ref and an argument, and nothing else.
func ValidID(id string) bool {
	const first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return id != "" && len(id) <= 128 && strings.IndexByte(first, id[0]) >= 0 && strings.Trim(id, first+"-_") == ""
}

func validPath(path string) bool {
	return filepath.IsAbs(path) && !strings.ContainsRune(path, 0)
}

// decode stores the JSON value raw in field, a string or bool. null gives the zero value, as if the
// field were missing.
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

// kindOf names the kind of the JSON value that starts with c.
func kindOf(c byte) string {
	kinds := map[byte]string{'{': "an object", '[': "an array", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null"}
	return cmp.Or(kinds[c], "a number")
}

// malformed returns an error about field, or about the payload as a whole if field is "".
func malformed(field, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	switch {
	case field == "":
		return fmt.Errorf("%w: %s", ErrPayload, text)
	case !ValidID(field): // a stranger's text
		return fmt.Errorf("%w: %.40q: %s", ErrPayload, field, text)
	}
	return fmt.Errorf("%w: %s: %s", ErrPayload, field, text)
}

// A Client is what the environment of a hook, or of a command that an agent runs, says about the
// client. A missing or invalid variable gives the zero value. The environment also holds secrets:
// it must never be logged as a whole.
type Environment struct {
	ProjectDir string // where the client was launched; stays when the agent changes directory
	PID        int    // the client itself: a shell may stand between it and the hook, so this is not our parent
	SessionID  string // also in the agent's own shell commands, as PID is, unlike ProjectDir
	PluginRoot string // the plugin's directory; "" if the hook comes from settings
	// Shared says that the process serves several clients. The environment is not that of the session's
	// own client then: neither GIT_AGENT_MISSION, GIT_AGENT_DISABLE nor a pane of tmux in it is believed,
	// and of where the agent works only what the payload says.
	Shared bool
}
