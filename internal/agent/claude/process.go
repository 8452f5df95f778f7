package claude

import (
	"path/filepath"
	"strconv"

	"gitagent/hooks"
)

// Client reads the variables that the client sets for its hooks and for what its agent runs.
func Client(getenv func(string) string) hooks.Environment {
	c := hooks.Environment{
		ProjectDir: getenv("CLAUDE_PROJECT_DIR"),
		SessionID:  getenv("CLAUDE_CODE_SESSION_ID"),
		PluginRoot: getenv("CLAUDE_PLUGIN_ROOT"),
	}
	if !filepath.IsAbs(c.ProjectDir) {
		c.ProjectDir = ""
	}
	if !hooks.ValidID(c.SessionID) {
		c.SessionID = ""
	}
	if pid, err := strconv.Atoi(getenv("CLAUDE_PID")); err == nil && pid > 0 {
		c.PID = pid
	}
	return c
}

// Variables are what the client sets for what its agent runs. CLAUDE_PROJECT_DIR is
// not one of them: other clients set it for hooks that were written for this one.
var Variables = []string{"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID"}
