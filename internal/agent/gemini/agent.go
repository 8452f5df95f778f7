package gemini

// An Agent is Gemini CLI; see package agent for what its methods promise.
type Agent struct{}

// Name returns what records call it.
func (Agent) Name() string { return "gemini-cli" }

// Program returns the client's program.
func (Agent) Program() string { return "gemini" }

// Title returns what people call it.
func (Agent) Title() string { return "Gemini CLI" }

// Tested returns the newest version of the client that the tests ran.
func (Agent) Tested() string { return "0.61.0" }
