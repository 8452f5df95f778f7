package cmdline

import (
	"fmt"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	print := func(columns int) string {
		var b strings.Builder
		r := NewRecord(&Screen{Writer: &b, Columns: columns}, "turn a1b2c3d4/1", len("Branch:"))
		r.Line("a line that is rather\nlong")
		r.Field("Branch", "main\x1b[2J")
		r.Field("None", "")
		r.Beginning("Prompt", "one\ntwo\nthree\nfour\n", 2, "--full")
		r.Beginning("Note", "one\ntwo\n", 1, "--full")
		r.Text("Reply", "words that go on and on\n\tx\x1b\n")
		r.Verbatim("Patch", "+words that go on and on\n")
		r.Quote("> ", "a\n\nb\nc\n", 3)
		gittest.Must(t, r.Flush())
		return b.String()
	}
	want := `turn a1b2c3d4/1
a line that is rather l…
Branch: main\x1b[2J

Prompt
    one
    two
    ... 2 more lines, with --full

Note
    one
    two

Reply
    words that go on and
    on
    	x\x1b

Patch
    +words that go on and on
    > a
    >
    > b
    > ...
`
	if got := print(24); got != want {
		t.Errorf("on a terminal:\n%s\nwant\n%s", got, want)
	}
	want = strings.NewReplacer("rather l…", "rather long", "    ... 2 more lines, with --full\n", "    three\n    four\n", "go on and\n    on\n    \t", "go on and on\n    \t").Replace(want)
	if got := print(0); got != want {
		t.Errorf("elsewhere:\n%s\nwant\n%s", got, want)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	if got, want := Tally(map[string]int{"Read": 1, "Bash": 3, "a\nb": 1}), `Bash 3, Read, a b`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	many := make(map[string]int)
	for i := range 60 {
		many[fmt.Sprintf("tool%02d", i)] = 1
	}
	if got := Tally(many); !strings.HasSuffix(got, "tool49, ... and 10 more") {
		t.Errorf("of 60: %q", got)
	}
	if got := Tally(nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}
