package evidence

import (
	"regexp"
	"strings"
	"sync"
)

// Last words are looked for in as much of a result's end.
const (
	maxWords = 4 << 10
	maxLines = 40
)

var escape = lazy(`\x1b\[[0-9;]*[A-Za-z]`)

// lazy compiles an expression when it is first needed: most starts of a program
// need none.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// lastWords returns the last lines of a result that are not blank.
func lastWords(result string) (lines []string) {
	result = result[max(0, len(result)-maxWords):]
	for line := range strings.Lines(escape().ReplaceAllString(result, "")) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "Output: ")); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-maxLines):]
}

// verdict returns what runners of a kind say with their last words. alone says
// that no check of another kind may have said what those of all kinds say.
func verdict(kind Kind, lines []string, alone bool) Outcome {
	by, any, passed := runners()[kind], runners()[""], false
	var seen [2]bool
	for _, line := range lines {
		if by.failed.MatchString(line) || alone && any.failed.MatchString(line) {
			return Failed
		}
		passed = passed || by.passed.MatchString(line) || alone && any.passed.MatchString(line)
		for i, half := range halves() {
			seen[i] = seen[i] || half.MatchString(line)
		}
	}
	if passed || kind == Test && seen[0] && seen[1] {
		return Passed
	}
	return Unknown
}

// halves are the lines of JavaScript's runners that have passed only together.
var halves = sync.OnceValue(func() [2]*regexp.Regexp {
	return [2]*regexp.Regexp{
		regexp.MustCompile(`^(Test Suites:|Test Files) +(\d+ (skipped|todo)[,|]? *(\| )?)*[1-9]\d* passed`),
		regexp.MustCompile(`^Tests:? +(\d+ (skipped|todo)[,|]? *(\| )?)*[1-9]\d* passed`),
	}
})

// ranNothing reports whether a runner says that it had nothing to run.
func ranNothing(lines []string) bool {
	nothing := false
	for _, line := range lines {
		switch {
		case idle().MatchString(line):
			nothing = true
		case busy().MatchString(line):
			return false
		}
	}
	return nothing
}

var (
	idle = lazy(`^make(\[\d+\])?: (Nothing to be done for )?'\S*(test|check)\S*'( is up to date)?\.$|^No tests were found|^No test is available|^> Task \S*[tT]est\S* NO-SOURCE|^Tests:? +\d+ (skipped|todo)(, \d+ total| \(\d+\))$|\[no tests to run\]|\[no test files\]|^No tests? (files )?found|^collected 0 items|no tests ran in|^running 0 tests|^Ran 0 tests|^0 examples,|^0 passing|^Executed 0 tests|^(#|ℹ) (tests|pass) 0$|^No tests executed|(?i)\bno tests? (specified|yet|defined|configured|here|to run)|^=* ?\d+ (skipped|deselected)(, \d+ (skipped|deselected|warnings?))* in `)
	busy = lazy(`^ok\s+\S+\s+(\(cached\)|[\d.]+s)( +coverage: .*)?$|[1-9]\d* pass(ed|ing)\b|^(#|ℹ) pass [1-9]|^running [1-9]|^Ran [1-9]|^Executed [1-9]|^[1-9]\d* examples?,`)
)

// runners are the last words of those that run checks.
var runners = sync.OnceValue(func() map[Kind]runner {
	return together([]said{
		{Test, `^FAIL(\s|$)|^--- FAIL: |^panic: test timed out`, `^ok\s+\S+\s+(\(cached\)|[\d.]+s)`}, // go
		{
			Test, `^=* ?(\d+ \w+, )*[1-9]\d* (failed|errors?)\b.* in [\d.]+s|^FAILED \S+::|^ERROR \S+\.py`,
			`^=* ?[1-9]\d* passed(, \d+ (skipped|deselected|xfailed|xpassed|warnings?|subtests passed))* in [\d.]+s`,
		}, // pytest
		{Test, `^FAILED \((failures|errors)=|^FAILED \(`, `^OK \([1-9]\d* tests?, |^Ran [1-9]\d* tests? in [\d.]+s OK`}, // unittest, PHPUnit
		{Test, `^(Tests:?|Test Suites:|Test Files) +(\d+ \w+[,|]? *(\| )?)*[1-9]\d* failed`, ``},                        // jest, vitest
		{Test, `^[1-9]\d* failing$`, `^[1-9]\d* passing \(`},                                                            // mocha
		{
			Test, `^test result: FAILED|^error: test failed|^error(\[E\d+\])?: could not compile|^\d+ tests? run: .* [1-9]\d* failed|^error: \d+ targets? failed`,
			`^test result: ok\. [1-9]|^Summary \[.*\] [1-9]\d* tests? run: \d+ passed`,
		}, // cargo
		{Test, `^\d+ examples?, [1-9]\d* failures?|error(s)? occurred outside of examples`, `^[1-9]\d* examples?, 0 failures(, \d+ pending)?$`},   // RSpec
		{Test, `^\d+ (runs|tests), .*[1-9]\d* (failures|errors)\b`, `^[1-9]\d* (runs|tests), (\d+ assertions, )?0 failures(, 0 errors)?`},         // minitest, ExUnit
		{Test, `^Failed!\s+- Failed:|^Total tests: .*Failed: [1-9]|^Test Run Failed`, `^Passed!\s+- Failed:\s+0,`},                                // .NET
		{Test, `^FAILURES!$|^ERRORS!$|^Tests: \d+, .*(Failures|Errors): [1-9]|^There (was|were) \d+ (failure|error)s?:`, ``},                      // PHPUnit
		{Test, `^(#|ℹ) (fail|cancelled) [1-9]|^not ok \d`, `^(#|ℹ) fail 0$`},                                                                      // TAP, Node
		{Test, `tests passed, [1-9]\d* tests? failed out of`, `^100% tests passed, 0 tests failed out of`},                                        // CTest
		{Test, `^Executed \d+ tests?, with [1-9]|^Test run with .* failed`, `^Executed [1-9]\d* tests?, with 0 failures`},                         // Swift
		{Test, `^[1-9]\d* fail$|^FAILED \| \d+ passed|^Tests run: .*(Failures|Errors): [1-9]`, `^ok \| [1-9]\d* passed .*\| 0 failed`},            // Bun, Deno
		{"", `^\[ERROR\] BUILD FAILURE|BUILD FAILURE$|^BUILD FAILED|^FAILURE: Build failed`, `^(\[INFO\] )?BUILD SUCCESS$|^BUILD SUCCESSFUL in `}, // Maven, Gradle
		{"", `^make(\[\d+\])?: \*\*\* |^npm (ERR!|error) (code |Test failed|Lifecycle)|ELIFECYCLE|^error Command failed with exit code|^error: script ".*" exited with code|^error: Recipe .* failed`, ``},
		{Types, `error TS\d+:|^Found [1-9]\d* errors?\b|^[1-9]\d* errors?, `, `^Success: no issues found in |^0 errors, `}, // tsc, mypy, pyright
		{
			Lint, `^✖ \d+ problems? \([1-9]|^Found [1-9]\d* errors?\b|^[1-9]\d* issues:?$|^[1-9]\d* offenses? detected|, [1-9]\d* offenses? detected`,
			`^All checks passed!$|^0 issues\.$|, no offenses detected$`,
		}, // ESLint, ruff, golangci-lint, RuboCop
		{Build, `^error(\[E\d+\])?: could not compile|error TS\d+:|^Build FAILED|^ninja: build stopped`, "^Build succeeded\\.$|^Finished `?\\w+`? .*target\\(s\\) in |^✓ built in "},
		{Build, `^\S+\.go:\d+:\d+: `, ``}, // go build, as go vet
		{Lint, `^(vet: )?\S+\.go:\d+:\d+: `, ``},
		{Test, `coverage threshold for .* not met|^ERROR: Coverage for |^\S+: FAIL code \d|^nox > .*\bfailed`, ``}, // jest, vitest, tox, nox
	})
})

// A said is the last words of one that runs checks of a kind, "" for any.
type said struct {
	kind           Kind
	failed, passed string
}

// A runner is what all of a kind say.
type runner struct{ failed, passed *regexp.Regexp }

// together makes one expression for each kind, as each line is compared with all.
func together(list []said) map[Kind]runner {
	m := make(map[Kind]runner)
	for _, kind := range append([]Kind{""}, Kinds...) {
		var failed, passed []string
		for _, s := range list {
			if s.kind != kind {
				continue
			}
			failed = append(failed, s.failed)
			if s.passed != "" {
				passed = append(passed, s.passed)
			}
		}
		m[kind] = runner{regexp.MustCompile(strings.Join(failed, "|")), regexp.MustCompile(strings.Join(passed, "|"))}
	}
	return m
}
