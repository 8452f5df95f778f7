package qwen

// The names of Qwen Code, and its client's newest version in tests.
const (
	Name    = "qwen-code"
	Program = "qwen"
	Title   = "Qwen Code"
	Tested  = "0.24.4"
)
