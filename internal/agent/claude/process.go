package claude

import (
	"strconv"

	"gitagent/hooks"
)

// Client reads the variables of hooks and of the agent's commands.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.ReadEnvironment(getenv, "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID")
	c.PluginRoot = getenv("CLAUDE_PLUGIN_ROOT")
	if pid, err := strconv.Atoi(getenv("CLAUDE_PID")); err == nil && pid > 0 {
		c.PID = pid
	}
	return c
}

// Variables are set for the agent's commands. CLAUDE_PROJECT_DIR is not listed:
// other clients set it for hooks written for this one.
var Variables = []string{"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID"}
