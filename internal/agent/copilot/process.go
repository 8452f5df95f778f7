package copilot

import (
	"bytes"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// Event decodes a payload. The client gives turns no ids, so a turn's id is its
// interaction's in the file, which is not there yet when the turn begins.
//
// What the client itself says in the user's place goes on with the last turn:
// it has that one's interaction. Its own hook for a compaction is not ours, but
// runs where it borrows Claude Code's.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err != nil {
		return nil, err
	}
	switch {
	case e.AgentID != "":
		ofParent(e)
	case e.Name == "UserPromptSubmit" && strings.HasPrefix(e.Prompt, notice), e.Name == "PreCompact":
		e.Name = ""
	case e.Name == "Stop":
		e.PromptID = lastInteraction(e.TranscriptPath, e.Timestamp)
	case e.Source == "new":
		e.Source = "startup"
	}
	if e.Name == "PostToolUseFailure" {
		e.Name = "PostToolUse"
	}
	return e, nil
}

// notice begins the client's own words in the user's place.
const notice = "<system_notification>"

// ofParent gives a sub-agent's event the session that started it, in the place
// of its own id. Of what a sub-agent's sub-agent does, nothing says whose
// session it is.
func ofParent(e *hooks.Payload) {
	config := ConfigDir(os.Getenv)
	if _, err := os.Stat(Path(config, e.ParentID)); err != nil {
		e.Name = ""
		return
	}
	e.SessionID, e.TranscriptPath = e.ParentID, ""
}

// lastInteraction returns the interaction that has ended in the file at path, or
// "". The client may write later than it runs the hook: all is there when the
// file has the note of this hook, of the same time. Until then it may end in the
// turn before, or with the hook before, if the turn went on.
func lastInteraction(path, at string) string {
	const (
		step     = 10 * time.Millisecond
		patience = 2 * time.Second
		most     = 4 << 20 // a request and its results take less
	)
	for waited := time.Duration(0); waited < patience; waited += step {
		data, err := transcript.Tail(path, most)
		if err != nil {
			return ""
		}
		if id, ended := interaction(data, at); ended {
			return id
		}
		time.Sleep(step)
	}
	return ""
}

// interaction returns the interaction of a file's last event that has one, and
// whether the hook for its end at that time was noted after it, and still runs.
func interaction(data []byte, at string) (id string, ended bool) {
	for line := range backwards(data) {
		switch id = text(line, "data.interactionId"); {
		case id != "":
			return id, ended
		case line.Get("data.hookType").Str != stopHook:
		case line.Get("type").Str == "hook.start":
			ended = at == "" || line.Get("timestamp").Str == at
		case !ended:
			return "", false
		}
	}
	return "", ended
}

// backwards yields the session's own events, the last first.
func backwards(data []byte) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		for data = bytes.TrimSuffix(data, []byte{'\n'}); len(data) > 0; {
			at := bytes.LastIndexByte(data, '\n') + 1
			line := gjson.ParseBytes(data[at:])
			if transcript.Valid(data[at:]) && !line.Get("agentId").Exists() && !yield(line) {
				return
			}
			data = bytes.TrimSuffix(data[:at], []byte{'\n'})
		}
	}
}

// Client finds the client among our ancestors: the npm package's program starts
// it and waits. Hooks have no session's id.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.ReadEnvironment(getenv, "COPILOT_PROJECT_DIR", "COPILOT_AGENT_SESSION_ID")
	c.PID = session.Nearest(func(p session.Process) bool { return runs(session.Argv(p.PID)) }).PID
	return c
}

// runs reports whether a command line is the client's. The system calls its
// process MainThread.
func runs(args []string) bool { return len(args) > 0 && filepath.Base(args[0]) == Program }

// Borrows reports whether a hook's environment is this client's, which also
// runs the hooks of a project's .claude/settings.json.
func Borrows(getenv func(string) string) bool { return getenv("COPILOT_CLI") != "" }

// Variables are set for the agent's commands.
var Variables = []string{"COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"}
