package opencode

import (
	"strconv"

	"gitagent/hooks"
)

// The variables that the plugin sets, for our hooks and for what the agent runs.
const (
	pidVariable     = "GIT_AGENT_OPENCODE_PID"
	sessionVariable = "GIT_AGENT_OPENCODE_SESSION"
)

// Client returns what the plugin has said about the client.
func Client(getenv func(string) string) hooks.Environment {
	var c hooks.Environment
	if id := getenv(sessionVariable); hooks.ValidID(id) {
		c.SessionID = id
	}
	if pid, err := strconv.Atoi(getenv(pidVariable)); err == nil && pid > 0 {
		c.PID = pid
	}
	return c
}

// Variables are what OpenCode and the plugin set.
var Variables = []string{"OPENCODE", "OPENCODE_PID", pidVariable, sessionVariable}
