package opencode

import (
	"io"
	"strconv"

	"gitagent/hooks"
	"gitagent/internal/session"
)

// The variables that the plugin sets, for our hooks and for what the agent runs.
const (
	pidVariable     = "GIT_AGENT_OPENCODE_PID"
	sessionVariable = "GIT_AGENT_OPENCODE_SESSION"
)

// Event decodes a payload: the plugin sends them in the common words.
func (Agent) Event(r io.Reader) (*hooks.Event, error) { return hooks.Parse(r) }

// Client returns what the plugin has said about the client.
func (Agent) Client(getenv func(string) string) hooks.Client {
	var c hooks.Client
	if id := getenv(sessionVariable); hooks.ValidID(id) {
		c.SessionID = id
	}
	if pid, err := strconv.Atoi(getenv(pidVariable)); err == nil && pid > 0 {
		c.PID = pid
	}
	return c
}

// Marks returns what OpenCode and the plugin set.
func (a Agent) Marks() (variables, programs []string) {
	return []string{"OPENCODE", "OPENCODE_PID", pidVariable, sessionVariable}, []string{a.Program()}
}

// Running lists nothing: OpenCode keeps no registry of clients. Whether a session's client runs, its
// pid tells.
func (Agent) Running(config string) ([]session.Registration, error) { return nil, nil }
