package main

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"gitagent/test/gittest"
)

func TestMessage(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const (
		first    = "Continue the work of the previous session from its handoff a1b2c3d4/3. It should be in your context already; if it is not, read it with: git agent-handoff show a1b2c3d4/3"
		search   = "it is long, so do not read it whole but search it with: git agent-handoff grep --handoff a1b2c3d4/3 <pattern>"
		snapshot = ". There is a snapshot of its terminal; " + search
		log      = ". There is a complete log of its terminal"
	)
	for _, tt := range []struct {
		snapshot bool
		log      string
		want     string
	}{
		{false, "", first},
		{true, "", first + snapshot},
		{false, "/home/dev/a b.log", first + log + " in /home/dev/a b.log; " + search},
		{true, "/home/dev/日本.log", first + snapshot + log + " in /home/dev/日本.log; " + search},
		{false, "/home/dev/@secret.log", first + log + "; " + search}, // the client would read the file
		{false, "/home/dev/line\nfeed", first + log + "; " + search},
		{false, "/home/dev/esc\x1b[201~", first + log + "; " + search},
		{false, "/" + strings.Repeat("long", 100), first + log + "; " + search},
	} {
		if got := (message{"a1b2c3d4/3", tt.snapshot, tt.log}).String(); got != tt.want {
			t.Errorf("with snapshot %v and log %q:\ngot  %s\nwant %s", tt.snapshot, tt.log, got, tt.want)
		}
	}
}

// The message must look to the client like a prompt that somebody typed.
func TestMessageBounds(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	longest := message{"0123456789ab/123456", true, "/" + strings.Repeat("x", 199)}.String()
	if n := len(utf16.Encode([]rune(longest))); n > 800 || !strings.Contains(longest, "/xxx") {
		t.Errorf("the longest message has %d UTF-16 units, want 800 at most: %s", n, longest)
	}
	if strings.ContainsFunc(longest, unicode.IsControl) || strings.ContainsAny(longest[:1], "/!@#") {
		t.Errorf("the client would not take it for a prompt: %q", longest)
	}
}
