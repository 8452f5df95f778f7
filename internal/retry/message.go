package retry

import (
	"fmt"
	"strings"
)

// A Failure is a failed attempt.
type Failure struct {
	Attempt int    // first is 1
	Of      int    // most attempts
	Why     string // "it ended with status 1"
	Tail    string // end of its output, or "" if not kept
	Check   string // command that checked the attempt, or ""
	Output  string // end of its output
}

const rule = "----------------------------------------" // around output

// Context returns what to add to the next prompt.
func (f Failure) Context() string {
	var b strings.Builder
	fmt.Fprintf(&b, "RETRY %d/%d\n\nThe previous attempt failed: %s.\n", f.Attempt+1, f.Of, f.Why)
	if f.Tail != "" {
		fmt.Fprintf(&b, "\nThis is the end of what it printed:\n%s\n%s\n%s\n", rule, f.Tail, rule)
	}
	if f.Output != "" {
		fmt.Fprintf(&b, "\nThe check `%s` printed:\n%s\n%s\n%s\n", f.Check, rule, f.Output, rule)
	}
	b.WriteString(`
What it has changed in the worktree is still there. Look at what went wrong before you begin, and do not repeat it:
go on from what is right, and correct what is not.
`)
	return b.String()
}
