package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/evidence"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// A program stands for a real one that checks: it prints its last words, notes
// that it ran and how it ended.
type program struct {
	command    string
	kind       evidence.Kind
	pass, fail string
}

var programs = []program{
	{"go test ./...", evidence.Test, "ok  \tx/a\t0.012s\nok  \tx/b\t(cached)", "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tx/a\t0.012s\nok  \tx/b\t0.1s\nFAIL"},
	{"pytest -q tests/unit", evidence.Test, "....\n4 passed, 1 skipped in 0.12s", "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed, 3 passed in 0.12s"},
	{"python -m pytest", evidence.Test, "======= 12 passed in 1.05s =======", "======= 1 failed, 11 passed in 1.05s ======="},
	{"python3 -m unittest discover", evidence.Test, "Ran 5 tests in 0.001s\n\nOK", "Ran 5 tests in 0.001s\n\nFAILED (failures=1)"},
	{"npm test", evidence.Test, "Test Suites: 2 passed, 2 total\nTests:       9 passed, 9 total\nTime: 1 s", "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 8 passed, 9 total\nTime: 1 s"},
	{"npm run test:unit -- --runInBand", evidence.Test, "Test Files  2 passed (2)\nTests  9 passed (9)", "Test Files  1 failed | 1 passed (2)\nTests  1 failed | 8 passed (9)"},
	{"npx vitest run src/a.test.ts", evidence.Test, "Test Files  2 passed (2)\nTests  9 passed (9)", "Test Files  1 failed (1)\nTests  1 failed | 8 passed (9)"},
	{"pnpm --filter web test", evidence.Test, "Test Files  2 passed (2)\nTests  9 passed (9)", "Test Files  1 failed (1)\nTests  1 failed (1)\nELIFECYCLE  Test failed."},
	{"yarn test", evidence.Test, "Done in 1s.", "error Command failed with exit code 1."},
	{"cargo test --workspace", evidence.Test, "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored", "test result: FAILED. 2 passed; 1 failed\nerror: test failed, to rerun pass `--lib`"},
	{"make -j4 test", evidence.Test, "all good", "make: *** [Makefile:3: test] Error 1"},
	{"./gradlew test", evidence.Test, "BUILD SUCCESSFUL in 3s", "FAILURE: Build failed with an exception.\nBUILD FAILED in 3s"},
	{"mvn -q verify", evidence.Test, "", "[ERROR] BUILD FAILURE"},
	{"bundle exec rspec", evidence.Test, "10 examples, 0 failures", "10 examples, 2 failures"},
	{"dotnet test", evidence.Test, "Passed!  - Failed:     0, Passed:     4", "Failed!  - Failed:     1, Passed:     3"},
	{"go vet ./...", evidence.Lint, "", "vet: ./a.go:3:2: undefined: x"},
	{"npm run lint", evidence.Lint, "", "✖ 2 problems (2 errors, 0 warnings)"},
	{"ruff check .", evidence.Lint, "All checks passed!", "Found 3 errors."},
	{"golangci-lint run", evidence.Lint, "0 issues.", "2 issues:\n* errcheck: 2"},
	{"npx tsc --noEmit", evidence.Types, "", "a.ts(1,2): error TS2322: no"},
	{"mypy src", evidence.Types, "Success: no issues found in 4 source files", "Found 2 errors in 1 file (checked 4 source files)"},
	{"go build ./...", evidence.Build, "", "./a.go:3:2: undefined: x"},
	{"npm run build", evidence.Build, "✓ built in 1.02s", "error during build:"},
	{"cargo build --release", evidence.Build, "Finished `release` profile [optimized] target(s) in 0.52s", "error: could not compile `x`"},
}

// wrapped are ways in which agents run a command, %s.
var wrapped = []string{
	"%s", "cd sub && %s", "cd sub; %s", "CI=1 FOO='a b' %s", "%s 2>&1", "timeout 60 %s", "time %s", "env X=1 nice -n 5 %s", "(cd sub && %s)", "bash -c '%s'",
	"%s 2>&1 | tail -20", "%s | tee out.log", "%s 2>&1 | head -3", "%s 2>&1 | grep -v ok", "%s || true", "%s; echo \"exit: $?\"", "%s > out.log 2>&1; tail -5 out.log", "%s && echo ALLGOOD || echo ALLBAD",
	"set -o pipefail; %s 2>&1 | tail -3", "set -euo pipefail\ncd sub\n%s\necho finished", "docker compose run --rm -e A=1 app %s", "docker exec -t app %s", "export A=1 && %s && echo finished", "%s; true", "! %s", "cd sub && %s || exit 1",
	"out=$(%s 2>&1); echo \"$out\" | tail -4", "if %s; then echo yes; else echo no; fi", "for i in 1 2; do %s; done", "%s >/dev/null 2>&1 && echo PASS || echo FAIL", "nohup %s > out.log 2>&1 &", "xargs -a list %s", "sh -c \"cd sub && %s\"",
	"# run them\n%s # all", "%s;", "true && %s", "git status >/dev/null && %s", "%s | cat", "rm -f out.log && %s 2>&1 | tee out.log | tail -n 3", "%s\nls",
	"%s 2>&1 | tail -5; echo \"exit ${PIPESTATUS[0]}\"", "%s 2>&1 | tail -5; echo \"exit $?\"", "%s | tail -5; exit ${PIPESTATUS[0]}", "%s; rc=$?; tail -1 list; exit $rc", "%s > out.log; code=$?; wc -l out.log; echo \"code=$code\"", "t() { %s; }; t",
	"%s || exit 1; echo finished", "%s >/dev/null 2>&1; cat old.log", "%s >/dev/null 2>&1; tail -3 old.log", "echo '4 passed in 0.12s'; %s >/dev/null 2>&1; true", "%s > out.log; cat out.log", "%s >> old.log; cat old.log", "if %s; then echo fine; else echo broken; fi", "if ! %s; then exit 1; fi",
	"eval \"%s\"", "[ -f nowhere ] && exit 0; %s", "[ -f list ] && exit 0; %s", "set -e; %s && echo fine; echo finished", "set -e; set +e; %s; echo finished", "xargs -r %s < empty", "false && %s", "[ -f list ] || %s", "for f in $(seq 0); do %s; done", "trap 'exit 0' EXIT; %s",
	"cat <<E\n4 passed in 0.12s\nok  \tx/a\t0.1s\nE\n%s >/dev/null; true", "%s || echo it failed", "%s && git add -A && git commit -qm done", "{ %s; } 2>&1 | tail -3", "%s 2>&1 | grep -E 'passed|failed|ok|FAIL'", "%s 2>/dev/null | tail -1", "%s > out.log 2>&1 || cat out.log", "%s > out.log 2>&1 || (tail -5 out.log; exit 1)", "exit 0\n%s",
	"%s & wait $!", "set -o pipefail; %s | tee out.log | tail -3", "pytest() { true; }; pytest; %s", "(%s) > out.log 2>&1; grep -c passed out.log; true",
}

// idle are commands that check nothing, though they look like it.
var idle = []string{
	`echo "go test ./..."`, `grep -rn pytest .`, `git commit -m 'run go test'`, `cat run_tests.sh`, `npm install --save-dev jest`, `go test -list . ./...`, `pytest --version`, `make clean`, `ls tests`, `docker compose up -d`,
	`pip install pytest`, `which jest`, "cat > t.sh <<'EOF'\ngo test ./...\nEOF", `sed -i 's/go test/x/' Makefile`, `# go test ./...`, `npm run dev`, `cd tests`, `go mod tidy`, `make -n test`, `test -f go.mod`, `[ -d tests ]`,
	`npm run test:clean`, `make test-setup`, `prettier --write .`, `gofmt -w .`, `find . -name '*_test.go'`, `git log --grep='npm test'`, `go doc testing`, `history | grep 'cargo test'`, `vim test.py`, `mkdir -p tests/unit && touch tests/unit/a`,
	`python -c "print('pytest')"`, `node -e "console.log('test')"`, `gh run view --log | grep test`, `pytest --collect-only`, `go help test`, `npm view vitest version`, `cargo add mockall --dev`, `docker build --help`, `ps aux | grep vitest`,
	`echo pytest`, `cat test.log`, `tail -20 pytest.log`, `grep FAILED test.log`, `git commit -m "go test passes"`, `git add tests && git commit -m "npm test is green"`, `gh pr create --body "go test ./... passes"`, `t() { pytest; }`, `alias t='go test ./...'`, `export TEST="npm test"`, `printf 'cargo test\n' > todo`,
	"git commit -F - <<'EOF'\ntests\n\ngo test ./...\nEOF", "python3 - <<'EOF'\nimport pytest\nEOF", `npm pkg set scripts.test=vitest`, `jq .scripts.test package.json`, `tmux send-keys -t 0 'npm test' Enter`, `docker compose logs test`, `pkill -f pytest`, `command -v pytest`, `type jest`, `pip show pytest`, `poetry add --group dev pytest`, `chmod +x run_tests.sh`, `cp test_a.py b.py`,
	`wc -l tests/*.py`, `make -q test`, `make -t test`, `go test -c ./x`, `go test -run '^$' -bench . ./...`, `curl -s localhost/test`, `git stash push tests`, `git diff --stat -- tests`, `rg 'cargo test' docs`, `head -5 Makefile # test`, `sed -n '/^test:/,/^$/p' Makefile`, `if false; then :; fi # pytest`, `test "$CI" = true`, `time ls tests`, `xargs echo pytest < list`, `nohup sleep 1 # npm test &`,
}

// A case is a command, what it printed and what is true of it.
type corpusCase struct {
	command, output string
	ended           evidence.Ended
	truth           []evidence.Check // without commands
	program         string
	silent          bool // nothing that is told of it depends on the outcome
}

// TestEvidence runs 428 commands in a shell whose programs note what they do,
// tells of them as each client does, and compares what is read with the notes.
func TestEvidence(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	cases := corpus(t)
	total := new(score)
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		one := new(score)
		readings := make([][]evidence.Check, len(cases))
		for i, c := range cases {
			readings[i] = told(t, name, i, c)
			one.compare(t, name, c, readings[i])
		}
		for i := range cases {
			for _, j := range []int{i, (i + 1) % len(cases), (i + 7) % len(cases)} {
				one.word(t, cases[i], cases[j], slices.Concat(readings[i], readings[j]))
			}
		}
		t.Logf("%-12s %s", name, one)
		total.add(one)
	}
	t.Logf("%d commands, %d readings: %s", len(cases), len(cases)*len(clients), total)
	for _, why := range slices.Sorted(maps.Keys(total.missed)) {
		t.Logf("missed: %3d %s", total.missed[why], why)
	}
	if total.passedWrong > 0 || total.testedWrong > 0 {
		t.Errorf("%d checks are said to have passed that have not, %d turns to be tested", total.passedWrong, total.testedWrong)
	}
	if total.ranWrong*100 > total.real*7 || total.endWrong > 0 || total.ran*100 < total.real*99 || total.right*100 < total.told*94 {
		t.Error("it is worse than it was")
	}
}

func corpus(t *testing.T) (cases []corpusCase) {
	lab := newShellLab(t)
	for i := range 4 * len(wrapped) {
		p, w := programs[i%len(programs)], wrapped[(i+i/len(wrapped))%len(wrapped)]
		c, other := lab.run(p, fmt.Sprintf(w, p.command), i%3 == 0), lab.run(p, fmt.Sprintf(w, p.command), i%3 != 0)
		words := strings.Split(p.pass, "\n")
		c.program, c.silent = w, c.output == other.output && c.ended == other.ended || i%3 != 0 && !strings.Contains(c.output, cmp.Or(words[len(words)-1], "-"))
		cases = append(cases, c)
	}
	for i := range 20 { // stopped, or in the background
		p := programs[i%len(programs)]
		cases = append(cases,
			corpusCase{command: "cd sub && " + p.command, output: "...", ended: evidence.Ended{How: evidence.Halted}, truth: []evidence.Check{{Kind: p.kind, Outcome: evidence.Stopped}}},
			corpusCase{command: p.command, ended: evidence.Ended{How: evidence.GoesOn, Job: "7"}, truth: []evidence.Check{{Kind: p.kind, Outcome: evidence.Unknown}}},
		)
	}
	for _, command := range idle {
		cases = append(cases, corpusCase{command: command, output: "ok  \tx/a\t0.012s", ended: evidence.Exit(0)})
	}
	return cases
}

// A shellLab is a directory with programs that note what they do.
type shellLab struct {
	t   *testing.T
	dir string
}

func newShellLab(t *testing.T) *shellLab {
	l := &shellLab{t, t.TempDir()}
	gittest.Must(t, os.MkdirAll(filepath.Join(l.dir, "bin"), 0o755))
	gittest.Must(t, os.MkdirAll(filepath.Join(l.dir, "work/sub"), 0o755))
	for name, text := range map[string]string{"list": "x\n", "empty": ""} {
		gittest.Must(t, os.WriteFile(filepath.Join(l.dir, "work", name), []byte(text), 0o644))
	}
	const check = "#!/bin/sh\nprintf '%b' \"$SAYS\\n\"\necho $STATUS >>\"$NOTES\"\nexit $STATUS\n"
	for _, p := range programs {
		words := strings.Fields(p.command)
		l.program(filepath.Base(words[0]), check)
	}
	l.program("docker", "#!/bin/sh\nwhile [ \"$1\" != app ]; do shift; done\nshift\nexec \"$@\"\n")
	for _, dir := range []string{"work", "work/sub"} {
		gittest.Must(t, os.WriteFile(filepath.Join(l.dir, dir, "gradlew"), []byte(check), 0o755))
	}
	l.program("git", "#!/bin/sh\n")
	return l
}

func (l *shellLab) program(name, script string) {
	gittest.Must(l.t, os.WriteFile(filepath.Join(l.dir, "bin", name), []byte(script), 0o755))
}

// run runs a command, and returns what came of it and of its checks.
func (l *shellLab) run(p program, command string, fails bool) corpusCase {
	says, exit := p.pass, "0"
	if fails {
		says, exit = p.fail, "1"
	}
	notes := filepath.Join(l.dir, "notes")
	gittest.Must(l.t, os.RemoveAll(notes))
	gittest.Must(l.t, os.WriteFile(filepath.Join(l.dir, "work/old.log"), []byte("ok  \tx/a\t0.1s\nTests: 4 passed, 4 total\nTest Suites: 1 passed, 1 total\n4 passed in 0.12s\n"), 0o644))
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = filepath.Join(l.dir, "work")
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(l.dir, "bin")+":"+os.Getenv("PATH"), "SAYS="+strings.ReplaceAll(says, `\`, `\\`), "STATUS="+exit, "NOTES="+notes)
	output, _ := cmd.CombinedOutput()
	c := corpusCase{command: command, output: string(output), ended: evidence.Exit(cmd.ProcessState.ExitCode())}
	ran, _ := os.ReadFile(notes)
	outcome := evidence.Passed
	if fails {
		outcome = evidence.Failed
	}
	if len(ran) > 0 || strings.HasSuffix(command, "&") { // a loop is one check
		c.truth = []evidence.Check{{Kind: p.kind, Outcome: outcome}}
	}
	return c
}

// told returns the checks that are read from what a client writes.
func told(t *testing.T, client string, i int, c corpusCase) (checks []evidence.Check) {
	var text strings.Builder
	for _, line := range clients[client](fmt.Sprintf("call_%d", i), c) {
		data, err := json.Marshal(line)
		gittest.Must(t, err)
		text.Write(append(data, '\n'))
	}
	a := Of(strings.TrimSuffix(client, "-old"))
	deeds := transcript.Deeds(a.Reader(), []byte(text.String()))
	if len(deeds) != 1 {
		t.Fatalf("%s: %q is %+v", client, c.command, deeds)
	}
	return evidence.Patterns(nil).Checks(deeds[0].Command, deeds[0].Dir, deeds[0].Ended, deeds[0].Result)
}

// A score counts checks: real ones, those that were found and those that were
// not there; of those found outcomes that somebody knows, that the client tells of
// in any way, that are read right and wrong; and words of turns.
type score struct {
	real, ran, ranWrong, known, told, right, endWrong, passedWrong int
	tested, testedWrong                                            int
	missed                                                         map[string]int
}

func (s *score) add(o *score) {
	s.real, s.ran, s.ranWrong = s.real+o.real, s.ran+o.ran, s.ranWrong+o.ranWrong
	s.known, s.told, s.right, s.endWrong, s.passedWrong = s.known+o.known, s.told+o.told, s.right+o.right, s.endWrong+o.endWrong, s.passedWrong+o.passedWrong
	s.tested, s.testedWrong = s.tested+o.tested, s.testedWrong+o.testedWrong
	for why, n := range o.missed {
		s.miss(why, n)
	}
}

func (s *score) miss(why string, n int) {
	if s.missed == nil {
		s.missed = make(map[string]int)
	}
	s.missed[why] += n
}

// word looks whether a turn of two commands is said to be tested, which it is if
// no test failed, but for the same command's before, and the last one passed.
func (s *score) word(t *testing.T, a, b corpusCase, read []evidence.Check) {
	if a.command == b.command {
		read = slices.Clip(read[:len(read)/2])
	}
	no := false
	if evidence.WordOf(read, true, &no) != evidence.Tested {
		return
	}
	s.tested++
	for _, c := range []corpusCase{a, b} {
		for _, truth := range c.truth {
			if truth.Kind == evidence.Test && truth.Outcome != evidence.Passed && (truth.Outcome != evidence.Unknown || c.command == b.command) {
				s.testedWrong++
				t.Errorf("%q, then %q: tested by %+v", a.command, b.command, read)
			}
		}
	}
}

func (s *score) compare(t *testing.T, client string, c corpusCase, got []evidence.Check) {
	s.real += len(c.truth)
	if len(c.truth) == 0 || len(got) == 0 || got[0].Kind != c.truth[0].Kind {
		s.ranWrong += len(got)
		for _, g := range got {
			if g.Outcome != evidence.Unknown {
				s.endWrong++
			}
		}
		if len(got)+len(c.truth) > 0 {
			t.Logf("%s: %q: read %v, true is %v", client, c.command, got, c.truth)
		}
		return
	}
	s.ran++
	s.ranWrong += len(got) - 1
	want, is := c.truth[0].Outcome, got[0].Outcome
	if want != evidence.Unknown {
		s.known++
		if !c.silent || is == want {
			s.told++
		}
	}
	switch {
	case is == want && is != evidence.Unknown:
		s.right++
	case is != want && is != evidence.Unknown:
		s.endWrong++
		t.Logf("%s: %q: is read as %s, and is %s; the client says %+v and %q", client, c.command, is, want, c.ended, c.output)
		if is == evidence.Passed {
			s.passedWrong++
		}
	case is != want && c.silent:
		s.miss("are told in no way: "+c.program, 1)
	case is != want:
		s.miss("are not read: "+c.command, 1)
	}
}

func (s *score) String() string {
	percent := func(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(1, of))) }
	return fmt.Sprintf("a check ran: precision %s, recall %s; its outcome: precision %s, recall %s, of what is told at all %s; wrongly passed: %d; turns tested: %d, wrongly %d",
		percent(s.ran, s.ran+s.ranWrong), percent(s.ran, s.real), percent(s.right, s.right+s.endWrong), percent(s.right, s.known), percent(s.right, s.told), s.passedWrong, s.tested, s.testedWrong)
}

type (
	o = map[string]any
	l = []any
)

// clients tell of a call and its result, as their files do.
var clients = map[string]func(id string, c corpusCase) []o{
	"claude-code": func(id string, c corpusCase) []o {
		said, failed := c.output, false
		switch {
		case c.ended.How == evidence.Halted:
			said, failed = "Exit code 143\nCommand timed out after 2m 0s\n"+c.output, true
		case c.ended.How == evidence.GoesOn:
			said = "Command running in background with ID: b7. Output is being written to: /home/dev/x.output"
		case c.ended.Code != 0:
			said, failed = fmt.Sprintf("Exit code %d\n%s", c.ended.Code, c.output), true
		}
		return []o{
			{"type": "assistant", "uuid": "a" + id, "message": o{"id": "m" + id, "role": "assistant", "content": l{o{"type": "tool_use", "id": id, "name": "Bash", "input": o{"command": c.command}}}}},
			{"type": "user", "uuid": "u" + id, "message": o{"role": "user", "content": l{o{"type": "tool_result", "tool_use_id": id, "content": said, "is_error": failed}}}},
		}
	},
	"codex": func(id string, c corpusCase) []o {
		head := fmt.Sprintf("Process exited with code %d", c.ended.Code)
		output := "Chunk ID: a0a452\nWall time: 0.0000 seconds\n" + head + "\nOriginal token count: 0\nOutput:\n" + c.output
		switch c.ended.How {
		case evidence.Halted:
			output = "aborted by user after 2.3s"
		case evidence.GoesOn:
			output = "Chunk ID: a0a452\nWall time: 0.3 seconds\nProcess running with session ID 57335\nOriginal token count: 0\nOutput:\n"
		}
		arguments, _ := json.Marshal(o{"cmd": c.command})
		return []o{
			{"type": "response_item", "payload": o{"type": "function_call", "call_id": id, "name": "exec_command", "arguments": string(arguments)}},
			{"type": "response_item", "payload": o{"type": "function_call_output", "call_id": id, "output": output}},
		}
	},
	"codex-old": func(id string, c corpusCase) []o {
		output := "aborted by user after 2.3s"
		if c.ended.How == evidence.Exited {
			text, _ := json.Marshal(o{"output": c.output, "metadata": o{"exit_code": c.ended.Code, "duration_seconds": 0.1}})
			output = string(text)
		} else if c.ended.How == evidence.GoesOn {
			output = ""
		}
		arguments, _ := json.Marshal(o{"command": l{"bash", "-lc", c.command}})
		return []o{
			{"type": "response_item", "payload": o{"type": "function_call", "call_id": id, "name": "shell", "arguments": string(arguments)}},
			{"type": "response_item", "payload": o{"type": "function_call_output", "call_id": id, "output": output}},
		}
	},
	"copilot-cli": func(id string, c corpusCase) []o {
		data := o{"toolCallId": id, "success": true, "result": o{"content": fmt.Sprintf("%s\n<shellId: 0 completed with exit code %d>", c.output, c.ended.Code)}}
		switch c.ended.How {
		case evidence.Exited:
			data["shellExecution"] = o{"exitCode": c.ended.Code}
		case evidence.Halted:
			data["success"], data["shellExecution"], data["result"] = false, o{"exitCode": 130}, o{"content": "..."}
		case evidence.GoesOn:
			data["result"] = o{"content": "<command with shellId: 7 is still running after 30 seconds.>"}
		}
		return []o{
			{"type": "assistant.message", "id": "a" + id, "data": o{"toolRequests": l{o{"toolCallId": id, "name": "bash", "arguments": o{"command": c.command}}}}},
			{"type": "tool.execution_complete", "id": "t" + id, "data": data},
		}
	},
	"droid": func(id string, c corpusCase) []o {
		said, failed := fmt.Sprintf("%s\n\n[Process exited with code %d]", c.output, c.ended.Code), c.ended.Code != 0
		switch c.ended.How {
		case evidence.Halted:
			said, failed = "Error: Command timed out", true
		case evidence.GoesOn:
			said = "Started in the background"
		}
		return []o{
			{"type": "message", "id": "a" + id, "message": o{"role": "assistant", "content": l{o{"type": "tool_use", "id": id, "name": "Execute", "input": o{"command": c.command}}}}},
			{"type": "message", "id": "u" + id, "message": o{"role": "user", "content": l{o{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": said}}}},
		}
	},
	"gemini-cli": func(id string, c corpusCase) []o {
		said, status := "Output: "+c.output, "success"
		if c.ended.Code != 0 {
			said += fmt.Sprintf("\nExit Code: %d", c.ended.Code)
		}
		said += "\nProcess Group PGID: 6927"
		switch c.ended.How {
		case evidence.Halted:
			said = "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output."
		case evidence.GoesOn:
			said = "Command moved to background (PID: 7). Output hidden. Press Ctrl+B to view."
		}
		result := l{o{"functionResponse": o{"id": id, "name": "run_shell_command", "response": o{"output": "<untrusted_context>\n" + said + "\n</untrusted_context>"}}}}
		return []o{{"type": "gemini", "id": "a" + id, "content": "", "toolCalls": l{o{"id": id, "name": "run_shell_command", "args": o{"command": c.command}, "result": result, "status": status}}}}
	},
	"kilo":     likeOpencode,
	"opencode": likeOpencode,
	"pi": func(id string, c corpusCase) []o {
		said, failed := c.output, false
		switch {
		case c.ended.How == evidence.Halted:
			said, failed = "...\n\nCommand aborted", true
		case c.ended.How == evidence.GoesOn:
			c.command += " &"
		case c.ended.Code != 0:
			said, failed = fmt.Sprintf("%s\n\nCommand exited with code %d", c.output, c.ended.Code), true
		}
		return []o{
			{"type": "message", "id": "a" + id, "message": o{"role": "assistant", "content": l{o{"type": "toolCall", "id": id, "name": "bash", "arguments": o{"command": c.command}}}}},
			{"type": "message", "id": "t" + id, "message": o{"role": "toolResult", "toolCallId": id, "content": l{o{"type": "text", "text": said}}, "isError": failed}},
		}
	},
	"qwen-code": func(id string, c corpusCase) []o {
		said, status := fmt.Sprintf("Command: %s\nDirectory: (root)\nOutput: %s\nError: (none)\nExit Code: %d\nSignal: (none)\nProcess Group PGID: 7", c.command, c.output, c.ended.Code), "success"
		switch c.ended.How {
		case evidence.Halted:
			said, status = "[Operation Cancelled] Reason: User intentionally cancelled.", "cancelled"
		case evidence.GoesOn:
			said = "Background shell started (PID: 7)"
		}
		return []o{
			{"type": "assistant", "uuid": "a" + id, "message": o{"role": "model", "parts": l{o{"functionCall": o{"id": id, "name": "run_shell_command", "args": o{"command": c.command}}}}}},
			{"type": "tool_result", "uuid": "t" + id, "message": o{"role": "user", "parts": l{o{"functionResponse": o{"id": id, "name": "run_shell_command", "response": o{"output": said}}}}}, "toolCallResult": o{"callId": id, "status": status}},
		}
	},
}

func likeOpencode(id string, c corpusCase) []o {
	state := o{"status": "completed", "input": o{"command": c.command}, "output": c.output, "metadata": o{"exit": c.ended.Code}}
	switch c.ended.How {
	case evidence.Halted:
		state["output"], state["metadata"] = "...\n\n<bash_metadata>\nbash tool terminated command after exceeding timeout 120000 ms\n</bash_metadata>", o{"exit": nil}
	case evidence.GoesOn:
		state["output"], state["metadata"] = "", o{}
	}
	return []o{{"id": "m" + id, "info": o{"id": "m" + id, "role": "assistant"}, "parts": l{o{"type": "tool", "callID": id, "tool": "bash", "state": state}}}}
}

// TestCapturedEnds: how commands ended is read from what the clients themselves have written.
func TestCapturedEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		client, file, command string
		want                  evidence.Ended
	}{
		{"claude-code", "claude/testdata/interactive-blocks-esc-queued.jsonl", "true", evidence.Exit(0)},
		{"claude-code", "claude/testdata/interactive-command-queued-esc-shell.jsonl", "sleep 20", evidence.Ended{How: evidence.Halted}},
		{"codex", "codex/testdata/tools.jsonl", "echo one", evidence.Exit(0)},
		{"codex", "codex/testdata/tools.jsonl", "exit 3", evidence.Exit(3)},
		{"codex", "codex/testdata/patches.jsonl", "sleep 4; echo late >> late.txt", evidence.Ended{How: evidence.GoesOn, Job: "57335"}},
		{"copilot-cli", "copilot/testdata/tui.jsonl", "echo tuione > t1.txt", evidence.Exit(0)},
		{"copilot-cli", "copilot/testdata/steering.jsonl", "sleep 60", evidence.Exit(0)}, // it went on, and then it told
		{"droid", "droid/testdata/three-turns.jsonl", "env | sort > env.txt", evidence.Exit(0)},
		{"gemini-cli", "gemini/testdata/tui.jsonl", "ls", evidence.Exit(0)},
		{"kilo", "kilo/testdata/sub-agents.jsonl", "echo one > one.txt", evidence.Exit(0)},
		{"opencode", "opencode/testdata/conversation.jsonl", "echo a>a.txt", evidence.Exit(0)},
		{"pi", "pi/testdata/queued.jsonl", "echo one > one.txt", evidence.Exit(0)},
		{"pi", "pi/testdata/queued.jsonl", "echo half > half.txt; sleep 6", evidence.Ended{How: evidence.Halted}},
		{"qwen-code", "qwen/testdata/stop-hook.jsonl", "echo two > two.txt", evidence.Exit(0)},
		{"qwen-code", "qwen/testdata/forked.jsonl", "echo half > half.txt; sleep 60", evidence.Ended{How: evidence.Halted}},
	} {
		data, err := os.ReadFile(filepath.FromSlash(tt.file))
		gittest.Must(t, err)
		var last *transcript.Deed
		for _, d := range transcript.Deeds(Of(tt.client).Reader(), data) {
			if d.Command == tt.command {
				last = &d
			}
		}
		if last == nil || last.Ended != tt.want {
			t.Errorf("%s: %q: %+v, want %+v", tt.file, tt.command, last, tt.want)
		}
	}
}

// TestDirs: where a command began is what its call says, else where the client was.
func TestDirs(t *testing.T) {
	t.Parallel()
	for client, lines := range map[string]string{
		"claude-code": `{"type":"assistant","uuid":"a","cwd":"/home/dev/r/web","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"npm test"}}]}}`,
		"codex":       `{"type":"response_item","payload":{"type":"function_call","call_id":"c","name":"exec_command","arguments":"{\"cmd\":\"npm test\",\"workdir\":\"/home/dev/r/web\"}"}}`,
		"qwen-code":   `{"type":"assistant","uuid":"a","cwd":"/home/dev/r","message":{"role":"model","parts":[{"functionCall":{"id":"c","name":"run_shell_command","args":{"command":"npm test","directory":"web"}}}]}}`,
	} {
		deeds := transcript.Deeds(Of(client).Reader(), []byte(lines+"\n"))
		if len(deeds) != 1 || filepath.ToSlash(deeds[0].Dir) != "/home/dev/r/web" {
			t.Errorf("%s: %+v", client, deeds)
		}
	}
}

// TestJobs: a command in the background ends as a later call tells.
func TestJobs(t *testing.T) {
	t.Parallel()
	polls := map[string]func() []o{
		"claude-code": func() []o {
			return []o{
				{"type": "assistant", "uuid": "a2", "message": o{"id": "m2", "content": l{o{"type": "tool_use", "id": "poll", "name": "BashOutput", "input": o{"bash_id": "b7"}}}}},
				{"type": "user", "uuid": "u2", "message": o{"content": l{o{"type": "tool_result", "tool_use_id": "poll", "content": "<status>completed</status>\n\n<exit_code>1</exit_code>\n\n<stdout>\nFAIL\n</stdout>"}}}},
			}
		},
		"codex": func() []o {
			return []o{
				{"type": "response_item", "payload": o{"type": "function_call", "call_id": "poll", "name": "write_stdin", "arguments": `{"session_id":57335,"chars":""}`}},
				{"type": "response_item", "payload": o{"type": "function_call_output", "call_id": "poll", "output": "Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 1\nOutput:\nFAIL"}},
			}
		},
		"copilot-cli": func() []o {
			return []o{
				{"type": "assistant.message", "id": "a2", "data": o{"toolRequests": l{o{"toolCallId": "poll", "name": "read_bash", "arguments": o{"shellId": "7"}}}}},
				{"type": "tool.execution_complete", "id": "t2", "data": o{"toolCallId": "poll", "success": true, "result": o{"content": "FAIL\n<shellId: 7 completed with exit code 1>"}}},
			}
		},
	}
	for client, poll := range polls {
		var text strings.Builder
		lines := clients[client]("run", corpusCase{command: "go test ./...", ended: evidence.Ended{How: evidence.GoesOn}})
		for _, line := range append(lines, poll()...) {
			data, err := json.Marshal(line)
			gittest.Must(t, err)
			text.Write(append(data, '\n'))
		}
		deeds := transcript.Deeds(Of(client).Reader(), []byte(text.String()))
		if len(deeds) != 2 || deeds[0].Ended != evidence.Exit(1) {
			t.Errorf("%s: %+v", client, deeds)
		}
	}
}
