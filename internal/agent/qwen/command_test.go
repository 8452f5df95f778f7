package qwen

import (
	"slices"
	"testing"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		session, prompt string
		want            []string
	}{
		{"", "", []string{"qwen"}},
		{"s", "", []string{"qwen", "--resume", "s"}},
		{"s", "-x", []string{"qwen", "--resume", "s", "--prompt-interactive=-x"}},
		{"", "mcp", []string{"qwen", "--prompt-interactive=mcp"}},
	} {
		if got := Command("/home/dev/wt", tt.session, tt.prompt); !slices.Equal(got, tt.want) || !Interactive(got) {
			t.Errorf("%q %q: got %q", tt.session, tt.prompt, got)
		}
	}
}

func TestWithSession(t *testing.T) {
	t.Parallel()
	if got, ok := WithSession([]string{"qwen", "-p", "x"}, "s"); !ok || !slices.Equal(got, []string{"qwen", "--session-id", "s", "-p", "x"}) {
		t.Errorf("got %q", got)
	}
	for _, word := range []string{"--resume", "-r", "--resume=x", "--session-id=x", "--continue", "-c"} {
		if _, ok := WithSession([]string{"qwen", word}, "s"); ok {
			t.Errorf("%s, and another session", word)
		}
	}
	for _, word := range []string{"-p", "--prompt", "--prompt=x", "fix it"} {
		if Interactive([]string{"qwen", word}) {
			t.Errorf("%s talks to a person", word)
		}
	}
}
