package droid

// The names of Factory's droid, and its client's newest version in tests.
const (
	Name    = "droid"
	Program = "droid"
	Title   = "Factory droid"
	Tested  = "0.225.2"
)
