package claude

// Claude Code, as records, command lines and people call it, and the newest version of
// its client that the tests ran.
const (
	Name    = "claude-code"
	Program = "claude"
	Title   = "Claude Code"
	Tested  = "2.1.330"
)
