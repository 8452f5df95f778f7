package cmdline

import (
	"bufio"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	const hidden = "\x1b[8m+ \u202e\u200bevil\x1b[m\r"
	in := " a | 2 +-\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old" + hidden + "\n+new\n same\nno end" + strings.Repeat("x", 2*longLine)
	for _, size := range []int{1, 7, len(in)} {
		want := strings.ReplaceAll(in, hidden, `\x1b[8m+ \u202e\u200bevil\x1b[m\r`)
		var out strings.Builder
		d := NewDiff(&out)
		for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
			if _, err := d.Write([]byte(rest[:min(size, len(rest))])); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Flush(); err != nil || out.String() != want {
			t.Errorf("%d bytes at a time: %v\n%q\nwant\n%q", size, err, out.String(), want)
		}
	}
	var out strings.Builder
	d := &Diff{to: bufio.NewWriter(&out), colour: true, header: true}
	for line := range strings.Lines("diff --git a/a b/a\n--- a/a\n@@ -1 +1 @@\n--- old\n+new\n same\n") {
		_, _ = d.Write([]byte(line))
	}
	_ = d.Flush()
	want := "\x1b[1mdiff --git a/a b/a\x1b[m\n\x1b[1m--- a/a\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[31m--- old\x1b[m\n\x1b[32m+new\x1b[m\n same\n"
	if out.String() != want {
		t.Errorf("coloured:\n%q\nwant\n%q", out.String(), want)
	}
}
