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
		{[]record.Check{{Kind: evidence.Lint, Command: "vet", Outcome: evidence.Passed}}, 3, "unknown: vet passed, and 3 more"},
		{checks(slices.Concat([]string{"x=failed"}, many)...), 0, "failed: x failed, test 5 passed, test 6 passed, test 7 passed, test 8 passed, and 5 more"},
		{checks("a=failed", "b=failed", "c=failed", "d=failed", "e=failed", "f=failed"), 0, "failed: b failed, c failed, d failed, e failed, f failed, and 1 more"},
		{checks("a=" + strings.Repeat("?", 1000)), 0, "unknown: a " + strings.Repeat("?", 59) + "…"},
		{checks(strings.Repeat("long ", 40) + "=passed"), 0, "tested: " + strings.Repeat("long ", 11) + "long… passed"},
	} {
		turn := Turn{Checks: tt.checks, ChecksLeft: tt.left, ChangedAfter: &no}
		if got := turn.ChecksText(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// TestPassed: each test that passed is told once, with where.
func TestPassed(t *testing.T) {
	t.Parallel()
	no := false
	test := func(in string, o evidence.Outcome) record.Check {
		return record.Check{Kind: evidence.Test, Command: "npm test", In: in, Outcome: o}
	}
	turn := &Turn{Checks: []record.Check{test("web", evidence.Failed), test("web", evidence.Passed), test("", evidence.Passed), test("web", evidence.Passed)}, ChangedAfter: &no}
	if got, want := turn.Passed(), []string{"npm test in web", "npm test"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDenies: what a record says of a reply that tests pass.
func TestDenies(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	check := func(kind evidence.Kind, command string, o evidence.Outcome) record.Check {
		return record.Check{Kind: kind, Command: command, Outcome: o}
	}
	a, b := check(evidence.Test, "pytest a", evidence.Failed), check(evidence.Test, "pytest b", evidence.Passed)
	lint := check(evidence.Lint, "ruff", evidence.Failed)
	for name, tt := range map[string]struct {
		checks  []record.Check
		changed bool
		after   *bool
		more    func(*Turn)
		want    string
	}{
		"nobody looked":                     {nil, true, nil, nil, "unsaid"},
		"nothing ran":                       {[]record.Check{}, true, nil, nil, "denied"},
		"nothing ran, and nothing changed":  {[]record.Check{}, false, nil, nil, "ask before"},
		"a linter failed, nothing changed":  {[]record.Check{lint}, false, &no, nil, "ask before"},
		"they passed, and a linter failed":  {[]record.Check{b, lint}, true, &no, nil, "unsaid"},
		"they passed before an edit":        {[]record.Check{b}, true, &yes, nil, "denied"},
		"they may be among those left out":  {[]record.Check{}, true, &no, func(r *Turn) { r.ChecksLeft = 1 }, "unsaid"},
		"they failed":                       {[]record.Check{a}, true, &no, nil, "denied"},
		"some failed, and others passed":    {[]record.Check{a, b}, true, &no, nil, "unsaid"},
		"others passed, and then some fail": {[]record.Check{b, a}, true, &no, nil, "denied"},
		"they fail, and then it is hidden":  {[]record.Check{a, check(evidence.Test, "pytest a", evidence.Unknown)}, true, &no, nil, "unsaid"},
		"a server's tool may have run them": {[]record.Check{}, true, nil, func(r *Turn) { r.Tools = map[string]int{"Edit": 1, "mcp__ide__run": 1} }, "unsaid"},
		"a tool for tests has":              {[]record.Check{}, true, nil, func(r *Turn) { r.Tools = map[string]int{"runTests": 1} }, "unsaid"},
		"the user may have":                 {[]record.Check{}, true, nil, func(r *Turn) { r.Prompt = "!npm test" }, "unsaid"},
		"a sub-agent that is missing may":   {[]record.Check{}, true, nil, func(r *Turn) { r.Agents = []record.Subagent{{Missing: "unreadable"}} }, "unsaid"},
	} {
		turn := &Turn{Agent: "claude-code", Checks: tt.checks, ChangedAfter: tt.after}
		if tt.changed {
			turn.Files = 1
		}
		if tt.more != nil {
			tt.more(turn)
		}
		got := "unsaid"
		switch denies, known := turn.Denies(); {
		case !known:
			got = "ask before"
		case denies:
			got = "denied"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
