//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// Claude Code and Codex work in one checkout, and a person. Of what Codex does with a patch in a shell, and in a command that
// it does not wait for, no hook tells: its file does, when the turn ends.
func TestBesideCodex(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.also(codex{})
	p := r.person()
	p.begin(map[string]string{
		"both.txt": lines("base", 20), "a.txt": lines("base", 5), "b.txt": lines("base", 5), "notes.txt": "base\n",
		"old.txt": lines("B1 moved", 6), "unwanted.txt": lines("B1 unwanted", 3),
	})
	early, ready, late, last := r.gate("early"), o.gate("ready"), o.gate("late"), o.gate("last")
	patch := func(lines ...string) reply {
		return bash("apply_patch <<'EOF'\n*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\nEOF")
	}
	r.mock.play(
		on("TA1", write("a-new.txt", lines("A1 new", 3)), bash(early.wait()), bash("sed -i '2a A1 sed' a.txt"),
			reply{"tool": "Read", "input": map[string]any{"file_path": "${CWD}/both.txt"}},
			reply{"tool": "Edit", "input": map[string]any{"file_path": "${CWD}/both.txt", "old_string": "base 02\n", "new_string": "base 02\nA1 edit\n"}},
			say("A1 done")),
		on("TA2", bash("echo 'A2 more' >> a.txt"), say("A2 done")),
	)
	o.mock.play(
		on("TB1", bash(ready.wait()),
			patch("*** Update File: both.txt", "@@", " base 15", "+B1 patch", " base 16", "*** Add File: b-new.txt", "+B1 new", "+B1 new, too", "*** Delete File: unwanted.txt"),
			patch("*** Update File: old.txt", "*** Move to: moved.txt", "@@", " B1 moved 03", "+B1 in between", " B1 moved 04"),
			reply{"tool": "exec_command", "input": map[string]any{"cmd": late.wait() + "; echo 'B1 late' > late.txt", "yield_time_ms": 250}},
			bash(last.wait()), bash("sed -i '3a B1 sed' b.txt"), say("B1 done")),
		on("TB2", patch("*** Update File: b.txt", "@@", " base 05", "+B2 patch"), say("B2 done")),
	)
	a := r.driven()
	a.ask("TA1 hello")
	early.reached()
	b := o.startRun(r.repo.Dir, "", "TB1 hello")
	ready.reached()
	p.appends("notes.txt")
	ready.open()
	late.reached()
	last.reached()
	p.appends("both.txt")
	late.open()
	r.await("the command that nobody waits for", func() bool { return strings.Contains(r.repo.Git("status", "--porcelain"), "late.txt") })
	p.appends("notes.txt")
	r.rested()
	early.open()
	r.stops(1)
	last.open()
	b.wait()
	second := b.ok().session()
	a.ask("TA2 hello")
	r.stops(3)
	o.play(r.repo.Dir, second, "TB2 hello").ok()
	a.leave()
	own := r.command(r.repo.Dir, "diff", passive(second)+"/1")
	for _, line := range []string{"+B1 new", "+B1 in between", "-B1 unwanted 03", "+B1 late"} {
		if !strings.Contains(own, line+"\n") {
			t.Errorf("what the patches and the command did that nobody waited for lacks %q:\n%s", line, own)
		}
	}
	r.owned(map[string]string{a.session(): "A", second: "B"})
}

// also is a rig of another client in the same repository, for the same user.
func (r *rig) also(k player) *rig {
	r.t.Helper()
	o := *r
	o.kind = k
	script, scenario := k.service()
	o.mock = newMock(r.t, filepath.Join(r.home, "mock-"+k.program()), script, scenario)
	o.onboard(r.repo.Dir)
	o.command(r.repo.Dir, "init", "--agent", k.program())
	o.patient()
	return &o
}
