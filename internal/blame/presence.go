package blame

import (
	"math"
	"slices"
)

// A presence tells which lines are in texts that were read one after another.
// Texts and lines are numbers; what is kept is where lines come and go.
type presence struct {
	spans       [][]textSpan // by line
	added, gone [][]int32    // by text: lines that the text before lacks, and those that only it has
	changes     []int        // by text: how many these are, in all texts until then
	lines       []int        // by text: how many lines it has
}

// A textSpan is texts in a row, without the last.
type textSpan struct{ from, to int32 }

// next adds a text by what changed since the text before. It keeps the lists.
func (p *presence) next(added, gone []int32) (text int32) {
	text = int32(len(p.lines))
	for _, line := range gone {
		spans := p.spans[line]
		spans[len(spans)-1].to = text
	}
	for _, line := range added {
		if n := int(line) + 1; n > len(p.spans) {
			p.spans = slices.Grow(p.spans, n-len(p.spans))[:n]
		}
		p.spans[line] = append(p.spans[line], textSpan{text, math.MaxInt32})
	}
	changes, lines := len(added)+len(gone), len(added)-len(gone)
	if text > 0 {
		changes, lines = changes+p.changes[text-1], lines+p.lines[text-1]
	}
	p.added, p.gone = append(p.added, added), append(p.gone, gone)
	p.changes, p.lines = append(p.changes, changes), append(p.lines, lines)
	return text
}

func (p *presence) has(text, line int32) bool {
	if int(line) >= len(p.spans) {
		return false
	}
	spans := p.spans[line]
	if len(spans) > 1 {
		after, _ := slices.BinarySearchFunc(spans, text+1, func(s textSpan, text int32) int { return int(s.from) - int(text) })
		spans = spans[:after]
	}
	return len(spans) > 0 && spans[len(spans)-1].from <= text && text < spans[len(spans)-1].to
}

// between is how many lines came and went between two texts.
func (p *presence) between(a, b int32) int {
	return max(p.changes[a]-p.changes[b], p.changes[b]-p.changes[a])
}

// come calls f with lines of a text, all that another one lacks among them.
func (p *presence) come(text, other int32, f func(line int32)) {
	lists := p.added[min(other, text)+1 : text+1]
	if other > text {
		lists = p.gone[text+1 : other+1]
	}
	for _, list := range lists {
		for _, line := range list {
			f(line)
		}
	}
}
