package opencode

import (
	"strconv"

	"gitagent/hooks"
)

// Environment returns what the plugin has said about the client.
func (c Edition) Environment(getenv func(string) string) (e hooks.Environment) {
	if id := getenv(c.sessionVariable()); hooks.ValidID(id) {
		e.SessionID = id
	}
	if pid, err := strconv.Atoi(getenv(c.pidVariable())); err == nil && pid > 0 {
		e.PID = pid
	}
	return e
}
