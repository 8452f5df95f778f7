package gemini

// The names of Gemini CLI, and its client's newest version in tests.
const (
	Name    = "gemini-cli"
	Program = "gemini"
	Title   = "Gemini CLI"
	Tested  = "0.61.0"
)
