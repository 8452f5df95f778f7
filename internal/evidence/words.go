package evidence

import (
	"regexp"
	"slices"
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
	text, passed := strings.Join(lines, "\n"), false
	for _, s := range runners() {
		if s.kind != kind && (s.kind != "" || !alone) || !has(text, s.signs) {
			continue
		}
		if slices.ContainsFunc(lines, s.failed().MatchString) {
			return Failed
		}
		passed = passed || slices.ContainsFunc(lines, s.passed().MatchString)
	}
	if passed || kind == Test && strings.Contains(text, " passed") && !slices.ContainsFunc(halves(), func(half *regexp.Regexp) bool { return !slices.ContainsFunc(lines, half.MatchString) }) {
		return Passed
	}
	return Unknown
}

// has reports whether a text has one of some words, with "|" between them.
func has(text, words string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// halves are the lines of JavaScript's runners that have passed only together.
var halves = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`^(Test Suites:|Test Files) +(\d+ (skipped|todo)[,|]? *(\| )?)*[1-9]\d* passed`),
		regexp.MustCompile(`^Tests:? +(\d+ (skipped|todo)[,|]? *(\| )?)*[1-9]\d* passed`),
	}
})

// ranNothing reports whether a runner says that it had nothing to run.
func ranNothing(lines []string) bool {
	if !has(strings.ToLower(strings.Join(lines, "\n")), idleSigns) {
		return false
	}
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

// idleSigns are in each line that idle matches, in lower case.
const idleSigns = "nothing to be done|up to date|no test|no-source|skipped|todo|collected 0|running 0|ran 0|0 examples|0 passing|executed 0|tests 0|pass 0|deselected"

var (
	idle = lazy(`^make(\[\d+\])?: (Nothing to be done for )?'\S*(test|check)\S*'( is up to date)?\.$|^No tests were found|^No test is available|^> Task \S*[tT]est\S* NO-SOURCE|^Tests:? +\d+ (skipped|todo)(, \d+ total| \(\d+\))$|\[no tests to run\]|\[no test files\]|^No tests? (files )?found|^collected 0 items|no tests ran in|^running 0 tests|^Ran 0 tests|^0 examples,|^0 passing|^Executed 0 tests|^(#|ℹ) (tests|pass) 0$|^No tests executed|(?i)\bno tests? (specified|yet|defined|configured|here|to run)|^=* ?\d+ (skipped|deselected)(, \d+ (skipped|deselected|warnings?))* in `)
	busy = lazy(`^ok\s+\S+\s+(\(cached\)|[\d.]+s)( +coverage: .*)?$|[1-9]\d* pass(ed|ing)\b|^(#|ℹ) pass [1-9]|^running [1-9]|^Ran [1-9]|^Executed [1-9]|^[1-9]\d* examples?,`)
)

// runners are the last words of those that run checks.
var runners = sync.OnceValue(func() []said {
	return []said{
		{Test, "FAIL|panic: test|ok", lazy(`^FAIL(\s|$)|^--- FAIL: |^panic: test timed out`), lazy(`^ok\s+\S+\s+(\(cached\)|[\d.]+s)`)}, // go
		{
			Test, "failed|error|FAILED|ERROR|passed", lazy(`^=* ?(\d+ \w+, )*[1-9]\d* (failed|errors?)\b.* in [\d.]+s|^FAILED \S+::|^ERROR \S+\.py`),
			lazy(`^=* ?[1-9]\d* passed(, \d+ (skipped|deselected|xfailed|xpassed|warnings?|subtests passed))* in [\d.]+s`),
		}, // pytest
		{Test, "FAILED (|OK (|Ran ", lazy(`^FAILED \((failures|errors)=|^FAILED \(`), lazy(`^OK \([1-9]\d* tests?, |^Ran [1-9]\d* tests? in [\d.]+s OK`)}, // unittest, PHPUnit
		{Test, "failed", lazy(`^(Tests:?|Test Suites:|Test Files) +(\d+ \w+[,|]? *(\| )?)*[1-9]\d* failed`), never},                                       // jest, vitest
		{Test, "failing|passing (", lazy(`^[1-9]\d* failing$`), lazy(`^[1-9]\d* passing \(`)},                                                             // mocha
		{
			Test, "test result|error|run:|Summary", lazy(`^test result: FAILED|^error: test failed|^error(\[E\d+\])?: could not compile|^\d+ tests? run: .* [1-9]\d* failed|^error: \d+ targets? failed`),
			lazy(`^test result: ok\. [1-9]|^Summary \[.*\] [1-9]\d* tests? run: \d+ passed`),
		}, // cargo
		{Test, "example", lazy(`^\d+ examples?, [1-9]\d* failures?|error(s)? occurred outside of examples`), lazy(`^[1-9]\d* examples?, 0 failures(, \d+ pending)?$`)},                  // RSpec
		{Test, "runs,|tests,", lazy(`^\d+ (runs|tests), .*[1-9]\d* (failures|errors)\b`), lazy(`^[1-9]\d* (runs|tests), (\d+ assertions, )?0 failures(, 0 errors)?`)},                   // minitest, ExUnit
		{Test, "Failed|Passed!", lazy(`^Failed!\s+- Failed:|^Total tests: .*Failed: [1-9]|^Test Run Failed`), lazy(`^Passed!\s+- Failed:\s+0,`)},                                        // .NET
		{Test, "FAILURES!|ERRORS!|Tests: |There was|There were", lazy(`^FAILURES!$|^ERRORS!$|^Tests: \d+, .*(Failures|Errors): [1-9]|^There (was|were) \d+ (failure|error)s?:`), never}, // PHPUnit
		{Test, "#|ℹ|not ok", lazy(`^(#|ℹ) (fail|cancelled) [1-9]|^not ok \d`), lazy(`^(#|ℹ) fail 0$`)},                                                                                  // TAP, Node
		{Test, "tests passed", lazy(`tests passed, [1-9]\d* tests? failed out of`), lazy(`^100% tests passed, 0 tests failed out of`)},                                                  // CTest
		{Test, "Executed|Test run", lazy(`^Executed \d+ tests?, with [1-9]|^Test run with .* failed`), lazy(`^Executed [1-9]\d* tests?, with 0 failures`)},                              // Swift
		{Test, "fail|FAILED|Tests run:|ok", lazy(`^[1-9]\d* fail$|^FAILED \| \d+ passed|^Tests run: .*(Failures|Errors): [1-9]`), lazy(`^ok \| [1-9]\d* passed .*\| 0 failed`)},         // Bun, Deno
		{"", "BUILD|FAILURE:", lazy(`^\[ERROR\] BUILD FAILURE|BUILD FAILURE$|^BUILD FAILED|^FAILURE: Build failed`), lazy(`^(\[INFO\] )?BUILD SUCCESS$|^BUILD SUCCESSFUL in `)},         // Maven, Gradle
		{"", "make|npm|ELIFECYCLE|error", lazy(`^make(\[\d+\])?: \*\*\* |^npm (ERR!|error) (code |Test failed|Lifecycle)|ELIFECYCLE|^error Command failed with exit code|^error: script ".*" exited with code|^error: Recipe .* failed`), never},
		{Types, "error|Success:", lazy(`error TS\d+:|^Found [1-9]\d* errors?\b|^[1-9]\d* errors?, `), lazy(`^Success: no issues found in |^0 errors, `)}, // tsc, mypy, pyright
		{
			Lint, "problem|Found |issue|offense|All checks", lazy(`^✖ \d+ problems? \([1-9]|^Found [1-9]\d* errors?\b|^[1-9]\d* issues:?$|^[1-9]\d* offenses? detected|, [1-9]\d* offenses? detected`),
			lazy(`^All checks passed!$|^0 issues\.$|, no offenses detected$`),
		}, // ESLint, ruff, golangci-lint, RuboCop
		{Build, "error|Build |ninja:|Finished|built in", lazy(`^error(\[E\d+\])?: could not compile|error TS\d+:|^Build FAILED|^ninja: build stopped`), lazy("^Build succeeded\\.$|^Finished `?\\w+`? .*target\\(s\\) in |^✓ built in ")},
		{Build, ".go:", lazy(`^\S+\.go:\d+:\d+: `), never}, // go build, as go vet
		{Lint, ".go:", lazy(`^(vet: )?\S+\.go:\d+:\d+: `), never},
		{Test, "coverage threshold|Coverage for|FAIL code|failed", lazy(`coverage threshold for .* not met|^ERROR: Coverage for |^\S+: FAIL code \d|^nox > .*\bfailed`), never}, // jest, vitest, tox, nox
	}
})

// never matches nothing.
var never = lazy(`[^\s\S]`)

// A said is the last words of one that runs checks of a kind, "" for any. Of its
// signs, words with "|" between them, a line that matches has one: compiling the
// expressions takes longer than all else.
type said struct {
	kind           Kind
	signs          string
	failed, passed func() *regexp.Regexp
}
