package vt

import "slices"

const (
	// maxHeader is how many rows at the top may stand still while the rest
	// scrolls.
	maxHeader = 3
	// tailLines is how many of the last written lines are remembered.
	tailLines = 1000
	// maxCompared is how many rows are compared to find one shift. Pages of 50
	// rows never need more; one of 300 with few texts would take a millisecond.
	maxCompared = 5000
)

// frames finds out what full-screen programs push out of the pages they paint.
type frames struct {
	page  []string           // as last painted
	seen  []bool             // rows of the page that were written
	above int                // rows that left at the top, and come back there
	below int                // the same at the bottom
	tail  []string           // last lines written
	runs  map[[3]string]bool // which were written one after another
	begun bool               // something was written
	gap   bool               // blank lines are due before the next text
}

// begin starts with an empty page, but knows what the last program wrote.
func (f *frames) begin(rows int) {
	f.page, f.seen = make([]string, rows), make([]bool, rows)
	f.above, f.below = 0, 0
}

// end writes the present page.
func (f *frames) end(s *screen) {
	f.painted(s)
	f.leave(&s.out, f.page, f.seen)
	f.page, f.seen = nil, nil
}

// painted compares the newly painted page with the last one.
func (f *frames) painted(s *screen) {
	now := f.read(s.page)
	if now == nil {
		return
	}
	was, seen := f.page, f.seen
	f.page, f.seen = now, make([]bool, len(now))
	for _, r := range s.page {
		r.clean = true
	}
	first, last := 0, len(was)-1
	for first < last && now[first] == was[first] {
		first++
	}
	for last > first && now[last] == was[last] {
		last--
	}
	if first <= maxHeader {
		up, down := findShift(was[first:], now[first:]), findShift(now[first:], was[first:])
		switch {
		case up.by > 0 && up.agree >= down.agree:
			f.up(&s.out, was, seen, first, up)
			return
		case down.by > 0:
			f.down(&s.out, was, seen, first, down)
			return
		}
	}
	if inPlace(was, now) {
		f.keep(was, seen, 0, len(now))
		return
	}
	if slices.ContainsFunc(was, isText) {
		f.leave(&s.out, was[first:last+1], seen[first:last+1])
	}
	f.above, f.below = 0, 0
	f.keep(was, seen, 0, first)
	f.keep(was, seen, last+1, len(now))
	for i := range f.remembered(now[first:]) {
		f.seen[first+i] = true
	}
}

// up notes that the rows from first on have moved up.
func (f *frames) up(out *printer, was []string, seen []bool, first int, by shift) {
	to := first + by.under
	f.leave(out, was[first:to+by.by], seen[first:to+by.by])
	f.above += by.under + by.by
	f.keep(was, seen, 0, to)
	copy(f.seen[to:to+by.rows], seen[to+by.by:])
	to += by.rows
	end := min(to+by.by, len(f.page))
	for i := to; i < end; i++ {
		f.seen[i] = f.below > 0 || f.again(i)
		f.below = max(0, f.below-1)
	}
	f.keep(was, seen, end, len(f.page))
}

// down notes that the rows from first on have moved down. What leaves at the
// bottom is written with all above it, in order.
func (f *frames) down(out *printer, was []string, seen []bool, first int, by shift) {
	top := first + by.under
	end := top + by.rows + by.by
	for i := end - by.by; i < end; i++ {
		if isText(was[i]) && !seen[i] {
			f.leave(out, was[first:end], seen[first:end])
			for i := range seen[first:end] {
				seen[first+i] = true
			}
		}
		if isText(was[i]) || f.below > 0 {
			f.below++
		}
	}
	f.keep(was, seen, 0, top)
	copy(f.seen[top+by.by:end], seen[top:])
	f.keep(was, seen, end, len(f.page))
	back := by.by <= f.above || by.by <= f.remembered(f.page[top:])
	f.above = max(0, f.above-by.by)
	for i := range by.by {
		f.seen[top+i] = back
	}
}

// keep says of the rows that have not moved which were written.
func (f *frames) keep(was []string, seen []bool, from, to int) {
	for i := from; i < to; i++ {
		f.seen[i] = seen[i] && was[i] == f.page[i] || f.again(i)
	}
}

// again reports whether the row was written before, after those above it.
func (f *frames) again(i int) bool {
	if i < 2 || !f.seen[i-1] {
		return false
	}
	return !isText(f.page[i]) || f.runs[[3]string(f.page[i-2:i+1])]
}

// remember notes that a line was written.
func (f *frames) remember(line string) {
	from := len(f.tail) - 2
	f.tail = append(f.tail, line)
	if len(f.tail) > 2*tailLines {
		f.tail, from = slices.Delete(f.tail, 0, len(f.tail)-tailLines), 0
		clear(f.runs)
	}
	if f.runs == nil {
		f.runs = make(map[[3]string]bool)
	}
	for i := max(0, from); i+3 <= len(f.tail); i++ {
		f.runs[[3]string(f.tail[i:i+3])] = true
	}
}

// read returns the page's text, or nil if it is unchanged or empty. A cleared
// page is about to be painted.
func (f *frames) read(page []*row) []string {
	for len(f.page) < len(page) { // the screen grew
		f.page, f.seen = append(f.page, ""), append(f.seen, false)
	}
	f.page, f.seen = f.page[:len(page)], f.seen[:len(page)]
	var now []string
	var buf []byte
	for i, r := range page {
		if r.clean {
			continue
		}
		if buf = r.text(buf[:0], false); string(buf) != f.page[i] {
			if now == nil {
				now = slices.Clone(f.page)
			}
			now[i] = string(buf)
		}
	}
	if !slices.ContainsFunc(now, isText) {
		return nil
	}
	return now
}

// scrolled notes that n rows are about to scroll off.
func (f *frames) scrolled(s *screen, n int) {
	f.painted(s)
	region, seen := f.page[s.top:s.bottom+1], f.seen[s.top:s.bottom+1]
	f.leave(&s.out, region[:n], seen[:n])
	f.above, f.below = f.above+n, max(0, f.below-n)
	copy(region, region[n:])
	clear(region[len(region)-n:])
	copy(seen, seen[n:])
	for i := len(seen) - n; i < len(seen); i++ { // blank, below what was written
		seen[i] = i > 0 && seen[i-1]
	}
}

// leave writes lines that left the page, if they are new.
func (f *frames) leave(out *printer, lines []string, seen []bool) {
	for i, line := range lines {
		if seen[i] {
			continue
		}
		f.remember(line)
		if !isText(line) {
			f.gap = f.begun
			continue
		}
		if f.gap {
			out.line("")
		}
		out.line(line)
		f.begun, f.gap = true, false
	}
}

// A shift says how a page became the next one.
type shift struct {
	by    int // rows up
	under int // rows at the top that stood still and hide what moved there
	rows  int // rows that moved
	agree int // those with text
}

// findShift returns the shift that matches most rows from the top without a
// gap, or zero if only by coincidence. It is the best of what maxCompared rows show.
func findShift(was, now []string) shift {
	best, compared := shift{agree: 1}, 0 // to be exceeded
	for under := range min(maxHeader, len(was)) {
		for by := 1; under+by+best.agree < len(was); by++ { // nothing better after that
			i, agree := under, 0
			for ; i+by < len(was) && now[i] == was[i+by]; i++ {
				if isText(now[i]) {
					agree++
				}
				compared++
			}
			if agree > best.agree {
				best = shift{by, under, i - under, agree}
			}
			if compared > maxCompared {
				return best
			}
		}
	}
	return best
}

// remembered returns how many of the first lines were written together before.
func (f *frames) remembered(lines []string) int {
	start := slices.IndexFunc(lines, isText)
	if start < 0 {
		return 0
	}
	most, agree := 0, 2 // to be exceeded
	for at := range f.tail {
		n, text := 0, 0
		for at+n < len(f.tail) && start+n < len(lines) && f.tail[at+n] == lines[start+n] {
			if isText(lines[start+n]) {
				text++
			}
			n++
		}
		if text > agree {
			most, agree = start+n, text
		}
	}
	return most
}

func isText(line string) bool { return line != "" }

// inPlace reports whether the page was only edited: at least half of its lines
// are half unchanged.
func inPlace(was, now []string) bool {
	kept, all := 0, 0
	for i, old := range was {
		if isText(old) {
			all++
			if alike(old, now[i]) {
				kept++
			}
		}
	}
	return all > 0 && 2*kept >= all
}

// alike reports whether half of a line's text is where it was.
func alike(was, now string) bool {
	if was == now {
		return true
	}
	same, all := 0, 0
	for i := range len(was) {
		if was[i] != ' ' {
			all++
			if i < len(now) && now[i] == was[i] {
				same++
			}
		}
	}
	return 2*same >= all
}
