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
	Then    bool   // what came behind it in its command may have changed files
}

// A Word says what a turn's checks come to.
type Word string

// The words. A turn that changed nothing and ran no check has none.
const (
	Tested      Word = "tested"       // all tests that ran have passed in the end, and nothing changed since
	Failing     Word = "failed"       // a check failed, and none that covers it has passed since
	EditedSince Word = "edited since" // they passed, and files changed after the last
	Unclear     Word = "unknown"      // how a test ended, or whether files changed since, is not known
	Untested    Word = "untested"     // no test ran
)

// Standing returns which of the checks, the oldest first, did not pass, and none
// has since that covers them. A check of the same call does not: it may have run
// at the same time.
func Standing(checks []Check) (standing []int) {
	for i := range checks {
		c := &checks[i]
		standing = slices.DeleteFunc(standing, func(n int) bool {
			before := &checks[n]
			if c.Outcome == Passed {
				return (c.Call == "" || c.Call != before.Call) && c.covers(before)
			}
			return c.Outcome == before.Outcome && c.repeats(before)
		})
		if c.Outcome != Passed {
			standing = append(standing, i)
		}
	}
	return standing
}

// WordOf returns the word for checks, the oldest first. changed says that the
// turn changed files, and after whether it did so after the last check; nil if
// that is not known.
func WordOf(checks []Check, changed bool, after *bool) Word {
	word := Untested
	for _, c := range checks {
		if c.Kind == Test {
			word = Tested
		}
	}
	for _, i := range Standing(checks) {
		switch {
		case checks[i].Outcome == Failed:
			return Failing
		case checks[i].Kind == Test:
			word = Unclear
		}
	}
	switch {
	case word == Untested && !changed && len(checks) == 0:
		return ""
	case word == Tested && after == nil:
		return Unclear
	case word == Tested && *after:
		return EditedSince
	}
	return word
}
