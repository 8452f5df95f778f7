package copilot

// The names of GitHub Copilot CLI, and its client's newest version in tests.
const (
	Name    = "copilot-cli"
	Program = "copilot"
	Title   = "GitHub Copilot CLI"
	Tested  = "1.0.102"
)
