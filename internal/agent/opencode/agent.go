package opencode

import "strings"

// An Edition is OpenCode, or OpenCode under another name: it has the same plugins,
// conversations and commands, and differs by these names.
type Edition struct {
	Name    string // in records
	Program string // its program, configuration and data have this name, too
	Title   string
	Tested  string // the newest version in tests
}

// OpenCode is the client itself.
var OpenCode = Edition{Name: "opencode", Program: "opencode", Title: "OpenCode", Tested: "1.18.33"}

// The plugin sets these variables for our hooks and the agent's commands.
func (c Edition) pidVariable() string     { return c.variable("PID") }
func (c Edition) sessionVariable() string { return c.variable("SESSION") }

func (c Edition) variable(of string) string {
	return "GIT_AGENT_" + strings.ToUpper(c.Program) + "_" + of
}

// Variables are set by the client and the plugin.
func (c Edition) Variables() []string {
	return []string{"OPENCODE", "OPENCODE_PID", c.pidVariable(), c.sessionVariable()}
}
