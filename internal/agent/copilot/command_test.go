package copilot

import (
	"slices"
	"testing"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		dir, session, prompt string
		want                 []string
	}{
		{"", "", "", []string{"copilot"}},
		{"/home/dev/wt", "s", "", []string{"copilot", "-C", "/home/dev/wt", "--resume=s"}},
		{"/home/dev/wt", "s", "-x", []string{"copilot", "-C", "/home/dev/wt", "--resume=s", "--interactive=-x"}},
		{"", "", "mcp", []string{"copilot", "--interactive=mcp"}},
	} {
		if got := Command(tt.dir, tt.session, tt.prompt); !slices.Equal(got, tt.want) || !Interactive(got) {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}

func TestWithSession(t *testing.T) {
	t.Parallel()
	if got, ok := WithSession([]string{"copilot", "-p", "x"}, "s"); !ok || !slices.Equal(got, []string{"copilot", "--session-id=s", "-p", "x"}) {
		t.Errorf("got %q", got)
	}
	for _, word := range []string{"--resume", "-r", "--resume=x", "--session-id=x", "--continue", "--connect"} {
		if _, ok := WithSession([]string{"copilot", word}, "s"); ok {
			t.Errorf("%s, and another session", word)
		}
	}
	for _, word := range []string{"-p", "--prompt", "--prompt=x"} {
		if Interactive([]string{"copilot", word}) {
			t.Errorf("%s talks to a person", word)
		}
	}
}
