package claude

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
		{"", "", []string{"claude"}},
		{"s", "", []string{"claude", "--resume", "s"}},
		{"", "do it", []string{"claude", "do it"}},
		{"s", "do", []string{"claude", "--resume", "s", "do"}},
		{"", "update", []string{"claude", "update "}}, // a command of the client's
		{"", "-x", []string{"claude", "--", "-x"}},
		{"s", "-x", []string{"claude", "--resume", "s", "--", "-x"}},
	} {
		if got := Command("/home/dev/repo", tt.session, tt.prompt); !slices.Equal(got, tt.want) {
			t.Errorf("session %q, prompt %q: %q, want %q", tt.session, tt.prompt, got, tt.want)
		}
	}
}

func TestWithSession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, want []string }{
		{[]string{"claude"}, []string{"claude", "--session-id", "s"}},
		{[]string{"/opt/claude", "-p", "do it"}, []string{"/opt/claude", "--session-id", "s", "-p", "do it"}},
		{[]string{"claude", "-c"}, nil},
		{[]string{"claude", "--resume", "x"}, nil},
		{[]string{"claude", "--session-id", "x"}, nil},
	} {
		got, ok := WithSession(tt.command, "s")
		if ok != (tt.want != nil) || ok && !slices.Equal(got, tt.want) || !ok && !slices.Equal(got, tt.command) {
			t.Errorf("%q: %q, %t, want %q", tt.command, got, ok, tt.want)
		}
	}
}

func TestInteractive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command []string
		want    bool
	}{
		{[]string{"claude"}, true},
		{[]string{"claude", "do it"}, true},
		{[]string{"claude", "-p", "do it"}, false},
		{[]string{"claude", "--print"}, false},
	} {
		if got := Interactive(tt.command); got != tt.want {
			t.Errorf("%q: %t", tt.command, got)
		}
	}
}
