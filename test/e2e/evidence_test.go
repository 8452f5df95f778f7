//go:build e2e

package e2e

import (
	"regexp"
	"testing"
)

// TestEvidence: a turn that edits after its tests, one that only says that they pass, and one that runs them, in the words of
// the commands, with tests that really run.
func TestEvidence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const passing = "require('node:test')('x', () => {})\n"
	r.mock.play(
		on("TEDIT", write("a.test.js", passing), bash("node --test a.test.js 2>&1 | tail -20"), write("b.js", "1\n"), say("Edited.")),
		on("TSAY", write("b.js", "2\n"), say("All tests pass.")),
		on("TRUN", bash("node --test a.test.js"), say("All tests pass.")),
		on("TFAIL", write("a.test.js", "throw 1\n"), bash("node --test a.test.js"), say("They fail.")),
	)
	r.talk("TEDIT hello", "TSAY hello", "TRUN hello", "TFAIL hello")
	list := r.command(r.repo.Dir, "list")
	for _, want := range []string{`1 .* edited since +TEDIT`, `2 .* untested +TSAY`, `3 .* tested +TRUN`, `4 .* failed +TFAIL`} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("list lacks %q:\n%s", want, list)
		}
	}
	for turn, want := range map[string]string{
		"1": `Checks: +edited since: node --test a\.test\.js passed\n`, "2": `Checks: +untested\nReply: +says that tests pass; no such run is recorded\n`,
		"3": `Checks: +tested: node --test a\.test\.js passed\nDate`, "4": `Checks: +failed: node --test a\.test\.js failed\n`,
	} {
		if got := r.command(r.repo.Dir, "show", turn); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("turn %s lacks %q:\n%s", turn, want, got)
		}
	}
}
