package gemini

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// Event decodes a payload. The client gives turns no ids, so a turn's id is
// that of its prompt in the file, which is not there yet when the turn begins.
//
// AfterAgent comes after any end of a turn, and its prompt_response has all
// that was said. The last answer, if any, is read from the file.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err != nil {
		return nil, err
	}
	switch e.Name {
	case "BeforeAgent":
		e.Name, e.Prompt = "UserPromptSubmit", typed(e.Prompt)
	case "AfterAgent":
		e.Prompt = typed(e.Prompt)
		ended(e)
	case "AfterTool":
		e.Name = "PostToolUse"
	}
	return e, nil
}

// ended fills in what the file says of the ended turn.
func ended(e *hooks.Payload) {
	const most = 4 << 20 // a person's turn has an end within that
	e.Name = "Stop"
	data, err := transcript.LastTurn(e.TranscriptPath, Reader, most)
	if err != nil {
		return
	}
	r := Reader()
	for line := range bytes.Lines(data) {
		switch entry := r.Read(0, bytes.TrimSuffix(line, []byte{'\n'})); {
		case entry.Opens != nil:
			e.Name, e.PromptID, e.LastAssistantMessage = "Stop", entry.Opens.PromptID, ""
		case entry.Failed:
			e.Name, e.LastAssistantMessage = "StopFailure", entry.Parts[0].Text
		case entry.Interrupted:
			e.Name = "Interrupt"
		}
	}
}

// typed returns a prompt without what hooks have added to it.
func typed(prompt string) string {
	for {
		rest, ok := strings.CutPrefix(strings.TrimLeft(prompt, "\n"), hookContext)
		if !ok {
			return prompt
		}
		_, rest, ok = strings.Cut(rest, hookContextEnd)
		if !ok {
			return prompt
		}
		prompt = strings.TrimLeft(rest, "\n")
	}
}

// The client's marks of hooks' words to the model.
const (
	hookContext    = "<hook_context>"
	hookContextEnd = "</hook_context>"
)

// Client reads the variables of hooks. Commands have no session's id.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.ReadEnvironment(getenv, "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID")
	c.PID = session.Nearest(func(p session.Process) bool { return runs(session.Argv(p.PID)) }).PID
	return c
}

// runs reports whether a command line is the client's. It is a script, so the
// system's name of the process is node.
func runs(args []string) bool {
	return strings.TrimSuffix(filepath.Base(session.Program(args)), ".js") == Program
}

// Variables are set for the agent's commands.
var Variables = []string{"GEMINI_CLI", "GEMINI_SESSION_ID"}
