package hooks

import (
	"path/filepath"
	"strconv"
)

// A Client is what the environment of a hook, or of a command that an agent runs, says about the
// client. A missing or invalid variable gives the zero value. The environment also holds secrets:
// it must never be logged as a whole.
type Client struct {
	ProjectDir string // where the client was launched; stays when the agent changes directory
	PID        int    // the client itself: a shell may stand between it and the hook, so this is not our parent
	SessionID  string // also in the agent's own shell commands, as PID is, unlike ProjectDir
	PluginRoot string // the plugin's directory; "" if the hook comes from settings
}

// ReadClient reads the environment of Claude Code's hooks.
// getenv is [os.Getenv] or a stand-in.
func ReadClient(getenv func(string) string) Client {
	c := Client{
		ProjectDir: getenv("CLAUDE_PROJECT_DIR"),
		SessionID:  getenv("CLAUDE_CODE_SESSION_ID"),
		PluginRoot: getenv("CLAUDE_PLUGIN_ROOT"),
	}
	if !filepath.IsAbs(c.ProjectDir) {
		c.ProjectDir = ""
	}
	if !ValidID(c.SessionID) {
		c.SessionID = ""
	}
	if pid, err := strconv.Atoi(getenv("CLAUDE_PID")); err == nil && pid > 0 {
		c.PID = pid
	}
	return c
}
