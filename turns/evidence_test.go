package turns

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/evidence"
	"gitagent/internal/record"
)

// TestChecksText: what is said of checks fits on a screen, and tells of those that failed before all.
func TestChecksText(t *testing.T) {
	t.Parallel()
	no := false
	checks := func(list ...string) (all []record.Check) {
		for _, c := range list {
			command, outcome, _ := strings.Cut(c, "=")
			all = append(all, record.Check{Kind: evidence.Test, Command: command, Outcome: evidence.Outcome(outcome)})
		}
		return all
	}
	var many []string
	for n := range 9 {
		many = append(many, fmt.Sprintf("test %d=passed", n))
	}
	for _, tt := range []struct {
		checks []record.Check
		left   int
		want   string
	}{
		{[]record.Check{}, 0, ""},
		{checks("a=failed", "b=passed", "a=passed"), 0, "tested: b passed, a passed"},
		{checks(many...), 0, "tested: test 4 passed, test 5 passed, test 6 passed, test 7 passed, test 8 passed, and 4 more"},
		{checks(many...), 7, "tested: test 4 passed, test 5 passed, test 6 passed, test 7 passed, test 8 passed, and 11 more"},
		{checks(slices.Concat([]string{"x=failed"}, many)...), 0, "failed: x failed, test 5 passed, test 6 passed, test 7 passed, test 8 passed, and 5 more"},
		{checks("a=failed", "b=failed", "c=failed", "d=failed", "e=failed", "f=failed"), 0, "failed: b failed, c failed, d failed, e failed, f failed, and 1 more"},
		{checks(strings.Repeat("long ", 40) + "=passed"), 0, "tested: " + strings.Repeat("long ", 11) + "long… passed"},
	} {
		turn := Turn{Checks: tt.checks, ChecksLeft: tt.left, ChangedAfter: &no}
		if got := turn.ChecksText(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
