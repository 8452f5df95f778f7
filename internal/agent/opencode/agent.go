package opencode

// OpenCode, as records, command lines and people call it, and the newest version of
// its client that the tests ran.
const (
	Name    = "opencode"
	Program = "opencode"
	Title   = "OpenCode"
	Tested  = "1.18.33"
)
