//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// From a step within a turn another line is begun: with the files of that moment, and a conversation that ends with what the
// tools before it answered. The client sends that, byte for byte as it did then, and the new prompt.
func TestForkAtStep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.mock.play(
		on("TSTEPS", write("a.txt", "one\n"), reply{"content": []any{
			map[string]any{"type": "tool_use", "name": "Write", "input": map[string]any{"file_path": "${CWD}/b.txt", "content": "two\n"}},
			map[string]any{"type": "tool_use", "name": "Write", "input": map[string]any{"file_path": "${CWD}/c.txt", "content": "three\n"}},
		}}, bash("rm -f a.txt b.txt c.txt"), say("all done")),
		on("TFORK", bash("echo four > d.txt"), say("forked")),
	)
	session := r.talk("T1 hello", "TSTEPS hello")
	name := passive(session) + "/2"
	during := r.during("TSTEPS")
	if len(during) != 4 {
		t.Fatalf("%d requests in the turn\n%s", len(during), r.report())
	}
	for step, want := range map[int]string{1: "a.txt", 2: "a.txt b.txt c.txt"} {
		what := fmt.Sprintf("fork at %s.%d", name, step)
		f := r.fork(r.repo.Dir, fmt.Sprintf("%s.%d", name, step))
		files, _ := filepath.Glob(filepath.Join(f.Worktree, "?.txt"))
		for i := range files {
			files[i] = filepath.Base(files[i])
		}
		if got := strings.Join(files, " "); got != want {
			t.Errorf("%s has %s, want %s", what, got, want)
		}
		r.claude(f.Worktree, "TFORK hello", f.Command[1:]...).ok().quiet()
		all := r.asked("TFORK")
		sent := all[len(all)-1]
		r.holds(what, sent, "T1", "TSTEPS", "TFORK")
		r.lives(f, sent)
		then := during[step]
		for bytes.HasPrefix(then.Messages[len(then.Messages)-1], []byte(`{"role":"system"`)) { // how much room there was at that moment
			then.Messages = then.Messages[:len(then.Messages)-1]
		}
		if !bytes.Equal(then.System, sent.System) || !bytes.Equal(then.Tools, sent.Tools) {
			t.Errorf("%s: another system prompt, or other tools", what)
		}
		if len(sent.Messages) < len(then.Messages)+2 {
			t.Fatalf("%s: %d messages were sent, want %d and the new prompt", what, len(sent.Messages), len(then.Messages))
		}
		for i, m := range then.Messages {
			if !bytes.Equal(m, sent.Messages[i]) {
				t.Errorf("%s: message %d of %d differs: %s", what, i+1, len(then.Messages), around(string(m), string(sent.Messages[i])))
				break
			}
		}
		if rest := sent.Messages[len(then.Messages):]; !bytes.Contains(rest[0], []byte(`"No response requested."`)) || prompt(rest[1]) != "TFORK" {
			t.Errorf("%s: then come %s", what, rest)
		}
		if _, err := os.Stat(filepath.Join(f.Worktree, "d.txt")); err != nil {
			t.Errorf("%s: the client did not go on: %v", what, err)
		}
	}
}
