package droid

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// Event decodes a payload. The client gives turns no ids, so a turn's id is
// that of its prompt in the file, which is not there yet when the turn begins.
//
// Without a screen the client runs no hook for a prompt, but has one when a
// session starts. Its hook for the end of a turn doesn't say how it ended.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err != nil {
		return nil, err
	}
	switch e.Name {
	case "SessionStart":
		e.Begins = e.Source != "clear" && e.Source != "compact" && executes(session.Argv(client()))
	case "Stop":
		ended(e)
	}
	return e, nil
}

// ended fills in what the file says of the ended turn. That is complete, but for
// how the turn ended: an error is the last thing that the user is shown.
func ended(e *hooks.Payload) {
	const most = 4 << 20 // a turn has an end within that
	data, err := transcript.LastTurn(e.TranscriptPath, Reader, most)
	if err != nil {
		return
	}
	r := new(reader)
	for line := range bytes.Lines(data) {
		if opens := r.Read(0, bytes.TrimSuffix(line, []byte{'\n'})).Opens; opens != nil {
			e.PromptID = opens.PromptID
		}
	}
	if r.notice != "" {
		e.Name, e.LastAssistantMessage = "StopFailure", r.notice
	}
}

// Client finds the client among our ancestors. It sets no session for hooks or
// for the agent's commands that only it would set.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.Environment{PID: client()}
	if dir := getenv("FACTORY_PROJECT_DIR"); filepath.IsAbs(dir) {
		c.ProjectDir = dir
	}
	return c
}

func client() (pid int) {
	return session.Nearest(func(p session.Process) bool { return p.Name == Program }).PID
}

// executes reports whether a command line is that of the client without a
// screen, with one prompt.
func executes(argv []string) bool {
	return slices.Contains(argv, "exec") && !slices.ContainsFunc(argv, func(word string) bool { return strings.HasPrefix(word, "--input-format") })
}

// Variables are set for the agent's commands.
var Variables = []string{"FACTORY_DISABLE_SETTINGS_PERSISTENCE"}
