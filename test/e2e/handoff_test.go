//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// The agent hands off in a tool call, the session ends, and the next one in the same checkout is
// told: the document, and what the turn was recorded as before.
func TestHandoffWritten(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	for _, attached := range []bool{false, true} {
		t.Run(map[bool]string{false: "passive", true: "attached"}[attached], func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if attached {
				r.command(r.repo.Dir, "start", "--title", "A mission")
			}
			r.mock.play(on("TWRITE", write("HANDOFF.md", "# State\n\nThe parser is half done: see XYZZY.\n"),
				bash("git agent-handoff write HANDOFF.md --question 'Is PLUGH to stay?'"), say("AWRITE done")))
			first := r.claude(r.repo.Dir, "TWRITE hello").ok().quiet().session()
			r.claude(r.repo.Dir, "T3 hello").ok().quiet()
			request := r.first("T3")
			r.tells(request, "## Handoff (from previous session)", "The parser is half done: see XYZZY.", "Is PLUGH to stay?", first, "after turn 1\n", "Last turn: done", "TWRITE hello")
			r.tellsNot(r.first("TWRITE"), "Handoff (from previous session)")
			r.claude(r.repo.Dir, "T2 hello").ok().quiet()
			r.tellsNot(r.first("T2"), "XYZZY") // T3 has gone on from it
		})
	}
}

// The client is killed in the middle of a turn. The next session knows what it was about and what
// was not committed, and that can be applied in another worktree.
func TestHandoffKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", write("half.txt", "half a file\n"), write("src/main.c", "int main(void) { return 1; }\n"), bash(slow.wait()), say("not reached")))
	r.repo.Write("src/main.c", "int main(void) { return 0; }\n")
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	killed := s.registry().SessionID
	s.kill()
	r.claude(r.repo.Dir, "T3 hello").ok().quiet()
	r.tells(r.first("T3"), "## Handoff (from previous session)", "Exit: killed", killed, "after turn 2\n", "Last turn: interrupted", "TTOOL hello", "+half a file", "one.txt")
	if turns := r.turns(passive(killed)); len(turns) != 2 || turns[1].Outcome != "interrupted" {
		t.Errorf("turns of the session that was killed: %+v", turns)
	}

	other := filepath.Join(r.home, "other")
	r.repo.Git("worktree", "add", "-q", "--detach", other)
	r.handoff(other, "restore", passive(killed)+"/1")
	for name, want := range map[string]string{"half.txt": "half a file\n", "one.txt": "one\n"} {
		if got, err := os.ReadFile(filepath.Join(other, name)); err != nil || string(got) != want {
			t.Errorf("%s in the other worktree: %q, %v", name, got, err)
		}
	}
}

// After /clear the conversation has what was written before it.
func TestHandoffClear(t *testing.T) {
	r := newNightly(t)
	r.mock.play(on("TWRITE", write("HANDOFF.md", "Go on with XYZZY.\n"), bash("git agent-handoff write HANDOFF.md"), say("AWRITE done")))
	s := r.interactive(r.repo.Dir)
	s.prompt("TWRITE hello")
	s.clear()
	s.prompt("T3 hello")
	s.clear()
	s.prompt("T2 hello")
	s.exit()
	r.tells(r.first("T3"), "## Handoff (from previous session)", "Go on with XYZZY.")
	r.tellsNot(r.first("T2"), "git-agent")
}

// When the conversation is compacted, the latest handoff is told again.
func TestHandoffCompact(t *testing.T) {
	r := newNightly(t)
	task := func(tool string, input map[string]any) reply { return reply{"tool": tool, "input": input} }
	r.mock.play(on("TPLAN",
		task("TaskCreate", map[string]any{"subject": "Read the parser", "description": "all of it"}),
		task("TaskCreate", map[string]any{"subject": "Write the tests", "description": "some"}),
		task("TaskUpdate", map[string]any{"taskId": "1", "status": "completed"}),
		say("APLAN done")))
	s := r.interactive(r.repo.Dir)
	s.prompt("T1 hello")
	s.prompt("TPLAN hello")
	s.compact()
	s.prompt("T3 hello")
	s.exit()
	r.tellsNot(r.first("T1"), "Handoff (from previous session)")
	r.tells(r.first("T3"), "## Handoff (from previous session)", "after turn 2\n", "Last turn: done", "APLAN done", "+one", "[x] Read the parser\n[ ] Write the tests")
}

// Nothing to continue: nothing is told. After a clean end it is one line, and a resumed
// conversation needs none.
func TestHandoffNothing(t *testing.T) {
	r := newNightly(t)
	session := r.talk("T3 hello", "T1 hello")
	r.tellsNot(r.first("T3"), "git-agent")
	r.tellsNot(r.first("T1"), "git-agent")
	r.claude(r.repo.Dir, "T2 hello").ok().quiet()
	r.tells(r.first("T2"), "git-agent: the last session here (mission "+passive(session)+", turn 2) ended ")
	r.tellsNot(r.first("T2"), "Handoff (from previous session)")
}

// Two clients work in one checkout: nobody is called dead, and each is told of the other, once, if that is still there.
func TestHandoffNeighbours(t *testing.T) {
	const beside, apart = "git-agent: beside this session, Claude Code (mission ", "; to work apart: git worktree add "
	r := newNightly(t)
	a := r.interactive(r.repo.Dir)
	a.prompt("T1 hello")
	r.claude(r.repo.Dir, "T3 hello").ok().quiet()
	r.tells(r.first("T3"), beside, apart)
	r.tellsNot(r.first("T3"), "Handoff (from previous session)")
	if list := r.handoff(r.repo.Dir, "list", "--all", "--json"); strings.Count(list, "\n") != 1 {
		t.Errorf("handoffs while a session lives:\n%s", list)
	}
	a.prompt("T2 hello")
	r.tellsNot(r.first("T2"), beside)
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", bash(slow.wait()), say("done")))
	b := r.startClaude(r.repo.Dir, "TTOOL hello")
	slow.reached()
	r.tells(r.first("TTOOL"), beside, apart)
	a.prompt("T4 hello")
	r.tells(r.first("T4"), beside, apart)
	if !a.shows("git-agent: beside this session") {
		t.Errorf("the user of the first one is told nothing\n%s", a.term.screen())
	}
	slow.open()
	b.wait()
	b.ok()
	a.exit()
	if list := r.handoff(r.repo.Dir, "list", "--all", "--json"); strings.Contains(list, `"killed"`) || strings.Contains(list, `"crash"`) {
		t.Errorf("somebody was called dead:\n%s", list)
	}
}

// handoff runs `git agent-handoff` as the user in dir and returns its standard output.
func (r *rig) handoff(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"agent-handoff"}, args...)...)
	cmd.Dir, cmd.Env = dir, r.env()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("git agent-handoff %s: %v\n%s\n%s", strings.Join(args, " "), err, &stderr, r.report())
	}
	return stdout.String()
}

// text is all that a request says to the model in its messages.
func (s sent) text() string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, m := range s.Messages {
		var v any
		if json.Unmarshal(m, &v) == nil {
			walk(v)
		}
	}
	return b.String()
}

// tells fails the test unless the model was told all of it.
func (r *rig) tells(s sent, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.text(), text) {
			r.t.Errorf("the model was not told %q:\n%s\n%s", text, s.text(), r.report())
		}
	}
}

// tellsNot fails the test if the model was told any of it.
func (r *rig) tellsNot(s sent, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if strings.Contains(s.text(), text) {
			r.t.Errorf("the model was told %q:\n%s", text, s.text())
		}
	}
}
