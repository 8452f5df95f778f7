package evidence

import "slices"

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
	In      string // where it ran, if not where the client works: a directory, a container
	Outcome Outcome
	Exit    *int   // its status; nil if that is not known
	Call    string // the call that it was in; "" if unknown
}

// A Word says what a turn's checks come to.
type Word string

// The words. A turn that changed nothing and ran no check has none.
const (
	Tested      Word = "tested"       // the last tests passed, and nothing changed since
	Failing     Word = "failed"       // a check failed, and none that covers it has passed since
	EditedSince Word = "edited since" // the last tests passed, and files changed after them
	Unclear     Word = "unknown"      // tests ran, and how they ended, or whether files changed since, is not known
	Untested    Word = "untested"     // no test ran
)

// worse reports whether an outcome shows less than another.
func worse(a, b Outcome) bool { return a != Passed && b == Passed }

// Standing returns where the failures are among checks, the oldest first, after
// which none has passed that covers them. A check of the same call does not: it
// may have run at the same time.
func Standing(checks []Check) (failures []int) {
	for i := range checks {
		c := &checks[i]
		switch c.Outcome {
		case Failed:
			failures = append(slices.DeleteFunc(failures, func(n int) bool { return c.repeats(&checks[n]) }), i)
		case Passed:
			failures = slices.DeleteFunc(failures, func(n int) bool {
				return (c.Call == "" || c.Call != checks[n].Call) && c.covers(&checks[n])
			})
		}
	}
	return failures
}

// WordOf returns the word for checks, the oldest first. changed says that the
// turn changed files, and after whether it did so after the last check; nil if
// that is not known.
func WordOf(checks []Check, changed bool, after *bool) Word {
	if len(Standing(checks)) > 0 {
		return Failing
	}
	var test Outcome
	var call string
	for _, c := range checks {
		if c.Kind == Test {
			if c.Call == "" || c.Call != call || worse(c.Outcome, test) {
				test = c.Outcome
			}
			call = c.Call
		}
	}
	switch {
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
