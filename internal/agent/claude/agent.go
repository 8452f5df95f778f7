package claude

// The names of Claude Code, and its client's newest version in tests.
const (
	Name    = "claude-code"
	Program = "claude"
	Title   = "Claude Code"
	Tested  = "2.1.332"
)
