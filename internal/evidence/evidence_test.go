package evidence

import (
	"fmt"
	"strings"
	"testing"
)

func TestWordOf(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	test := func(o Outcome) Check { return Check{Kind: Test, Outcome: o} }
	lint := func(o Outcome) Check { return Check{Kind: Lint, Outcome: o} }
	for _, tt := range []struct {
		checks  []Check
		changed bool
		after   *bool
		want    Word
	}{
		{nil, false, nil, ""},
		{nil, true, nil, Untested},
		{[]Check{lint(Passed)}, true, &no, Untested},
		{[]Check{lint(Passed)}, false, &no, Untested},
		{[]Check{lint(Failed)}, true, &no, Failing},
		{[]Check{test(Passed)}, true, &no, Tested},
		{[]Check{test(Passed)}, false, &no, Tested},
		{[]Check{test(Passed)}, true, &yes, EditedSince},
		{[]Check{test(Passed)}, true, nil, Unclear},
		{[]Check{test(Failed), test(Passed)}, true, &no, Tested},
		{[]Check{test(Failed), test(Unknown)}, true, &no, Failing},
		{[]Check{test(Failed), {Kind: Test, Command: "pytest", Outcome: Passed}}, true, &no, Failing}, // a record without a command
		{[]Check{test(Failed), test(Stopped), test(Passed)}, true, &no, Tested},
		{[]Check{test(Passed), test(Failed)}, true, &no, Failing},
		{[]Check{test(Passed), lint(Failed)}, true, &no, Failing},
		{[]Check{test(Passed), lint(Unknown)}, true, &no, Tested},
		{[]Check{test(Passed), test(Unknown)}, true, &no, Unclear},
		{[]Check{test(Passed), test(Stopped)}, true, &no, Unclear},
		{[]Check{{Kind: Test, Outcome: Failed, Call: "1"}, {Kind: Test, Outcome: Passed, Call: "1"}}, true, &no, Failing},
		{[]Check{{Kind: Test, Outcome: Unknown, Call: "1"}, {Kind: Test, Outcome: Passed, Call: "1"}}, true, &no, Unclear},
		{[]Check{{Kind: Test, Outcome: Failed, Call: "1"}, {Kind: Test, Outcome: Passed, Call: "2"}}, true, &no, Tested},
	} {
		if got := WordOf(tt.checks, tt.changed, tt.after); got != tt.want {
			t.Errorf("%v, changed %t: %q, want %q", tt.checks, tt.changed, got, tt.want)
		}
	}
}

// TestFailureStands: a run that failed is made good by one that covers it, and
// by nothing else. Commands are written in their order; what fails has a !, and
// what stands before a colon is where it ran.
func TestFailureStands(t *testing.T) {
	t.Parallel()
	no := false
	for _, tt := range []struct {
		ran  string
		want Word
	}{
		{"!pytest a; pytest b", Failing},
		{"!pytest a; pytest a", Tested},
		{"!pytest a; pytest", Tested},
		{"!pytest; pytest a", Failing},
		{"!pytest a b; pytest a", Failing},
		{"!pytest a; pytest b a", Tested},
		{"!pytest a/test_x.py::test_y; pytest a", Tested},
		{"!pytest ab; pytest a", Failing},
		{"!pytest -k login; pytest -k logout", Failing},
		{"!pytest -k login a; pytest -q", Tested},
		{"!pytest; pytest -k login", Failing},
		{"!pytest a; python3 -m pytest", Tested},
		{"!pytest a -x -q; pytest -v", Tested},
		{"!pytest -m slow; pytest", Failing}, // pytest alone may leave those out
		{"!go test ./x; go test ./...", Tested},
		{"!go test ./x; go test", Failing},
		{"!go test; go test ./...", Tested},
		{"!go test ./x -run TestA -count=1; go test ./x", Tested},
		{"!go test -race ./...; go test ./...", Failing},
		{"!go test -tags e2e ./x; go test -tags e2e ./...", Tested},
		{"!go test ./x; go test ../x/...", Failing},
		{"!go test ./x/y; go test ./x/...", Tested},
		{"!go test ./xy; go test ./x/...", Failing},
		{"!npm run test -- a.test.ts; npm test", Tested},
		{"!npm test; npm run test:unit", Failing},
		{"!npx vitest run a; npm test", Failing},
		{"!vitest run a -t name; vitest run", Tested},
		{"!make -j4 test; make test", Tested},
		{"!make test; make -k -j 8 test lint", Tested},
		{"!make test lint; make test", Failing},
		{"!python manage.py test app; python manage.py test", Tested},
		{"!python test_a.py; python test_b.py", Failing},
		{"!mvn -q test; mvn test", Tested},
		{"!cargo test name; cargo test", Tested},
		{"!cargo test -p a; cargo test", Failing},
		{"!acme verify a; acme verify", Failing}, // of which nothing is known
		{"!acme verify a; acme verify a", Tested},
		{"!pytest a; pytest b; pytest a", Tested},
		{"!pytest a; pytest a; !pytest a", Failing},
		{"!pytest …; pytest …", Failing}, // their ends may differ
		{"!web:npm test; api:npm test", Failing},
		{"!web:npm test; web:npm test", Tested},
		{"!web:npm test; npm test", Failing},
		{"!golangci-lint run; go vet ./...; go test", Failing},
	} {
		var checks []Check
		for i, command := range strings.Split(tt.ran, "; ") {
			command, fails := strings.CutPrefix(command, "!")
			in, command := cutPlace(command)
			c := Check{Kind: Test, Command: command, In: in, Outcome: Passed, Call: fmt.Sprint(i)}
			if kind := Patterns(nil).kind(strings.Fields(command)); kind != "" {
				c.Kind = kind
			}
			if fails {
				c.Outcome = Failed
			}
			checks = append(checks, c)
		}
		if got := WordOf(checks, true, &no); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.ran, got, tt.want)
		}
	}
}

// cutPlace cuts "place:" off a command.
func cutPlace(command string) (in, rest string) {
	if in, rest, ok := strings.Cut(command, ":"); ok && !strings.Contains(in, " ") {
		return in, rest
	}
	return "", command
}

// TestChecks: what the corpus of package agent does not show.
func TestChecks(t *testing.T) {
	t.Parallel()
	patterns := Patterns{Test: {"./ci.sh*", "acme verify *"}, Types: {"make"}}
	for _, tt := range []struct {
		command, result string
		ended           Ended
		want            string
	}{
		{"./ci.sh --fast", "", Exit(0), "[{test ./ci.sh --fast passed}]"},
		{"cd x && acme verify all", "", Exit(3), "[{test acme verify all failed}]"},
		{"acme check", "", Exit(0), "[]"},
		{"make", "", Exit(0), "[{types make passed}]"},
		{"golangci-lint run && go test ./...", "--- FAIL: TestA\nFAIL", Exit(1), "[{lint golangci-lint run unknown} {test go test ./... failed}]"},
		{"go vet ./... && go test ./...", "ok  \tx\t0.1s", Exit(0), "[{lint go vet ./... passed} {test go test ./... passed}]"},
		{"npm ci && npm test", "", Exit(1), "[{test npm test unknown}]"},
		{"go test ./a | tail -1; pytest | tail -1", "3 passed in 0.1s", Exit(0), "[{test go test ./a unknown} {test pytest unknown}]"},
		{"go test -run Nothing ./...", "ok  \tx\t0.1s [no tests to run]", Exit(0), "[{test go test -run Nothing ./... unknown}]"},
		{"make test", "--- FAIL: TestA\nFAIL", Exit(0), "[{test make test unknown}]"}, // a recipe that ignores errors
		{"pytest", "bash: line 1: pytest: command not found", Exit(127), "[]"},
		{"cd nowhere && go test ./...", "bash: line 1: cd: nowhere: No such file or directory", Exit(1), "[]"},
		{"timeout 5 go test ./...", "", Exit(124), "[{test go test ./... stopped}]"},
		{"go test ./...", "", Exit(137), "[{test go test ./... stopped}]"},
		{"go test ./...", "", Ended{How: Refused}, "[]"},
		{"go test ./... &", "", Exit(0), "[{test go test ./... unknown}]"},
		{"go test ./... 2>/dev/null | tail -1", "ok  \tx\t0.1s", Exit(0), "[{test go test ./... unknown}]"},
		{"go test ./... || npm test", "", Exit(1), "[{test go test ./... failed} {test npm test failed}]"},
		{"uv run --with x pytest -q", "", Exit(0), "[{test pytest -q passed}]"},
		{"docker compose -f a.yml run --rm app pytest", "", Exit(0), "[{test pytest passed}]"},
		{"go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...", "", Exit(0), "[{lint honnef.co/go/tools/cmd/staticcheck ./... passed}]"},
		{"npx prettier --check . ; npx prettier --write .", "", Exit(0), "[{lint prettier --check . unknown}]"},
		{"go test ./... ; exit $?", "", Exit(1), "[{test go test ./... failed}]"},
		{"go test '", "", Exit(2), "[]"},
		{"go test -run '^$' -bench . ./...", "ok  \tx\t1.2s", Exit(0), "[]"},
		{"npm test", "> echo no tests yet\nno tests yet", Exit(0), "[{test npm test unknown}]"},
		{"pytest -k nothing", "== 5 skipped in 0.1s ==", Exit(0), "[{test pytest -k nothing unknown}]"},
	} {
		checks := patterns.Checks(tt.command, tt.ended, tt.result)
		texts := make([]string, len(checks))
		for i, c := range checks {
			texts[i] = fmt.Sprintf("{%s %s %s}", c.Kind, c.Command, c.Outcome)
		}
		if got := fmt.Sprint(texts); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.command, got, tt.want)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]bool{
		"Done. All tests pass.": true, "The tests are passing now": true, "All 12 tests passed.": true, "Everything is all green ✅": true, "The test suite passes.": true,
		"- 42 passed\n- tests: green": true, "Unit tests now pass, and lint is clean": true, "12/12 tests pass": true,
		"The tests should pass now.": false, "Run the tests to see if tests pass.": false, "The tests don't pass yet.": false, "Make sure all tests pass before you merge.": false,
		"I passed the test file to the parser.": false, "": false, "Not all tests pass.": false, "2 tests passed and 1 test failed": false, "I have not run the tests; I expect the tests pass": false,
	} {
		if got := Claims(reply); got != want {
			t.Errorf("%q: %t", reply, got)
		}
	}
}

func FuzzChecks(f *testing.F) {
	f.Add("cd x && timeout 5 go test ./... | tail -3; echo $?", "ok  \tx\t0.1s", 0)
	f.Add(`bash -c "npm test || exit 1" &`, "FAIL", 1)
	f.Fuzz(func(t *testing.T, command, result string, code int) {
		for _, c := range Patterns(nil).Checks(command, Exit(code), result) {
			if c.Kind == "" || c.Command == "" || c.Outcome == "" {
				t.Errorf("%q: %+v", command, c)
			}
		}
	})
}
