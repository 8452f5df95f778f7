//go:build e2e

package e2e

import (
	"cmp"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestEvidence: a turn that edits after its tests, one that only says that they pass, ones that run them, in the words of
// the commands, with tests that really run.
func TestEvidence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	message := filepath.Join(r.home, "message")
	r.vars = append(r.vars, `GIT_EDITOR=sh -c 'cp "$1" "`+message+`"' sh`)
	const passing = "require('node:test')('x', () => {})\n"
	r.mock.play(
		on("TEDIT", write("a.test.js", passing), bash("node --test a.test.js 2>&1 | tail -20"), write("b.js", "1\n"), say("Edited.")),
		on("TSAY", write("b.js", "2\n"), say("All tests pass.")),
		on("TRUN", bash("node --test a.test.js"), say("All tests pass.")),
		on("TFAIL", write("a.test.js", "throw 1\n"), bash("node --test a.test.js"), say("They fail.")),
		on("TMEND", write("a.test.js", "'use strict'\n"+passing), bash("node --test a.test.js"), say("All tests pass.")),
	)
	has := func(what, text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("%s lacks %q:\n%s", what, want, text)
			}
		}
	}
	finish := func(wants ...string) {
		t.Helper()
		r.command(r.repo.Dir, "finish", "--trailer")
		text, err := os.ReadFile(message)
		gittest.Must(t, err)
		has("finish", string(text), wants...)
	}
	const ran, said = `node --test a\.test\.js`, `says that tests pass; no such run is recorded`
	session := r.talk("TEDIT hello", "TSAY hello")
	finish(`\n# Checks of turn 2: untested; ` + said + `\n`)
	for _, prompt := range []string{"TRUN hello", "TFAIL hello", "TMEND hello"} {
		r.claude(r.repo.Dir, prompt, "--resume", session).ok().quiet()
	}
	has("list", r.command(r.repo.Dir, "list"),
		`1 .* edited since +TEDIT`, `2 .* untested +TSAY`, `3 .* tested +TRUN`, `4 .* failed +TFAIL`, `5 .* tested +TMEND`)
	for i, want := range []string{
		`edited since: ` + ran + ` passed\n`, `untested\nReply: +` + said + `\n`, `tested: ` + ran + ` passed\nDate`,
		`failed: ` + ran + ` failed\n`, `tested: ` + ran + ` passed\nDate`,
	} {
		has("show", r.command(r.repo.Dir, "show", strconv.Itoa(i+1)), `Checks: +`+want)
	}
	has("missions", r.command(r.repo.Dir, "missions"), ` tested  .* TMEND`)
	finish(`\n# Checks of turn 5: tested: `+ran+` passed\n`, `\nTest: `+ran+`\n`)
	has("summary", r.command(r.repo.Dir, "summary", "HEAD~2.."), `Turn 1: TEDIT hello \(.*, edited since\)`,
		`Turn 2: TSAY hello \(.*, untested, `+said+`\)`, `Turn 5: TMEND hello \(.*, tested\)`)
	r.command(r.repo.Dir, "page", "--all", "--out", filepath.Join(r.home, "page.html"))
	has("the page", index(r, "page.html"), `"checked":"edited since","prompt":"TEDIT`, `"checked":"untested","unproven":true,"prompt":"TSAY`,
		`"checked":"tested","prompt":"TRUN`, `"checked":"failed","prompt":"TFAIL`, `"checked":"tested","prompt":"TMEND`)
}

// TestEvidenceOfRunning: nobody knows how a test ended that goes on in the background as its turn ends, whatever the reply
// says of it, or that the user has stopped.
func TestEvidenceOfRunning(t *testing.T) {
	r := newNightly(t)
	back, slow, begun := r.gate("back"), r.gate("slow"), filepath.Join(r.home, "begun")
	const run = "node --test a.test.js"
	inBackground := reply{"tool": "Bash", "input": map[string]any{"command": run, "description": "run", "run_in_background": true}}
	r.mock.play(
		on("TBACK", testOf(back.read()), inBackground, talk("It runs.", "All tests pass.", begun)),
		on("TSTOP", testOf(slow.read()), bash(run), say("done")),
	)
	x := r.startClaude(r.repo.Dir, "TBACK hello")
	back.reached()
	gittest.Must(t, os.WriteFile(begun, nil, 0o666))
	r.stops(1)
	back.open()
	x.wait()
	x = r.startClaude(r.repo.Dir, "TSTOP hello")
	slow.reached()
	gittest.Must(t, x.cmd.Process.Signal(os.Interrupt))
	x.wait()
	slow.open()
	r.claude(r.repo.Dir, "T3 hello").ok()
	r.proven(map[string]string{"TBACK": "unknown [unknown]", "<task-notification>": " []", "TSTOP": "unknown [stopped]", "T3": " []"})
}

// proven checks the words for the turns' checks and how each of them ended, by the first words of the prompts.
func (r *rig) proven(want map[string]string) {
	r.t.Helper()
	got := make(map[string]string)
	for _, t := range r.list() {
		outcomes := []string{}
		for _, c := range t.Checks {
			outcomes = append(outcomes, c.Outcome)
		}
		got[strings.Fields(t.Prompt)[0]] = fmt.Sprintf("%s %v", t.Checked, outcomes)
	}
	if !maps.Equal(got, want) {
		r.t.Errorf("%q, want %q\n%s", got, want, r.report())
	}
}

// index is what a page of missions knows of all turns.
func index(r *rig, file string) string {
	r.t.Helper()
	packed := regexp.MustCompile(`id="index">([^<]*)<`).FindStringSubmatch(r.repo.In(r.home).Read(file))
	if packed == nil {
		r.t.Fatalf("%s has no index", file)
	}
	text, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed[1]))))
	gittest.Must(r.t, err)
	return string(text)
}

// testOf is a command that writes a test of Node's.
func testOf(body string) reply {
	return bash(`echo "require('node:test')('x', () => { ` + body + ` })" > a.test.js`)
}

// told is what records say of a test that was running when the user stopped the client, where that is not unknown.
var told = map[string]string{
	"qwen": "unknown [stopped]", "droid": "unknown [stopped]",
	"gemini": " []", "opencode": " []", "kilo": " []", // they do not note a call without an answer
}

// checksTold has turns that run a test which passes, fails, goes on in the background as the turn ends, and is stopped.
func checksTold(r *rig) {
	back, slow, begun := r.gate("back"), r.gate("slow"), filepath.Join(r.home, "begun")
	const run = "node --test a.test.js"
	r.mock.play(
		on("TPASS", testOf(""), bash(run), say("done")),
		on("TFAIL", testOf("throw 1"), bash(run), say("done")),
		on("TBACK", testOf(back.read()), behind(run), talk("It runs.", "done", begun)),
		on("TSTOP", testOf(slow.read()), bash(run), say("done")),
	)
	r.play(r.repo.Dir, "", "TPASS hello").ok()
	r.play(r.repo.Dir, "", "TFAIL hello").ok()
	x := r.startRun(r.repo.Dir, "", "TBACK hello")
	back.reached()
	gittest.Must(r.t, os.WriteFile(begun, nil, 0o666))
	r.await("the turn's end", func() bool { return len(r.witness.named("Stop")) == 3 })
	back.open()
	x.wait()
	x = r.startRun(r.repo.Dir, "", "TSTOP hello")
	slow.reached()
	x.signal(os.Interrupt)
	x.wait()
	slow.open()
	r.play(r.repo.Dir, "", "T3 hello").ok()
	r.proven(map[string]string{
		"TPASS": "tested [passed]", "TFAIL": "failed [failed]", "TBACK": "unknown [unknown]",
		"TSTOP": cmp.Or(told[r.kind.program()], "unknown [unknown]"), "T3": " []",
	})
}
