package screen

import "slices"

const (
	// maxHeader is how many rows at the top of a page may stand still while the rest scrolls.
	maxHeader = 3
	// tailLines is how many of the written lines are remembered.
	tailLines = 1000
)

// frames follows the pages that a full-screen program paints, and finds out what was pushed out.
type frames struct {
	page  []string // as it was painted last
	known int      // how many rows of the page, from where it begins to change, have been written before
	tail  []string // what was written last
	begun bool     // something was written
	gap   bool     // blank lines are due before the next text
}

// begin starts with an empty page. What the last program wrote is still known.
func (f *frames) begin(rows int) {
	f.page, f.known = make([]string, rows), 0
}

// end writes the present page, which is about to go away.
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

// read returns the text of the page, nil if it is the same as before. It is also nil for an empty
// page: a cleared page is about to be painted.
func (f *frames) read(page []*row) []string {
	for len(f.page) < len(page) { // the screen was made larger
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

// leave writes lines that have left the page, except those that were written before.
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

// A shift is how one page turned into another.
type shift struct {
	by    int // rows up
	under int // rows at the top that did not move, and hide what moved there
	agree int // rows with text that then match
}

// findShift returns the shift that matches most rows without a gap from the top, or the zero shift
// if the match would only be a coincidence.
func findShift(was, now []string) shift {
	best := shift{agree: 1} // must be more
	for under := range min(maxHeader, len(was)) {
		for by := 1; under+by+best.agree < len(was); by++ { // further on there is nothing better
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

// remembered returns how many of the first lines have been written together before.
func (f *frames) remembered(lines []string) int {
	start := slices.IndexFunc(lines, isText)
	if start < 0 {
		return 0
	}
	most, agree := 0, 2 // must be more
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

// inPlace reports whether a page is still the same, with some of its text changed: at least half of
// its lines are at least half unchanged.
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

// alike reports whether half of the text of a line is still where it was.
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
