package evidence

import (
	"fmt"
	"slices"
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
// by nothing else. Commands are written in their order; what fails has a !,
// what is not known a ?, and
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
		{"?pytest a; pytest b", Unclear},
		{"?pytest a; pytest", Tested},
		{"!pytest a; ?pytest a", Failing},
		{"!web:npm test; api:npm test", Failing},
		{"!web:npm test; web:npm test", Tested},
		{"!web:npm test; npm test", Failing},
		{"!golangci-lint run; go vet ./...; go test", Failing},
	} {
		var checks []Check
		for i, command := range strings.Split(tt.ran, "; ") {
			command, hides := strings.CutPrefix(command, "?")
			command, fails := strings.CutPrefix(command, "!")
			in, command := cutPlace(command)
			c := Check{Kind: Test, Command: command, In: in, Outcome: Passed, Call: fmt.Sprint(i)}
			if kind := Patterns(nil).kind(strings.Fields(command)); kind != "" {
				c.Kind = kind
			}
			if fails {
				c.Outcome = Failed
			} else if hides {
				c.Outcome = Unknown
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
		{"cd x && acme verify all", "", Exit(3), "[{test acme verify all failed in x}]"},
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
		{"docker compose -f a.yml run --rm app pytest", "", Exit(0), "[{test pytest passed in app}]"},
		{"go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...", "", Exit(0), "[{lint honnef.co/go/tools/cmd/staticcheck ./... passed}]"},
		{"npx prettier --check . ; npx prettier --write .", "", Exit(0), "[{lint prettier --check . unknown}]"},
		{"go test ./... ; exit $?", "", Exit(1), "[{test go test ./... failed}]"},
		{"go test '", "", Exit(2), "[]"},
		{"go test -run '^$' -bench . ./...", "ok  \tx\t1.2s", Exit(0), "[]"},
		{"npm test", "> echo no tests yet\nno tests yet", Exit(0), "[{test npm test unknown}]"},
		{"pytest -k nothing", "== 5 skipped in 0.1s ==", Exit(0), "[{test pytest -k nothing unknown}]"},
		// What is printed is another's.
		{"pytest > /dev/null 2>&1; cat old.log", "4 passed in 0.1s", Exit(0), "[{test pytest unknown}]"},
		{"pytest > new.log; tail -5 new.log", "4 passed in 0.1s", Exit(0), "[{test pytest passed}]"},
		{"pytest >> log; cat log", "4 passed in 0.1s", Exit(0), "[{test pytest unknown}]"},
		{"cp a b && pytest > log; cat log", "4 passed in 0.1s", Exit(0), "[{test pytest unknown}]"},
		{"cd web && pytest > log; cat log", "bash: line 1: cd: web: No such file or directory\n4 passed in 0.1s", Exit(0), "[{test pytest unknown in web}]"},
		{"pytest | tee log >/dev/null; cat log", "4 passed in 0.1s", Exit(0), "[{test pytest passed}]"},
		{"pytest >/dev/null; echo '4 passed in 0.1s'", "4 passed in 0.1s", Exit(0), "[{test pytest unknown}]"},
		{"cat <<E\n4 passed in 0.1s\nE\npytest >/dev/null; true", "4 passed in 0.1s", Exit(0), "[{test pytest unknown}]"},
		{"pytest a > log; pytest b", "4 passed in 0.1s", Exit(0), "[{test pytest a unknown} {test pytest b passed}]"},
		{"make lint; make test | tail -1", "make: *** [Makefile:2: lint] Error 1\n4 passed in 0.1s", Exit(0), "[{lint make lint unknown} {test make test passed}]"},
		{"./run_tests.sh | tail -1", "4 passed in 0.1s", Exit(0), "[{test ./run_tests.sh unknown}]"}, // the last of who knows how many
		// The status is another's.
		{"pytest | tail -5; echo $?", "0", Exit(0), "[{test pytest unknown}]"},
		{"pytest || true; echo $?", "0", Exit(0), "[{test pytest unknown}]"},
		{"pytest | tail -5; echo \"exit ${PIPESTATUS[0]}\"", "exit 1", Exit(0), "[{test pytest failed}]"},
		{"pytest | tail -5; echo \"exit ${PIPESTATUS[1]}\"", "exit 0", Exit(0), "[{test pytest unknown}]"},
		{"pytest | tail -5; exit ${PIPESTATUS[0]}", "", Exit(0), "[{test pytest passed}]"},
		{"pytest a; echo $?; pytest b; echo $?", "1\n0", Exit(0), "[{test pytest a failed} {test pytest b passed}]"},
		{"pytest a; echo $?; pytest b; echo $?", "0", Exit(0), "[{test pytest a unknown} {test pytest b unknown}]"},
		{"pytest; rc=$?; tail -1 log; echo rc=$rc; exit $rc", "rc=1", Exit(1), "[{test pytest failed}]"},
		{"pytest; rc=$?; tail -1 log; exit $rc", "", Exit(0), "[{test pytest passed}]"},
		{"pytest; rc=$?; tail -1 log; echo rc=$rc", "rc=0", Exit(0), "[{test pytest passed}]"},
		{"timeout 5 pytest; echo $?", "124", Exit(0), "[{test pytest stopped}]"},
		{"if pytest; then echo fine; else echo no; fi", "no", Exit(0), "[{test pytest failed}]"},
		{"if ! pytest; then exit 1; fi", "", Exit(0), "[{test pytest passed}]"},
		{"pytest || exit 1; echo done", "done", Exit(0), "[{test pytest passed}]"},
		{"exit 0; pytest", "", Exit(0), "[]"},
		{"[ -f done ] && exit 0; pytest", "", Exit(0), "[{test pytest unknown}]"},
		{"trap 'exit 0' EXIT; pytest", "", Exit(0), "[{test pytest unknown}]"},
		{"set -e; set +e; pytest; echo done", "done", Exit(0), "[{test pytest unknown}]"},
		{"set -e; pytest && echo fine; echo done", "done", Exit(0), "[{test pytest unknown}]"},
		{"set -e; cd web && pytest; echo done", "done", Exit(0), "[{test pytest passed in web}]"},
		{"(set -e; true); pytest; echo done", "done", Exit(0), "[{test pytest unknown}]"},
		{"set -o pipefail; set +o pipefail; pytest | cat", "", Exit(0), "[{test pytest unknown}]"},
		{"ls | xargs -r pytest", "", Exit(0), "[{test pytest unknown}]"},
		{"npm run test --if-present", "", Exit(0), "[{test npm run test --if-present unknown}]"},
		{"make -i test", "", Exit(0), "[{test make -i test unknown}]"},
		{"mvn test -Dmaven.test.failure.ignore=true", "", Exit(0), "[{test mvn test -Dmaven.test.failure.ignore=true unknown}]"},
		{"script -qc 'pytest' log", "", Exit(0), "[{test pytest unknown}]"},
		{"script -qec 'pytest' log", "", Exit(0), "[{test pytest passed}]"},
		{"docker run -dit img pytest", "", Exit(0), "[{test pytest unknown in img}]"},
		{"docker compose run --detach app pytest", "", Exit(0), "[{test pytest unknown in app}]"},
		{"setsid -f pytest", "", Exit(0), "[{test pytest unknown}]"},
		{"pytest & wait $!", "", Exit(1), "[{test pytest failed}]"},
		{"pytest & wait", "", Exit(0), "[{test pytest unknown}]"},
		{"pytest & wait", "4 passed in 0.1s", Exit(0), "[{test pytest passed}]"},
		{"pytest & sleep 1 & wait $!", "", Exit(0), "[{test pytest unknown}]"},
		{"pytest & wait $!; true", "", Exit(0), "[{test pytest unknown}]"},
		// The program is another one.
		{"pytest() { echo fine; }; pytest", "fine", Exit(0), "[]"},
		{"alias pytest=true; pytest", "", Exit(0), "[]"},
		{"t() { pytest \"$@\"; }; t", "", Exit(1), "[{test pytest $@ failed}]"},
		{"t() { pytest; }", "", Exit(0), "[]"},
		{"t() { pytest; t; }; t", "", Exit(0), "[{test pytest unknown}]"},
		{"a() { b; b; }; b() { c; c; }; c() { d; d; }; d() { e; e; }; e() { f; f; }; f() { g; g; }; g() { h; h; }; h() { i; i; }; i() { j; j; }; j() { k; k; }; k() { l; l; }; l() { m; m; }; " +
			"m() { n; n; }; n() { o; o; }; o() { p; p; }; p() { q; q; }; q() { s; s; }; s() { t; t; }; t() { u; u; }; u() { v; v; }; v() { w; w; }; w() { x; x; }; x() { y; y; }; y() { z; z; }; pytest; a", "", Exit(0), "[{test pytest unknown}]"},
		{"command -v pytest", "/usr/bin/pytest", Exit(0), "[]"},
		{"make -t test", "", Exit(0), "[]"},
		{"gradle test -m", "BUILD SUCCESSFUL in 1s", Exit(0), "[]"},
		{"gradle test", "", Exit(0), "[{test gradle test passed}]"},
		{"eval 'pytest || true'", "", Exit(0), "[{test pytest unknown}]"},
		{"export out=$(pytest)", "", Exit(0), "[{test pytest unknown}]"},
		// It did not run, or ran nothing.
		{"npm test", "Exit code 1\nnpm error Missing script: \"test\"", Exit(1), "[]"},
		{"npm test", strings.Repeat("a line\n", maxEnd) + "npm error Missing script: \"test\"", Exit(1), "[]"},
		{"cd nowhere && npm test", "bash: line 1: cd: nowhere: No such file or directory\n" + strings.Repeat("a line\n", maxEnd), Exit(1), "[]"},
		{"npm test", "> x@1.0.0 test\n> npm run unit\n\nnpm error Missing script: \"unit\"", Exit(1), "[{test npm test failed}]"},
		{"pnpm run test", " ERR_PNPM_NO_SCRIPT  Missing script: test", Exit(1), "[]"},
		{"yarn test", "error Command \"test\" not found.", Exit(1), "[]"},
		{"make test", "make: *** No rule to make target 'test'.  Stop.", Exit(2), "[]"},
		{"make test", "make: *** No rule to make target 'a.c', needed by 'a.o'.  Stop.", Exit(2), "[{test make test failed}]"},
		{"python -m pytest", "/usr/bin/python: No module named pytest", Exit(1), "[]"},
		{"python -m pytest", "E   ModuleNotFoundError: No module named 'x'", Exit(1), "[{test python -m pytest failed}]"},
		{"cargo nextest run", "error: no such command: `nextest`", Exit(101), "[]"},
		{"go test ./...", "go: go.mod file not found in current directory or any parent directory; see 'go help modules'", Exit(1), "[]"},
		{"docker compose run app pytest", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", Exit(1), "[]"},
		{"make test", "make: Nothing to be done for 'test'.", Exit(0), "[{test make test unknown}]"},
		{"make test", "make: 'test' is up to date.", Exit(0), "[{test make test unknown}]"},
		{"make test", "make[1]: Nothing to be done for 'all'.", Exit(0), "[{test make test passed}]"},
		{"pytest -k x", "no tests ran in 0.01s", Exit(5), "[{test pytest -k x unknown}]"},
		{"ctest", "No tests were found!!!", Exit(0), "[{test ctest unknown}]"},
		{"gradle test", "> Task :test NO-SOURCE\nBUILD SUCCESSFUL in 1s", Exit(0), "[{test gradle test unknown}]"},
		{"npx jest", "Tests:       4 skipped, 4 total", Exit(0), "[{test jest unknown}]"},
		{". venv/bin/activate; pytest; deactivate", "4 passed in 0.1s", Exit(0), "[{test pytest passed}]"},
		{"pytest || (echo no && exit 1)", "", Exit(0), "[{test pytest passed}]"},
		{"if pytest; then echo fine; else echo no; exit 1; fi", "fine", Exit(0), "[{test pytest passed}]"},
		{"yarn workspaces foreach -A run test", "", Exit(0), "[{test yarn workspaces foreach -A run test passed}]"},
		// Where it ran.
		{"cd web && npm test", "", Exit(0), "[{test npm test passed in web}]"},
		{"(cd web && npm test); npm run lint", "", Exit(0), "[{test npm test unknown in web} {lint npm run lint passed}]"},
		{"cd web; cd ../api; npm test", "", Exit(0), "[{test npm test passed in api}]"},
		{"cd /srv/app && uv run --directory api pytest", "", Exit(0), "[{test pytest passed in /srv/app/api}]"},
		{"docker compose exec -T web sh -c 'cd api && npm test'", "", Exit(0), "[{test npm test passed in web:api}]"},
		{"pushd web; npm test; popd", "", Exit(0), "[{test npm test unknown in web}]"},
	} {
		checks := patterns.Checks(tt.command, "", tt.ended, tt.result)
		texts := make([]string, len(checks))
		for i, c := range checks {
			texts[i] = fmt.Sprintf("{%s %s %s}", c.Kind, c.Command, c.Outcome)
			if c.In != "" {
				texts[i] = fmt.Sprintf("{%s %s %s in %s}", c.Kind, c.Command, c.Outcome, c.In)
			}
		}
		if got := fmt.Sprint(texts); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.command, got, tt.want)
		}
	}
}

// TestThen: what may have changed files behind a check, in its own command.
func TestThen(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"pytest": false, "pytest && git commit -qam done": false, "pytest 2>&1 | tee log | tail -3": false, "pytest > log; tail log": false, "cp a b; pytest": false, "sed -i s/a/b/ x.py && pytest": false,
		"pytest; echo $?": false, "go vet ./... && go test ./... && go build ./...": false, "pytest && ls && cat a | grep b": false, "pytest | xargs echo": false, "sed -n 1p a; pytest; sed -n 1p a": false,
		"pytest && sed -i s/a/b/ x.py": true, "pytest; echo 1 >> x.py": true, "pytest && npm version patch": true, "pytest; black .": true, "(pytest; rm -r build)": true, "pytest && gofmt -w .": true,
		"pytest || cp a b": true, "t() { pytest; }; t; make clean": true, "bash -c 'pytest; mv a b'": true, "if pytest; then ./deploy; fi": true, "for i in a b; do pytest $i; touch $i; done": true, "pytest; python gen.py": true,
	} {
		checks := Patterns(nil).Checks(command, "", Exit(0), "")
		got := slices.ContainsFunc(checks, func(c Check) bool { return c.Kind == Test && c.Then })
		if got != want || len(checks) == 0 {
			t.Errorf("%q: %t %v", command, got, checks)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]bool{
		"Done. All tests pass.": true, "The tests are passing now": true, "All 12 tests passed.": true, "Everything is all green ✅": true, "The test suite passes.": true,
		"- 42 passed\n- tests: green": true, "Unit tests now pass, and lint is clean": true, "12/12 tests pass": true,
		"The tests should pass now.": false, "Run the tests to see if tests pass.": false, "The tests don't pass yet.": false, "Make sure all tests pass before you merge.": false,
		"I passed the test file to the parser.": false, "": false, "Not all tests pass.": false, "2 tests passed and 1 test failed": false,
		// Other languages, of which nothing is known.
		"Alle Tests sind grün.": false, "Tous les tests passent.": false, "Los tests pasan.": false, "すべてのテストが通りました。": false, "Die Tests passen jetzt.": false,
		// What is another's word.
		"You said tests pass, but CI is red.": false, "> All tests pass\n\nThat was before.": false, "You wrote \"all tests pass\"; which run was that": false, "The README claims “tests pass” and shows a badge": false, "`tests pass` is the name of the job": false,
		"The output was:\n```\n12 passed in 0.1s\n```\nShall I go on": false, "According to CI the tests pass on main.": false, "You wanted the tests green.": false, "As you mentioned, the tests are passing.": false,
		// Denied, wanted, for later.
		"Tests do not pass.": false, "Once tests pass, I will commit.": false, "None of the tests pass.": false, "The tests never pass here.": false, "Only 3 tests passed.": false, "2 of 5 tests pass.": false, "Some tests pass.": false, "I could not make\nall tests pass.": false,
		"I still have to get the tests passing.": false, "The goal is that all tests pass.": false, "- [ ] all tests pass": false, "To do:\n- tests pass\n- docs": false, "Then the tests pass or we revert.": false, "The tests passed earlier.": false, "So that tests pass, set CI=1.": false, "Most of the tests pass now.": false,
		"Checks that tests pass": false, "The tests which pass are in a.py": false, "Without the flag the tests pass.": false,
		// And what is not.
		"Fixed the lock.\nAll tests pass with no errors.": true, "The fix works: all tests pass.": true, "All tests pass (12 passed, 0 failed).": true, "All 5 of 5 tests pass.": true, "- [x] all tests pass": true, "**Tests pass** ✅": true, "I have not run the tests; I expect the tests pass": false,
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
		for _, c := range Patterns(nil).Checks(command, "", Exit(code), result) {
			if c.Kind == "" || c.Command == "" || c.Outcome == "" {
				t.Errorf("%q: %+v", command, c)
			}
		}
	})
}
