package blame

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPresence: what was read one after another can be asked for in any order.
func TestPresence(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const words = 12
	var p presence
	var texts [][]int32
	for range 200 {
		var text, last []int32
		if len(texts) > 0 {
			last = texts[len(texts)-1]
		}
		for line := range int32(words) {
			if r.IntN(2) == 0 {
				text = append(text, line)
			}
		}
		if at := p.next(without(text, last), without(last, text)); int(at) != len(texts) {
			t.Fatalf("text %d, want %d", at, len(texts))
		}
		texts = append(texts, text)
	}
	for at, text := range texts {
		if p.lines[at] != len(text) {
			t.Errorf("text %d has %d lines, want %d", at, p.lines[at], len(text))
		}
		for line := range int32(words + 1) {
			if got := p.has(int32(at), line); got != slices.Contains(text, line) {
				t.Errorf("text %d has line %d: %t", at, line, got)
			}
		}
		other := r.IntN(len(texts))
		var come []int32
		p.come(int32(at), int32(other), func(line int32) { come = append(come, line) })
		if len(come) > p.between(int32(at), int32(other)) {
			t.Errorf("%d lines come between texts %d and %d, more than change", len(come), other, at)
		}
		for _, line := range without(text, texts[other]) {
			if !slices.Contains(come, line) {
				t.Errorf("line %d of text %d, which %d lacks, does not come", line, at, other)
			}
		}
	}
}

// TestFresh: what is new in a commit is in it and in none of its parents, however far these are.
func TestFresh(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := &contents{in: new(presence)}
	var lines []string
	for range 100 {
		var letters []byte
		for letter := byte('a'); letter <= 'p'; letter++ {
			if r.IntN(3) == 0 {
				letters = append(letters, letter)
			}
		}
		lines, c.of = append(lines, string(letters)), append(c.of, c.text(string(letters)))
	}
	for at := range c.of {
		parents := []int{}
		for range r.IntN(4) {
			parents = append(parents, r.IntN(len(c.of)))
		}
		var want []int32
		for _, letter := range lines[at] {
			if !slices.ContainsFunc(parents, func(p int) bool { return slices.Contains([]byte(lines[p]), byte(letter)) }) {
				want = append(want, letter)
			}
		}
		if got := c.fresh(at, parents); !slices.Equal(got, want) {
			t.Errorf("new in %q, after %v: %v, want %v", lines[at], parents, got, want)
		}
	}
}
