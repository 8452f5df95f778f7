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
	last  []byte  // the last text
	times []int32 // by number: how often the last text has the line
	in    presence
}

func newNumbering() *lineIDs {
	return &lineIDs{words: make(map[uint64]int32), seed: maphash.MakeSeed()}
}

// number numbers the lines of a text, which it keeps, and returns the text's
// place in the presence.
func (n *lineIDs) number(text []byte) int32 {
	gone, fresh := differing(n.last, text)
	n.last = text
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
	return n.in.next(without(added, removed), without(removed, added))
}

// without returns the numbers in list only, both sorted.
func without(list, other []int32) (rest []int32) {
	i := 0
	for _, n := range list {
		for i < len(other) && other[i] < n {
			i++
		}
		if i == len(other) || other[i] != n {
			rest = append(rest, n)
		}
	}
	return rest
}

// patience is how many lines in a row may differ before lines are taken to be
// inserted or deleted.
const patience = 8

// differing returns the lines that differ, by place from the start, then from
// the end. The others are equal.
func differing(a, b []byte) (gone, fresh [][]byte) {
	for missed := 0; missed < patience; missed++ {
		if n := sameStart(a, b); n > 0 {
			a, b, missed = a[n:], b[n:], 0
		}
		if len(a) == 0 || len(b) == 0 {
			break
		}
		x, y := firstLine(a), firstLine(b)
		gone, fresh = append(gone, a[:x]), append(fresh, b[:y])
		a, b = a[x:], b[y:]
	}
	for missed := 0; missed < patience; missed++ {
		if n := sameEnd(a, b); n > 0 {
			a, b, missed = a[:len(a)-n], b[:len(b)-n], 0
		}
		if len(a) == 0 || len(b) == 0 {
			break
		}
		x, y := lastLine(a), lastLine(b)
		gone, fresh = append(gone, a[x:]), append(fresh, b[y:])
		a, b = a[:x], b[:y]
	}
	return slices.AppendSeq(gone, bytes.Lines(a)), slices.AppendSeq(fresh, bytes.Lines(b))
}

// block is how many bytes are compared at once.
const block = 512

// sameStart returns how many bytes are in the equal lines that two texts begin
// with.
func sameStart(a, b []byte) int {
	most, n := min(len(a), len(b)), 0
	for n+block <= most && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < most && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// sameEnd is sameStart for the lines that two texts end with.
func sameEnd(a, b []byte) int {
	most, n := min(len(a), len(b)), 0
	for n+block <= most && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < most && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	begins := func(text []byte) bool { return n == len(text) || text[len(text)-n-1] == '\n' }
	if begins(a) && begins(b) {
		return n
	}
	if i := bytes.IndexByte(a[len(a)-n:], '\n'); i >= 0 {
		return n - i - 1
	}
	return 0
}

// firstLine is where the second line begins.
func firstLine(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// lastLine is where the last line begins.
func lastLine(text []byte) int { return bytes.LastIndexByte(text[:len(text)-1], '\n') + 1 }

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
