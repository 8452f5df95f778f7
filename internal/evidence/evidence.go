package evidence

// A Kind says what a check looks at.
type Kind string

// The kinds.
const (
	Test  Kind = "test"
	Lint  Kind = "lint"
	Build Kind = "build"
	Types Kind = "types"
)

// Kinds are all kinds.
var Kinds = []Kind{Test, Lint, Build, Types}

// An Outcome is how a check ended.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Stopped Outcome = "stopped" // interrupted, timed out or killed
	Unknown Outcome = "unknown"
)

// A Check is a command that looks whether the work is right, and its end.
type Check struct {
	Kind    Kind
	Command string // normalised: without what it is wrapped in
	Outcome Outcome
	Exit    *int   // its status; nil if that is not known
	Call    string // the call that it was in; "" if unknown
}

// A Word says what a turn's checks come to.
type Word string

// The words. A turn that changed nothing and ran no check has none.
const (
	Tested      Word = "tested"       // the last tests passed, and nothing changed since
	Failing     Word = "failed"       // the last check of a kind failed
	EditedSince Word = "edited since" // the last tests passed, and files changed after them
	Unclear     Word = "unknown"      // tests ran, and how they ended, or whether files changed since, is not known
	Untested    Word = "untested"     // no test ran
)

// worse reports whether an outcome shows less than another.
func worse(a, b Outcome) bool { return a == Failed || a != Passed && b == Passed }

// WordOf returns the word for checks, the oldest first. changed says that the
// turn changed files, and after whether it did so after the last check; nil if
// that is not known.
func WordOf(checks []Check, changed bool, after *bool) Word {
	last, calls := make(map[Kind]Outcome), make(map[Kind]string)
	for _, c := range checks {
		if c.Call == "" || c.Call != calls[c.Kind] || worse(c.Outcome, last[c.Kind]) {
			last[c.Kind] = c.Outcome
		}
		calls[c.Kind] = c.Call
	}
	for _, kind := range Kinds {
		if last[kind] == Failed {
			return Failing
		}
	}
	switch test := last[Test]; {
	case test == "" && !changed && len(checks) == 0:
		return ""
	case test == "":
		return Untested
	case test != Passed, after == nil:
		return Unclear
	case *after:
		return EditedSince
	}
	return Tested
}
