package claude

import (
	"io"
	"path/filepath"
	"strconv"

	"gitagent/hooks"
	"gitagent/internal/agent/claude/registry"
	"gitagent/internal/session"
)

// Event decodes a payload: the common words are the client's own.
func (Agent) Event(r io.Reader) (*hooks.Event, error) { return hooks.Parse(r) }

// Client reads the variables that the client sets for its hooks and for what its agent runs.
func (Agent) Client(getenv func(string) string) hooks.Client {
	c := hooks.Client{
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

// Marks returns what shows that the client's agent runs a process. CLAUDE_PROJECT_DIR is none: other
// clients set it for hooks that were written for this one.
func (a Agent) Marks() (variables, programs []string) {
	return []string{"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID"}, []string{a.Program()}
}

// Running lists the clients that have registered themselves.
func (Agent) Running(config string) ([]session.Registration, error) {
	if config == "" {
		return nil, nil
	}
	return registry.All(config)
}
