package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Matches are what a query finds in a turn's texts.
type Matches struct {
	Lines []Line // the first ones
	More  int    // how many more there are

	q       *Query
	found   uint64 // a bit for each term
	decoded []byte // room for a line
}

// A Line is a line of text that matches.
type Line struct {
	Place string   // as given to [Matches.Add]
	Text  string   // the line, or the part around the first match
	Spans [][2]int // matches as offsets in Text, in order and disjoint

	terms uint64 // a bit for each in the line
}

const (
	// MaxLines bounds a turn's lines, beyond each word's first.
	MaxLines = 100
	// maxText bounds the bytes of a line.
	maxText = 2000
	// maxSpans bounds the marked matches of a term in a line.
	maxSpans = 100
)

// Matches begins a search in a turn's texts.
func (q *Query) Matches() *Matches { return &Matches{q: q} }

// Complete reports whether every term was found.
func (m *Matches) Complete() bool { return m.found == 1<<len(m.q.terms)-1 }

// Add searches a text line by line.
func (m *Matches) Add(place, text string) {
	b := []byte(text)
	m.q.walk(b, func(t *term) *finder { return &t.text }, newlines, func(start, end int, _ []seeker) bool {
		m.line(place, bytes.TrimRight(b[start:end], "\r"))
		return true
	})
}

func (m *Matches) line(place string, line []byte) {
	first := len(line)
	var terms uint64
	for i := range m.q.terms {
		if at := m.q.terms[i].find(line, 1); len(at) > 0 {
			terms, first = terms|1<<i, min(first, at[0][0])
		}
	}
	if terms == 0 {
		return
	}
	fresh := terms&^m.found != 0
	m.found |= terms
	if len(m.Lines) >= MaxLines && !fresh {
		m.More++
		return
	}
	line = around(line, first, maxText)
	m.Lines = append(m.Lines, Line{place, string(line), m.q.spans(line), terms})
}

// Best returns up to most lines, in order: each term's first, then the first
// ones. Equal lines in a place count once.
func (m *Matches) Best(most int) []Line {
	var chosen []int
	var found uint64
	for i, l := range m.Lines {
		if l.terms&^found != 0 && len(chosen) < most {
			chosen, found = append(chosen, i), found|l.terms
		}
	}
	for i, l := range m.Lines {
		same := func(n int) bool { return m.Lines[n].Place == l.Place && m.Lines[n].Text == l.Text }
		if len(chosen) < most && !slices.ContainsFunc(chosen, same) {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen)
	best := make([]Line, len(chosen))
	for i, n := range chosen {
		best[i] = m.Lines[n]
	}
	return best
}

// around returns up to most bytes of line, a quarter of them before at.
func around(line []byte, at, most int) []byte {
	if len(line) <= most {
		return line
	}
	from := max(0, min(at-most/4, len(line)-most))
	to := from + most
	for from < to && !utf8.RuneStart(line[from]) {
		from++
	}
	for to < len(line) && to > from && !utf8.RuneStart(line[to]) {
		to--
	}
	return line[from:to]
}

func (q *Query) spans(line []byte) [][2]int {
	marked := make([]bool, len(line))
	for i := range q.terms {
		for _, at := range q.terms[i].find(line, maxSpans) {
			for k := at[0]; k < at[1]; k++ {
				marked[k] = true
			}
		}
	}
	var spans [][2]int
	for i := 0; i < len(marked); i++ {
		if !marked[i] {
			continue
		}
		start := i
		for i < len(marked) && marked[i] {
			i++
		}
		spans = append(spans, [2]int{start, i})
	}
	return spans
}

// Join adds other's matches, but for lines that m has at least as much of.
func (m *Matches) Join(other *Matches) {
	m.found |= other.found
	had := len(m.Lines)
	for _, l := range other.Lines {
		text := strings.Trim(l.Text, "…")
		known := slices.ContainsFunc(m.Lines[:had], func(h Line) bool { return h.Place == l.Place && strings.Contains(h.Text, text) })
		switch {
		case known:
		case len(m.Lines) < MaxLines:
			m.Lines = append(m.Lines, l)
		default:
			m.More++
		}
	}
	m.More += other.More
}
