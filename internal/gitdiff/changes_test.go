package gitdiff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func TestAlign(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		old, fresh string
		want       []int
	}{
		{"", "", nil},
		{"", "a b", []int{-1, -1}},
		{"a b", "", nil},
		{"a b c", "a b c", []int{0, 1, 2}},
		{"a b c", "a x c", []int{0, -1, 2}},
		{"a b c", "b c d", []int{1, 2, -1}},
		{"a b c d", "d a b c", []int{-1, 0, 1, 2}},
		{"x a y b z", "p a q b r", []int{-1, 1, -1, 3, -1}},
		{"a a", "a a a", []int{0, 1, -1}},
	} {
		lines := func(text string) []byte { return []byte(strings.Join(strings.Fields(text), "\n")) }
		got, ok := Align(lines(tt.old+" end"), lines(tt.fresh+" end"))
		if want := append(tt.want, len(strings.Fields(tt.old))); !ok || !slices.Equal(got, want) {
			t.Errorf("Align(%q, %q) = %v, %v, want %v", tt.old, tt.fresh, got, ok, want)
		}
	}
	var many [2]strings.Builder
	for i := range maxStatLines + 1 {
		fmt.Fprintln(&many[0], i)
		fmt.Fprintln(&many[1], maxStatLines-i)
	}
	if _, ok := Align([]byte(many[0].String()), []byte(many[1].String())); ok {
		t.Error("Align does any amount of work")
	}
}

// FuzzAlign: what is aligned is the same line, in order, and as much as is counted.
func FuzzAlign(f *testing.F) {
	f.Add("a\nb\nc\n", "b\nc\nd\n")
	f.Fuzz(func(t *testing.T, old, fresh string) {
		from, ok := Align([]byte(old), []byte(fresh))
		if !ok {
			return
		}
		a, b := slices.Collect(strings.Lines(old)), slices.Collect(strings.Lines(fresh))
		last, added := -1, 0
		for i, line := range from {
			switch {
			case line < 0:
				added++
			case line <= last || a[line] != b[i]:
				t.Fatalf("Align(%q, %q) = %v", old, fresh, from)
			default:
				last = line
			}
		}
		if insertions, _, ok := lineStat([]byte(old), []byte(fresh)); ok && insertions != added || len(from) != len(b) {
			t.Fatalf("Align(%q, %q) = %v, which are %d insertions, not %d", old, fresh, from, added, insertions)
		}
	})
}

func TestParseChanges(t *testing.T) {
	t.Parallel()
	one, two := gittest.Hash("1"), gittest.Hash("2")
	none := gittest.Hash("0")
	out := ":100644 100755 " + one + " " + two + " M\x00a b\x00" +
		":000000 100644 " + none + " " + one + " A\x00n\newline\x00" +
		":100644 100644 " + one + " " + one + " R100\x00old\x00new\x00" +
		":100644 000000 " + two + " " + none + " D\x00bin\x00" +
		"3\t1\ta b\x001\t0\tn\newline\x000\t0\t\x00old\x00new\x00-\t-\tbin\x00"
	list, err := parseChanges([]byte(out))
	gittest.Must(t, err)
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprintf("%q from %q %v %.1s %v %.1s +%d -%d %v", c.Path, c.From, c.Old.Mode, c.Old.Hash, c.New.Mode, c.New.Hash, c.Insertions, c.Deletions, c.Binary))
	}
	want := []string{
		`"a b" from "a b" 0100644 1 0100755 2 +3 -1 false`,
		`"n\newline" from "n\newline" 0000000  0100644 1 +1 -0 false`,
		`"new" from "old" 0100644 1 0100644 1 +0 -0 false`,
		`"bin" from "bin" 0100644 2 0000000  +0 -0 true`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("parseChanges = %q, want %q", got, want)
	}
	for _, out := range []string{":100644\x00a\x00", ":100644 100644 x y M\x00a\x001\t1\ta\x00", ":100644 100644 " + one + " " + two + " M\x00a\x00", ":100644 100644 " + one + " " + two + " M\x00a\x001\t1\tb\x00"} {
		if _, err := parseChanges([]byte(out)); err == nil {
			t.Errorf("parseChanges(%q) has no error", out)
		}
	}
	if list, err := parseChanges(nil); len(list) > 0 || err != nil {
		t.Errorf("parseChanges of nothing = %v, %v", list, err)
	}
}

func TestParseNamed(t *testing.T) {
	t.Parallel()
	one, two := gittest.Hash("1"), gittest.Hash("2")
	names := []string{two + ":file", two + ":gone\nlong ago", two + ":module", two + ":old module", two + ":last"}
	out := one + "\n" + names[1] + " missing\n" + one + " submodule\n" + names[3] + " missing\n" + two + "\n"
	got, err := parseNamed(out, names)
	none := object.Hash{}
	if want := []object.Hash{object.NewHash(one), none, none, none, object.NewHash(two)}; err != nil || !slices.Equal(got, want) {
		t.Errorf("parseNamed = %v, %v, want %v", got, err, want)
	}
	for _, out := range []string{"", one + "\n", one + " strange\n"} {
		if _, err := parseNamed(out, names[:2]); err == nil {
			t.Errorf("parseNamed(%q) has no error", out)
		}
	}
}
