package gemini

// Gemini CLI, as records, command lines and people call it, and the newest version of
// its client that the tests ran.
const (
	Name    = "gemini-cli"
	Program = "gemini"
	Title   = "Gemini CLI"
	Tested  = "0.61.0"
)
