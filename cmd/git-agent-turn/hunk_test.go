package main

import (
	"strings"
	"testing"
)

func TestHunkOf(t *testing.T) {
	t.Parallel()
	const patch = `diff --git a/f b/f
--- a/f
+++ b/f
@@ -1,4 +1,5 @@ first
 one
-two
+2
+2 and a half
 three
 four
@@ -20,4 +21,5 @@ second
 twenty

+@@ -1 +1 @@
 end
\ No newline at end of file
`
	for number, want := range map[int]string{
		1: "", 2: "@@ -1,4 +1,5 @@ first: +2", 3: "@@ -1,4 +1,5 @@ first: +2 and a half", 4: "", 5: "", 6: "", 21: "", 22: "", 23: "@@ -20,4 +21,5 @@ second: +@@ -1 +1 @@", 99: "",
	} {
		got := ""
		if h := hunkOf(patch, number); h != nil {
			got = h.lines[0] + ": " + h.lines[h.at]
			if len(h.header) != 3 {
				t.Errorf("line %d: the header is %q", number, h.header)
			}
		}
		if got != want {
			t.Errorf("line %d: %q, want %q", number, got, want)
		}
	}
	for _, none := range []string{"", "diff --git a/f b/f\nBinary files a/f and b/f differ\n"} {
		if h := hunkOf(none, 1); h != nil {
			t.Errorf("%q has %q", none, h.lines)
		}
	}
}

func TestHunkAround(t *testing.T) {
	t.Parallel()
	h := &hunk{header: []string{"+++ b/f"}, lines: []string{"@@", "+1", "+2", "+3", "+4", "+5"}}
	for at, want := range map[int]string{1: "+++ b/f @@ +1 +2 +3 ...", 3: "+++ b/f @@ ... +2 +3 +4 ...", 5: "+++ b/f @@ ... +3 +4 +5"} {
		h.at = at
		if got := strings.Join(h.around(3), " "); got != want {
			t.Errorf("around %d: %q, want %q", at, got, want)
		}
	}
	if got := strings.Join(h.around(5), " "); got != "+++ b/f @@ +1 +2 +3 +4 +5" {
		t.Errorf("all: %q", got)
	}
}

func TestRenamedTo(t *testing.T) {
	t.Parallel()
	const first, second = "diff --git a/e b/f\nsimilarity index 90%\nrename from e\nrename to f\n--- a/e\n+++ b/f\n@@ -1 +1 @@\n-rename to x\n+diff --git a b\n",
		"diff --git \"a/a\\nb\" \"b/c\\nd\"\nsimilarity index 100%\nrename from \"a\\nb\"\nrename to \"c\\nd\"\n"
	for path, want := range map[string]string{"f": first, "c\nd": second, "x": "", "e": "", "": ""} {
		if got := renamedTo(first+second, path); got != want {
			t.Errorf("to %q: got\n%s\nwant\n%s", path, got, want)
		}
	}
	if got := renamedTo("", "f"); got != "" {
		t.Errorf("in nothing: %q", got)
	}
}
