package cmdline

import (
	"bufio"
	"strings"
	"testing"

	"gitagent/test/gittest"
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
	d := &Diff{to: bufio.NewWriter(&out), colour: true}
	for line := range strings.Lines("diff --git a/a b/a\n--- a/a\n@@ -1 +1 @@\n--- old\n+new\n same\n") {
		_, _ = d.Write([]byte(line))
	}
	_ = d.Flush()
	want := "\x1b[1mdiff --git a/a b/a\x1b[m\n\x1b[1m--- a/a\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[31m--- old\x1b[m\n\x1b[32m+new\x1b[m\n same\n"
	if out.String() != want {
		t.Errorf("coloured:\n%q\nwant\n%q", out.String(), want)
	}
}

// A long line has the colour of its beginning, and so do the parts of a summary that git colours.
func TestDiffColours(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("+", 3*longLine)
	for _, tt := range []struct{ in, want string }{
		{" a-- | 5 +++--\n", " a-- | 5 \x1b[32m+++\x1b[m\x1b[31m--\x1b[m\n"},
		{" a | Bin 0 -> 3 bytes\n 1 file changed, 1 insertion(+)\n", " a | Bin 0 -> 3 bytes\n 1 file changed, 1 insertion(+)\n"},
		{"-a\n+b\n@@ c\nM\td++\n", "-a\n+b\n@@ c\nM\td++\n"}, // names
		{
			"diff --git a/a b/a\n@@ -1 +1 @@ f\n-" + long + "\n",
			"\x1b[1mdiff --git a/a b/a\x1b[m\n\x1b[36m@@ -1 +1 @@ f\x1b[m\n\x1b[31m-" + long + "\x1b[m\n",
		},
	} {
		var out strings.Builder
		d := &Diff{to: bufio.NewWriter(&out), colour: true}
		_, _ = d.Write([]byte(tt.in))
		gittest.Must(t, d.Flush())
		got := strings.ReplaceAll(out.String(), "+\x1b[m\x1b[31m+", "++") // between the pieces of a line
		if got != tt.want {
			t.Errorf("%.80q: got %.200q, want %.200q", tt.in, got, tt.want)
		}
	}
}

// What git prints as a word diff for programs becomes what it prints for people, and the marks are
// coloured where a change is, not where the content looks like one.
func TestWordDiff(t *testing.T) {
	t.Parallel()
	in := "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one \n-two\n+2\n  {+three+}\n~\n\n~\n+~\n~\n"
	for _, size := range []int{1, len(in)} {
		var plain, coloured strings.Builder
		for out, d := range map[*strings.Builder]*Diff{
			&plain: NewWordDiff(&plain), &coloured: {to: bufio.NewWriter(&coloured), colour: true, words: true},
		} {
			for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
				_, _ = d.Write([]byte(rest[:min(size, len(rest))]))
			}
			if err := d.Flush(); err != nil {
				t.Fatalf("%v, after %q", err, out)
			}
		}
		if got, want := plain.String(), "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\none [-two-]{+2+} {+three+}\n\n{+~+}\n"; got != want {
			t.Errorf("plain:\n%q\nwant\n%q", got, want)
		}
		if got, want := coloured.String(), "\x1b[36m@@ -1,2 +1,2 @@\x1b[m\none \x1b[31m[-two-]\x1b[m\x1b[32m{+2+}\x1b[m {+three+}\n\n\x1b[32m{+~+}\x1b[m\n"; !strings.HasSuffix(got, want) {
			t.Errorf("coloured:\n%q\nwant at its end\n%q", got, want)
		}
	}
	long := strings.Repeat("x", 2*longLine+1)
	var out strings.Builder
	d := NewWordDiff(&out)
	_, _ = d.Write([]byte("diff --git a/a b/a\n@@ -1 +1 @@\n-" + long + "\n+y\n~\n"))
	if err := d.Flush(); err != nil || !strings.HasSuffix(out.String(), "\n[-"+long+"-]{+y+}\n") {
		t.Errorf("a long run: %v, %.50q ... %q", err, out.String(), out.String()[out.Len()-20:])
	}
}
