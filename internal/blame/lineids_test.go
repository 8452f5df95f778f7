package blame

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNumbering: texts have numbers in common as they have lines in common, as often as both have them,
// whatever came before.
func TestNumbering(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := newNumbering()
	var before []int32
	var last string
	for i := range 3000 {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString([]string{"a", "bb", "ab", "", "}", "  ", "ba"}[r.IntN(7)])
			b.WriteString([]string{"\n", "\n", "\n", "\r\n"}[r.IntN(4)])
		}
		text := b.String()
		if r.IntN(10) == 0 { // compared in blocks
			text = strings.Repeat("ab\n", r.IntN(500)) + text + strings.Repeat("ba\n", r.IntN(500))
		}
		if r.IntN(3) == 0 {
			text = strings.TrimSuffix(text, "\n")
		}
		at := n.number([]byte(text))
		var got []int32
		for line := range int32(len(n.words)) {
			if n.in.has(at, line) {
				got = append(got, line)
			}
		}
		if len(got) != n.in.lines[at] {
			t.Fatalf("%d: numbers %v of %q, which has %d", i, got, text, n.in.lines[at])
		}
		common := 0
		for _, x := range got {
			if slices.Contains(before, x) {
				common++
			}
		}
		if want := inCommon(text, last); common != want {
			t.Fatalf("%d: %q and %q have %d lines in common, want %d", i, last, text, common, want)
		}
		if words := inCommon(text, text); len(got) != words {
			t.Fatalf("%d: %q has %d numbers, want %d", i, text, len(got), words)
		}
		before, last = got, text
	}
}

// inCommon counts the lines with a word that two texts have in common.
func inCommon(a, b string) (n int) {
	times := make(map[string]int)
	for line := range strings.SplitSeq(a, "\n") {
		if hasWord([]byte(line)) {
			times[line]++
		}
	}
	for line := range strings.SplitSeq(b, "\n") {
		if times[line] > 0 {
			times[line]--
			n++
		}
	}
	return n
}
