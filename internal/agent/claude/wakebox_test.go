package claude

import (
	"strings"
	"testing"
)

const ruled = "\x1b[38;5;244m────────────────────────────────────────"

// boxed is a page of the client, captured by tmux, with lines between the rules of its input box.
func boxed(lines string) string {
	return "\x1b[39m❯ an old prompt\n\n● a reply\n\n" + ruled + "\n" + lines + "\n" + ruled +
		"\n\x1b[39m  \x1b[38;5;211m⏵⏵ bypass permissions on\x1b[38;5;246m (shift+tab to cycle)\x1b[39m\n"
}

// The pages were captured from version 2.1.329.
func TestReadBox(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, page, text string
		ok               bool
	}{
		{"empty", boxed("\x1b[39m❯\u00a0\x1b[7m \x1b[0m\x1b[39m\x1b[49m"), "", true},
		{"empty, the cursor's attribute lasts to the next line", boxed("\x1b[39m❯\u00a0\x1b[7m") + "", "", true},
		{"typed", boxed("\x1b[39m❯\u00a0half typed\x1b[7m"), "halftyped", true},
		{"a command has a colour", boxed("\x1b[39m❯\u00a0\x1b[38;5;153m/clear\x1b[7m\x1b[39m"), "/clear", true},
		{"the cursor on a letter", boxed("\x1b[39m❯\u00a0\x1b[7mh\x1b[0m\x1b[39malf"), "half", true},
		{"placeholder", boxed("\x1b[38;5;246m❯\u00a0\x1b[7m\x1b[39mP\x1b[0;2m\x1b[39m\x1b[49mress up to edit queued messages"), "", true},
		{"two lines", boxed("\x1b[39m❯\u00a0\n  second\x1b[7m"), "second", true},
		{"a colour whose number is that of dim text", boxed("\x1b[38;5;2m❯\u00a0\x1b[38;2;2;2;2mtyped"), "typed", true},
		{"shell mode", boxed("!\u00a0\x1b[7m\x1b[39m \x1b[0m"), "", false},
		{"a search", boxed("\x1b[39m❯\u00a0\x1b[7m \x1b[0m") + "  search prompts: x\n", "", false},
		{"another view", ruled + "\n  Showing detailed transcript · ctrl+o to toggle\n", "", false},
		{"a dialog", ruled + "\n Bash command\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel\n", "", false},
		{"a menu, marked where the box is", ruled + "\n Select\n❯ 1. Yes\n   2. No\n", "", false},
		{"no lower boxRule", "\n" + ruled + "\n❯ \n", "", false},
		{"an old box above a dialog", boxed("❯ ") + ruled + "\n Do you want to proceed?\n ❯ 1. Yes\n", "", false},
		{"a shell", "$ echo x\nx\n$ \n", "", false},
		{"nothing", "", "", false},
		{"half a sequence", boxed("❯ x") + "\x1b[3", "x", true},
	} {
		if text, ok := readBox(tt.page); text != tt.text || ok != tt.ok {
			t.Errorf("%s: readBox = %q, %v; want %q, %v", tt.name, text, ok, tt.text, tt.ok)
		}
	}
}

func FuzzReadBox(f *testing.F) {
	f.Add(boxed("\x1b[39m❯\u00a0\x1b[7m \x1b[0m\x1b[39m\x1b[49m"))
	f.Add("\x1b[38;5m❯\xff\x1b[")
	f.Fuzz(func(t *testing.T, page string) {
		if text, ok := readBox(page); ok && (!strings.Contains(page, boxRule) || strings.ContainsAny(text, " \t\n")) {
			t.Errorf("readBox(%q) = %q", page, text)
		}
	})
}
