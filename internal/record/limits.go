package record

// The limits of records and notes.
const (
	// MaxSteps is how many steps a turn can have: 100 of each session, and the
	// states in which turns beside it began and ended.
	MaxSteps = 10_000

	MaxPrompt  = 500      // runes
	MaxReply   = 1000     // runes, also for a reply instead of a summary
	MaxPaths   = 20       // number
	MaxSkipped = 50       // number
	MaxChecks  = 20       // number
	MaxCommand = 200      // runes
	MaxNote    = 32 << 10 // bytes; a longer note gets short lines

	MaxSummary   = 4000 // runes
	MaxQuestions = 20   // number
	MaxQuestion  = 500  // runes
	MaxTodos     = 50   // number
	MaxTodo      = 300  // runes
	MaxSubject   = 120  // runes
)
