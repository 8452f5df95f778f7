package opencode

// The names of OpenCode, and its client's newest version in tests.
const (
	Name    = "opencode"
	Program = "opencode"
	Title   = "OpenCode"
	Tested  = "1.18.33"
)
