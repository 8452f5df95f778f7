package vt

import "slices"

const (
	// maxHeader is how many rows at the top may stand still while the rest
	// scrolls.
	maxHeader = 3
	// tailLines is how many of the last written lines are remembered.
	tailLines = 1000
)

// frames finds out what full-screen programs push out of the pages they paint.
type frames struct {
	page  []string // as last painted
	known int      // rows written before, from the first that changes
	tail  []string // last lines written
	begun bool     // something was written
	gap   bool     // blank lines are due before the next text
}

// begin starts with an empty page, but knows what the last program wrote.
func (f *frames) begin(rows int) {
	f.page, f.known = make([]string, rows), 0
}

// end writes the present page.
func (f *frames) end(s *screen) {
	f.painted(s)
	f.leave(&s.out, f.page)
	f.page = nil
}

// painted compares the newly painted page with the last one.
func (f *frames) painted(s *screen) {
	now := f.read(s.page)
	if now == nil {
		return
	}
	was := f.page
	f.page = now
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
			f.leave(&s.out, was[first:first+up.by+up.under])
			return
		case down.by > 0:
			f.known += down.by
			return
		}
	}
	if inPlace(was, now) {
		return
	}
	if slices.ContainsFunc(was, isText) {
		f.leave(&s.out, was[first:last+1])
	}
	f.known = f.remembered(now[first:])
}

// read returns the page's text, or nil if it is unchanged or empty. A cleared
// page is about to be painted.
func (f *frames) read(page []*row) []string {
	for len(f.page) < len(page) { // the screen grew
		f.page = append(f.page, "")
	}
	f.page = f.page[:len(page)]
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
	region := f.page[s.top : s.bottom+1]
	f.leave(&s.out, region[:n])
	copy(region, region[n:])
	clear(region[len(region)-n:])
}

// leave writes lines that left the page, if they are new.
func (f *frames) leave(out *printer, lines []string) {
	n := min(f.known, len(lines))
	f.known -= n
	for _, line := range lines[n:] {
		f.tail = append(f.tail, line)
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
	if len(f.tail) > 2*tailLines {
		f.tail = slices.Delete(f.tail, 0, len(f.tail)-tailLines)
	}
}

// A shift says how a page became the next one.
type shift struct {
	by    int // rows up
	under int // rows at the top that stood still and hide what moved there
	agree int // rows with text that match
}

// findShift returns the shift that matches most rows from the top without a
// gap, or zero if only by coincidence.
func findShift(was, now []string) shift {
	best := shift{agree: 1} // to be exceeded
	for under := range min(maxHeader, len(was)) {
		for by := 1; under+by+best.agree < len(was); by++ { // nothing better after that
			agree := 0
			for i := under; i+by < len(was) && now[i] == was[i+by]; i++ {
				if isText(now[i]) {
					agree++
				}
			}
			if agree > best.agree {
				best = shift{by, under, agree}
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
