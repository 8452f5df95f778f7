package gitdiff

import (
	"testing"

	"gitagent/test/gittest"
)

func TestQuotePath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path string
		high bool
		want string
	}{
		{"plain path", true, "plain path"},
		{"a\tb\n", false, `"a\tb\n"`},
		{`q"\`, false, `"q\"\\"`},
		{"ä\x01\x7f", true, `"\303\244\001\177"`},
		{"ä", false, "ä"},
		{"ä\a", false, `"ä\a"`},
	} {
		got := QuotePath(tt.path, tt.high)
		if got != tt.want {
			t.Errorf("QuotePath(%q, %t) = %s, want %s", tt.path, tt.high, got, tt.want)
		}
		if back, err := unquotePath(got); err != nil || back != tt.path {
			t.Errorf("%s is read as %q, %v", got, back, err)
		}
	}
}

// What a line's commit was made from is that of its own path, though git says it only when it changes.
func TestParseBlame(t *testing.T) {
	t.Parallel()
	one, two := gittest.Hash("1"), gittest.Hash("2")
	lines, err := parseBlame([]byte(one + " 1 1 1\nauthor Ada\nauthor-mail <a@b>\ncommitter Bob\ncommitter-mail <b@c>\nprevious " + two + " was\nfilename f\n\ttext\n" +
		one + " 5 2 1\nfilename g\n\tauthor\r\n" + one + " 2 3 2\nprevious " + two + " was\nfilename f\n\t\n" + one + " 3 4\n\tend\n"))
	if err != nil || len(lines) != 4 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i, want := range []string{"f was text", "g  author\r", "f was ", "f was end"} {
		if got := lines[i].Path + " " + lines[i].PreviousPath + " " + lines[i].Text; got != want || lines[i].Previous.IsZero() != (lines[i].PreviousPath == "") {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
	if in := lines[3].In; in.Author != "Ada" || in.Email != "a@b" || in.Committer != "Bob" || in.CommitterEmail != "b@c" {
		t.Errorf("the commit: %+v", in)
	}
	for _, wrong := range []string{"x\n", one + " 1\n", one + " 1 1 1\nauthor x", one + " 1 1 1\n", one + " 1 1 1\nfilename \"x\n\ttext\n"} {
		if _, err := parseBlame([]byte(wrong)); err == nil {
			t.Errorf("%q is no error", wrong)
		}
	}
}
