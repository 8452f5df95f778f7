package codex

// The names of Codex, and its client's newest version in tests.
const (
	Name    = "codex"
	Program = "codex"
	Title   = "Codex"
	Tested  = "0.171.0"
)
