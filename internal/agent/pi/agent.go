package pi

// The names of pi, and its client's newest version in tests.
const (
	Name    = "pi"
	Program = "pi"
	Title   = "pi"
	Tested  = "1.6.0"
)
