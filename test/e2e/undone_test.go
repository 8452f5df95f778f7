//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestUndone: after a person has gone back in OpenCode, the conversation goes on after the turn that is left. The plugin is
// driven by a script; [undone] does the same with the client.
func TestUndone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		steps []string
		after []int // which each turn comes after
	}{
		{"a turn", []string{"ask one", "ask two", "undo", "ask three"}, []int{0, 1, 1}},
		{"after a turn that was steered", []string{"steer one more", "ask two", "undo", "ask three"}, []int{0, 1, 1}},
		{"what it was steered with", []string{"steer one more", "undo", "ask two"}, []int{0, 1}},
		{"all of a steered turn", []string{"ask one", "steer two more", "undo", "undo", "ask three"}, []int{0, 1, 1}},
		{"twice", []string{"steer one more", "ask two", "ask three", "undo", "undo", "ask four"}, []int{0, 1, 2, 1}},
		{"twice, with a prompt between", []string{"steer one more", "ask two", "undo", "ask three", "undo", "ask four", "ask five"}, []int{0, 1, 1, 1, 4}},
		{"the first turn", []string{"steer one more", "undo", "undo", "ask two", "ask three"}, []int{0, 0, 2}},
		{"and redone", []string{"steer one more", "ask two", "undo", "redo", "ask three"}, []int{0, 1, 2}},
		{"after a prompt that was repeated", []string{"ask one", "repeat two", "ask three", "undo", "ask four"}, []int{0, 1, 2, 2}},
		{"in a client that was started again", []string{"steer one more", "restart", "ask two", "restart", "undo", "ask three"}, []int{0, 1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newWorld(t, openCode{})
			r.drive(tt.steps...)
			var after []int
			for _, turn := range r.list() {
				after = append(after, turn.Transcript.After)
			}
			if !slices.Equal(after, tt.after) {
				t.Errorf("the turns come after %v, want %v\n%s", after, tt.after, r.report())
			}
		})
	}
}

// drive has a script call the plugin, as the client would.
func (r *rig) drive(steps ...string) {
	r.t.Helper()
	plugin, err := os.ReadFile(filepath.Join(openCode{}.dir(r), "plugin", "git-agent.js"))
	gittest.Must(r.t, err)
	script, err := os.ReadFile(filepath.Join("testdata", "undo.mjs"))
	gittest.Must(r.t, err)
	gittest.Must(r.t, os.WriteFile(filepath.Join(r.home, "plugin.mjs"), plugin, 0o600))
	gittest.Must(r.t, os.WriteFile(filepath.Join(r.home, "undo.mjs"), script, 0o600))
	cmd := exec.Command("node", append([]string{filepath.Join(r.home, "undo.mjs"), r.repo.Dir}, steps...)...)
	cmd.Env = r.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("drive the plugin: %v\n%s", err, out)
	}
}

// TestTail: the client says only when a compaction is done from where on it still sends what was said before. A fork needs it.
func TestTail(t *testing.T) {
	t.Parallel()
	r := newWorld(t, openCode{})
	r.drive("ask one", "ask two", "compact", "ask three")
	turns := r.list()
	if len(turns) != 3 {
		t.Fatalf("%d turns\n%s", len(turns), r.report())
	}
	said := r.conversation(turns, turns[2])
	if n, tails := strings.Count(said, `"compaction"`), strings.Count(said, `"tail_start_id"`); n != 1 || tails != 1 {
		t.Errorf("%d compactions, of which %d say what is left:\n%s", n, tails, said)
	}
}

// undone goes back in the client: before the last prompt, behind one that steered a turn, and in a fork. What the model is
// sent is what is left, and a fork has that, too.
func undone(r *rig) {
	slow := r.gate("slow")
	r.mock.play(on("TTOOL", bash("echo half > half.txt"), bash(slow.wait()), say("not steered")), on(`TF[0-9]`, say("forked")))
	s := r.seat(r.repo.Dir, "")
	s.prompt("T1 hello")
	s.enter("TTOOL hello")
	slow.reached()
	s.enter("T2 hello")
	stops := len(r.witness.named("Stop"))
	slow.open()
	r.await("Stop after the steered turn", func() bool { return len(r.witness.named("Stop")) > stops })
	s.ready("the steered turn")
	s.prompt("T3 hello")
	s.undo("T3 hello", 1)
	s.prompt("T4 hello")
	s.undo("T4 hello", 1)
	s.undo("T2 hello", 2)
	s.prompt("T5 hello")
	s.leave()
	r.sends("the session", "T1", "TTOOL", "T5")
	mission := r.kind.mission(r, r.began("T1").Session)
	r.comeAfter(mission, 0, 1, 2, 2, 2)

	f := r.fork(r.repo.Dir, mission+"/5")
	s = r.seat(f.Worktree, f.Session)
	s.prompt("TF1 hello")
	r.sends("the fork", "T1", "TTOOL", "T5", "TF1")
	s.undo("TF1 hello", 1)
	s.undo("T5 hello", 2)
	s.prompt("TF2 hello")
	s.leave()
	r.sends("the fork, gone back in", "T1", "TTOOL", "TF2")
	r.comeAfter(f.Mission, 0, 1, 2, 2, 2, 5, 2)
}

// comeAfter compares which turn each turn of a mission comes after.
func (r *rig) comeAfter(mission string, want ...int) {
	r.t.Helper()
	var got []int
	for _, t := range r.turns(mission) {
		got = append(got, t.Transcript.After)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("the turns of %s come after %v, want %v\n%s", mission, got, want, r.report())
	}
}

// undo takes back the last prompt that is left, in OpenCode, and leaves the box empty. With it, n are taken back: the client
// shows the prompt before it has done so, and forgets to if the next one comes at once.
func (s *tui) undo(text string, n int) {
	s.r.t.Helper()
	s.enter("/undo")
	s.r.await("the prompt in the box", func() bool {
		typed, _ := s.box()
		return typed == text && s.shows(fmt.Sprintf("%d message reverted", n))
	})
	s.r.await("an empty box", func() bool {
		typed, _ := s.box()
		if typed != "" {
			s.term.keys("BSpace")
		}
		return typed == ""
	})
}
