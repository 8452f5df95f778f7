package codex

// Codex, as records, command lines and people call it, and the newest version of
// its client that the tests ran.
const (
	Name    = "codex"
	Program = "codex"
	Title   = "Codex"
	Tested  = "0.169.0"
)
