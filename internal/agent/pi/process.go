package pi

import (
	"io"
	"strconv"

	"gitagent/hooks"
	"gitagent/internal/session"
)

// Event decodes a payload of the extension's.
func Event(r io.Reader) (*hooks.Payload, error) {
	e, err := hooks.Parse(r)
	if err == nil {
		e.Prompt = typed(e.Prompt)
	}
	return e, err
}

// The client sets the session for its agent's commands, and the extension for
// our hooks, which it also tells the client's process.
const (
	pidVariable     = "GIT_AGENT_PI_PID"
	sessionVariable = "PI_SESSION_ID"
)

// Client reads these, and else finds the client among our ancestors.
func Client(getenv func(string) string) hooks.Environment {
	var c hooks.Environment
	if id := getenv(sessionVariable); hooks.ValidID(id) {
		c.SessionID = id
	}
	if pid, err := strconv.Atoi(getenv(pidVariable)); err == nil && pid > 0 {
		c.PID = pid
		return c
	}
	c.PID = session.Nearest(func(p session.Process) bool { return p.Name == Program }).PID
	return c
}

// Variables are set for the agent's commands. The first is also in those that a
// person has the client run.
var Variables = []string{"PI_CODING_AGENT", sessionVariable}
