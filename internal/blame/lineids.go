package blame

import (
	"bytes"
	"hash/maphash"
	"slices"
	"unicode/utf8"
)

// A lineIDs numbers the lines with a word in them. Equal lines in one text
// get different numbers. Only the changes since the text before are looked at.
type lineIDs struct {
	words map[uint64]int32 // by the hash of the line
	seed  maphash.Seed
	last  [][]byte // the lines of the last text
	lines []int32  // its numbers, sorted, each once
	times []int32  // by number: how often the last text has the line
}

func newNumbering() *lineIDs {
	return &lineIDs{words: make(map[uint64]int32), seed: maphash.MakeSeed()}
}

// number returns the numbers of a text's lines, sorted, each once.
func (n *lineIDs) number(text []byte) []int32 {
	split := make([][]byte, 0, len(n.last)+8)
	for line := range bytes.Lines(text) {
		split = append(split, line)
	}
	gone, fresh := differing(n.last, split)
	var removed, added []int32
	for _, line := range gone {
		if word, ok := n.word(line); ok {
			n.times[word]--
			removed = append(removed, n.again(word, n.times[word]))
		}
	}
	for _, line := range fresh {
		if word, ok := n.word(line); ok {
			added = append(added, n.again(word, n.times[word]))
			n.times[word]++
		}
	}
	slices.Sort(removed)
	slices.Sort(added)
	lines := make([]int32, 0, len(n.lines)+len(added))
	for _, line := range n.lines {
		for len(added) > 0 && added[0] < line {
			lines, added = append(lines, added[0]), added[1:]
		}
		if len(removed) > 0 && removed[0] == line {
			removed = removed[1:]
			if len(added) > 0 && added[0] == line { // it was moved
				lines, added = append(lines, line), added[1:]
			}
			continue
		}
		lines = append(lines, line)
	}
	n.lines, n.last = append(lines, added...), split
	return n.lines
}

// patience is how many lines in a row may differ before lines are taken to be
// inserted or deleted.
const patience = 8

// differing returns the lines that differ, by place from the start, then from
// the end. The others are equal.
func differing(a, b [][]byte) (gone, fresh [][]byte) {
	pair := func(x, y []byte) (same bool) {
		if same = bytes.Equal(x, y); !same {
			gone, fresh = append(gone, x), append(fresh, y)
		}
		return same
	}
	for missed := 0; len(a) > 0 && len(b) > 0 && missed < patience; a, b = a[1:], b[1:] {
		if missed++; pair(a[0], b[0]) {
			missed = 0
		}
	}
	for missed := 0; len(a) > 0 && len(b) > 0 && missed < patience; a, b = a[:len(a)-1], b[:len(b)-1] {
		if missed++; pair(a[len(a)-1], b[len(b)-1]) {
			missed = 0
		}
	}
	return append(gone, a...), append(fresh, b...)
}

// word returns a line's number; ok is false if it contains no word.
func (n *lineIDs) word(line []byte) (number int32, ok bool) {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if !hasWord(line) {
		return 0, false
	}
	return n.of(maphash.Bytes(n.seed, line)), true
}

// again returns the number of a line that occurred times before.
func (n *lineIDs) again(word, times int32) int32 {
	if times == 0 {
		return word
	}
	return n.of(maphash.Comparable(n.seed, [2]int32{word, times}))
}

func (n *lineIDs) of(hash uint64) int32 {
	number, known := n.words[hash]
	if !known {
		number = int32(len(n.words))
		n.words[hash] = number
		n.times = append(n.times, 0)
	}
	return number
}

// hasWord reports whether a line has a letter, digit, _ or non-ASCII byte.
func hasWord(line []byte) bool {
	for _, c := range line {
		if c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}
