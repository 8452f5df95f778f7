package codex

import (
	"slices"
	"strings"
	"testing"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dir, session, prompt, want string }{
		{"", "", "", "codex"},
		{"/wt", "", "", "codex|-C|/wt"},
		{"/wt", "", "resume", "codex|-C|/wt|--|resume"},
		{"/wt", "01a2", "", "codex|resume|-C|/wt|01a2"},
		{"/wt", "01a2", "-go on", "codex|resume|-C|/wt|01a2|--|-go on"},
	} {
		got := Command(tt.dir, tt.session, tt.prompt)
		if !slices.Equal(got, strings.Split(tt.want, "|")) {
			t.Errorf("Command(%q, %q, %q) = %q, want %s", tt.dir, tt.session, tt.prompt, got, tt.want)
		}
		if !Interactive(got) {
			t.Errorf("%q talks to a person", got)
		}
	}
}

func TestInteractive(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"codex":                          true,
		"/usr/bin/codex hello":           true,
		"codex.exe resume --last":        true,
		"codex fork 01a2":                true,
		"codex -m gpt --search":          true,
		"codex -- exec":                  true,
		"codex -C exec":                  true,
		"codex --cd=/wt agents":          true,
		"codex exec hello":               false,
		"codex e":                        false,
		"codex -m gpt -c a=b exec hello": false,
		"codex --oss review":             false,
		"codex mcp list":                 false,
		"codexx":                         false,
		"claude":                         false,
	} {
		if got := Interactive(strings.Fields(command)); got != want {
			t.Errorf("Interactive(%s) = %v, want %v", command, got, want)
		}
	}
	if Interactive(nil) {
		t.Error("no command talks to a person")
	}
}
