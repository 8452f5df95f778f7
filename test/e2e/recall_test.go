//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// An agent reads a file and then edits it. What an earlier session has tried there, and a later one has taken back, it is told
// between the two, once; of a file that it edits unread with the result. A file of which nothing is known tells nothing.
func TestRecallBeforeEdit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.command(r.repo.Dir, "init", "--recall")
	const before, tried = "int main(void) { return 0; }\n", "int main(void) { return counter_with_lock(); }\n"
	read := func(path string) reply {
		return reply{"tool": "Read", "input": map[string]any{"file_path": "${CWD}/" + path}}
	}
	r.mock.play(
		on("TTRY", read("src/main.c"), write("src/main.c", tried), say("ATRY It takes a lock.")),
		on("TBACK", read("src/main.c"), write("src/main.c", before), say("ABACK It is gone.")),
		on("TREAD",
			bash(`until [ -e .git/agent/recall ]; do sleep 0.02; done`), // noted in the background
			read("README.md"), read("src/main.c"), write("src/main.c", "int main(void) { return 2; }\n"), read("src/main.c"), say("done")))
	r.claude(r.repo.Dir, "TTRY use a lock there").ok().quiet()
	r.claude(r.repo.Dir, "TBACK that deadlocks").ok().quiet()
	r.command(r.repo.Dir, "housekeep")
	r.claude(r.repo.Dir, "TREAD hello").ok().quiet()
	const text = "src/main.c: tried: turn "
	var counts []int
	for _, q := range r.mock.requests() {
		if strings.Contains(q.Rule, "TREAD") {
			counts = append(counts, strings.Count(string(q.Body), text))
		}
	}
	// The requests: the prompt, after the wait, README.md, the file, the edit, the file again.
	if want := "[0 0 0 1 1 1]"; want != fmt.Sprint(counts) {
		t.Errorf("told in the requests %v, want %s\n%s", counts, want, r.report())
	}
	last := r.mock.requests()
	body := string(last[len(last)-1].Body)
	for _, want := range []string{"taken back in turn ", "asked: TTRY use a lock there", "then asked: TBACK that deadlocks"} {
		if !strings.Contains(body, want) {
			t.Errorf("the agent was not told %q", want)
		}
	}
}

// recalled is the same for any client, whose agent reads by a command.
func recalled(r *rig) {
	r.command(r.repo.Dir, "init", "--agent", r.kind.(player).program(), "--recall")
	r.mock.play(
		on("TTRY", bash("echo 'int main(void) { return counter_with_lock(); }' > src/main.c"), say("ATRY It takes a lock.")),
		on("TBACK", bash("echo 'int main(void) { return 0; }' > src/main.c"), say("ABACK It is gone.")),
		on("TREAD", bash("cat ./src/main.c"), bash("echo 'int main(void) { return 2; }' > ./src/main.c"), bash("cat ./src/main.c"), say("done")))
	r.play(r.repo.Dir, "", "TTRY use a lock there").ok()
	r.play(r.repo.Dir, "", "TBACK that deadlocks").ok()
	r.command(r.repo.Dir, "housekeep")
	r.play(r.repo.Dir, "", "TREAD hello").ok()
	asked := 0
	for _, q := range r.mock.requests() {
		if !strings.Contains(q.Rule, "TREAD") || q.Side {
			continue
		}
		asked++
		want := min(q.Step, 1) // said once, and never again
		if got := strings.Count(string(q.Body), "src/main.c: tried: turn "); got != want {
			r.t.Errorf("in the request after %d answers it is told %d times, want %d\n%s", q.Step, got, want, r.report())
		}
	}
	if asked != 4 {
		r.t.Errorf("%d requests\n%s", asked, r.report())
	}
}
