package secret

import (
	"strings"
	"testing"
)

func TestPrompts(t *testing.T) {
	m := new(Memory)
	long := strings.Repeat("a long prompt ", 40)
	m.AddPrompts("continue", "  fix\nthe login ", long, Mark, "", "cut here…")
	if len(m.Prompts) != 4 {
		t.Errorf("%d are remembered of 4", len(m.Prompts))
	}
	for text, want := range map[string]bool{
		"continue": true, "fix the login": true, "fix the\nlogin": true, long: true, long[:200] + "…": true, "cut here": true,
		"continue it": false, "fix": false, "": false, Mark: false, "a long prompt": false,
	} {
		if got := m.Finder().IsPrompt(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if m.Finds() || !m.Finder().Empty() {
		t.Error("prompts are looked for everywhere")
	}
	if (*Finder)(nil).IsPrompt("continue") || (*Memory)(nil).Finder().IsPrompt("continue") {
		t.Error("nothing finds a prompt")
	}
}
