package cmdline

import "testing"

func TestBroken(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"turn 9: not found", 0, "turn 9: not found"},
		{"turn 9: not found", 17, "turn 9: not found"},
		{"turn 9: not found", 16, "turn 9: not\n  found"},
		{"one two three four", 9, "one two\n  three\n  four"},
		{"hint: list the turns with: git agent-turn list --all", 30, "hint: list the turns with:\n  git agent-turn list --all"},
		{"do it with: git a b; or with: git c", 20, "do it with: git a b;\n  or with: git c"},
		{"do it with: git a b; or with: git c", 19, "do it with:\n  git a b; or with:\n  git c"},
		{"longer with: git agent-turn show", 10, "longer\n  with:\n  git agent-turn show"},
		{"of git it may be said: git log git", 14, "of git it may\n  be said:\n  git log git"},
		{"if not: env -u A git log", 10, "if not:\n  env -u A git log"},
		{"日本語 日本語", 12, "日本語\n  日本語"},
		{"one two\n  laid out, as it is\nthree four\n", 9, "one two\n  laid out, as it is\nthree\n  four\n"},
		{"/a/path/that/is/longer", 10, "/a/path/that/is/longer"},
		{"", 10, ""},
	} {
		if got := broken(c.text, "  ", c.columns); got != c.want {
			t.Errorf("in %d columns, %q is %q, want %q", c.columns, c.text, got, c.want)
		}
	}
}

func TestLabelled(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"one two three", 0, "goes  one two three"},
		{"one two three", 13, "goes  one two\n      three"},
		{"drop it with: git stash drop 1", 20, "goes  drop it with:\n      git stash drop 1"},
		{"/a/path/that/is/longer", 10, "goes  /a/path/that/is/longer"},
		{"one two", 3, "goes  one\n      two"},
	} {
		if got := Labelled("goes  ", c.text, c.columns); got != c.want {
			t.Errorf("in %d columns, %q is %q, want %q", c.columns, c.text, got, c.want)
		}
	}
}
