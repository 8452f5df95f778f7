package gitdiff

import (
	"fmt"
	"strings"
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

// What a line's commit was made from is said again with each of its lines, and what the commit is only once.
func TestReadBlame(t *testing.T) {
	t.Parallel()
	one, two := gittest.Hash("1"), gittest.Hash("2")
	answer := newBlameAnswer()
	err := answer.read(strings.NewReader(one + " 1 7 1\nauthor Ada\nauthor-mail <a@b>\ncommitter Bob\ncommitter-mail <b@c>\nsummary \nboundary\nprevious " + two + " was\nfilename f\n" +
		one + " 5 2 1\nfilename g\n" + one + " 2 3 2\nprevious " + two + " was\nfilename \"f\\t\"\n"))
	if err != nil || len(answer.list) != 3 {
		t.Fatalf("%d answers, %v", len(answer.list), err)
	}
	for i, want := range []string{"1 7 1 f was", "5 2 1 g ", "2 3 2 f\t was"} {
		l := answer.list[i]
		got := fmt.Sprint(l.Line, l.Number, l.Lines, " ", l.Path, " ", l.PreviousPath)
		if got != want || l.Previous.IsZero() != (l.PreviousPath == "") || !l.Before {
			t.Errorf("answer %d: %q, want %q", i, got, want)
		}
	}
	if in := answer.list[2].In; in.Author != "Ada" || in.Email != "a@b" || in.Committer != "Bob" || in.CommitterEmail != "b@c" {
		t.Errorf("the commit: %+v", in)
	}
	for _, wrong := range []string{"x\n", one + " 1 1\n", one + " 1 1 1\nauthor x", one + " 1 1 1\n", one + " 1 1 1\nfilename \"x\n", one + " 1 1 1\nfilename x"} {
		if err := newBlameAnswer().read(strings.NewReader(wrong)); err == nil {
			t.Errorf("%q is no error", wrong)
		}
	}
}
