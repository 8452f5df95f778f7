package gemini

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
		{"", "", []string{"gemini"}},
		{"s", "", []string{"gemini", "--resume", "s"}},
		{"s", "-x", []string{"gemini", "--resume", "s", "--prompt-interactive=-x"}},
		{"", "mcp", []string{"gemini", "--prompt-interactive=mcp"}},
	} {
		if got := Command("/home/dev/wt", tt.session, tt.prompt); !slices.Equal(got, tt.want) || !Interactive(got) {
			t.Errorf("%q %q: got %q", tt.session, tt.prompt, got)
		}
	}
}

func TestWithSession(t *testing.T) {
	t.Parallel()
	if got, ok := WithSession([]string{"gemini", "-p", "x"}, "s"); !ok || !slices.Equal(got, []string{"gemini", "--session-id", "s", "-p", "x"}) {
		t.Errorf("got %q", got)
	}
	for _, word := range []string{"--resume", "-r", "--resume=latest", "--session-id=x", "--session-file"} {
		if _, ok := WithSession([]string{"gemini", word}, "s"); ok {
			t.Errorf("%s, and another session", word)
		}
	}
	for _, word := range []string{"-p", "--prompt", "--prompt=x"} {
		if Interactive([]string{"gemini", word}) {
			t.Errorf("%s talks to a person", word)
		}
	}
}
