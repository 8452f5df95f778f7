package transcript

import (
	"context"
	"path/filepath"
	"testing"
)

// TestWaitForEnd: where the client notes a turn's end, there is nothing more to wait for.
func TestWaitForEnd(t *testing.T) {
	t.Parallel()
	const (
		prompt = `{"PromptID":"p","Parts":[{"Kind":1,"Text":"go"}]}` + "\n"
		other  = `{"PromptID":"o","Parts":[{"Kind":1,"Text":"no"}]}` + "\n"
		ended  = `{"Ended":true}` + "\n"
	)
	for _, tt := range []struct {
		name string
		file string
		want Want
		done bool
	}{
		{"the turn's", prompt + says + ended, Want{PromptID: "p"}, true},
		{"of a turn that the payload doesn't name", prompt + says + ended, Want{}, true},
		{"none", prompt + says, Want{PromptID: "p"}, false},
		{"the turn's before", other + says + ended + prompt + says, Want{PromptID: "p"}, false},
		{"the turn's before, whatever turn it is", other + says + ended + prompt + says, Want{}, false},
		{"a sub-agent's", prompt + says + `{"Subagent":true,"Ended":true}` + "\n", Want{PromptID: "p"}, false},
		{"the first one, of a turn that went on", prompt + ended + says, Want{PromptID: "p", After: int64(len(prompt + ended))}, false},
		{"the second one", prompt + ended + says + ended, Want{PromptID: "p", After: int64(len(prompt + ended))}, true},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		write(t, path, tt.file)
		once, cancel := context.WithCancel(t.Context())
		cancel() // it looks once
		if got, err := Wait(once, plainly, path, Cursor{}, tt.want); err != nil || got.Complete != tt.done {
			t.Errorf("%s: complete = %v, %v, want %v", tt.name, got.Complete, err, tt.done)
		}
	}
}
