package opencode

import "strings"

// An Edition is OpenCode, or OpenCode under another name: it has the same plugins,
// conversations and commands, and differs by these names.
type Edition struct {
	Name    string // in records
	Program string // its program, configuration, data and variables have this name, too
	Title   string
	Tested  string // the newest version in tests
	Agent   string // the client's own that works by default

	quiet []string // its commands that don't talk to a person, beside OpenCode's
}

var (
	// OpenCode is the client itself.
	OpenCode = Edition{Name: "opencode", Program: "opencode", Title: "OpenCode", Tested: "1.18.33", Agent: "build"}
	// Kilo is Kilo CLI. Its commands have OpenCode's variables as well.
	Kilo = Edition{
		Name: "kilo", Program: "kilo", Title: "Kilo CLI", Tested: "7.7.9", Agent: "code",
		quiet: []string{"cloud", "config", "console", "daemon", "help", "profile", "remote", "roll-call", "worktree"},
	}
)

// The plugin sets these variables for our hooks and the agent's commands.
func (c Edition) pidVariable() string     { return c.variable("PID") }
func (c Edition) sessionVariable() string { return c.variable("SESSION") }

func (c Edition) variable(of string) string {
	return "GIT_AGENT_" + strings.ToUpper(c.Program) + "_" + of
}

// Variables are set by the client and the plugin.
func (c Edition) Variables() []string {
	own := strings.ToUpper(c.Program)
	return []string{own, own + "_PID", c.pidVariable(), c.sessionVariable()}
}
