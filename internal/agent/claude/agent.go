package claude

// An Agent is Claude Code; see package agent for what its methods promise.
type Agent struct{}

// Name returns what records call it.
func (Agent) Name() string { return "claude-code" }

// Program returns the client's program.
func (Agent) Program() string { return "claude" }

// Title returns what people call it.
func (Agent) Title() string { return "Claude Code" }

// Tested returns the newest version of the client that the tests ran.
func (Agent) Tested() string { return "2.1.330" }
