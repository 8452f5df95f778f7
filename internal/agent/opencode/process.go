package opencode

import (
	"strconv"

	"gitagent/hooks"
)

// The plugin sets these variables for our hooks and the agent's commands.
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

// Variables are set by OpenCode and the plugin.
var Variables = []string{"OPENCODE", "OPENCODE_PID", pidVariable, sessionVariable}
