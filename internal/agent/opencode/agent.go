package opencode

// An Agent is OpenCode; see package agent for what its methods promise.
type Agent struct{}

// Name returns what records call it.
func (Agent) Name() string { return "opencode" }

// Program returns the client's program.
func (Agent) Program() string { return "opencode" }

// Title returns what people call it.
func (Agent) Title() string { return "OpenCode" }

// Tested returns the newest version of the client that the tests ran.
func (Agent) Tested() string { return "1.18.33" }
