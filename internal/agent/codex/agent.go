package codex

// An Agent is Codex; see package agent for what its methods promise.
type Agent struct{}

// Name returns what records call it.
func (Agent) Name() string { return "codex" }

// Program returns the client's program.
func (Agent) Program() string { return "codex" }

// Title returns what people call it.
func (Agent) Title() string { return "Codex" }

// Tested returns the newest version of the client that the tests ran.
func (Agent) Tested() string { return "0.169.0" }
