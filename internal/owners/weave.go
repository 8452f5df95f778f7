package owners

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"gitagent/internal/git/object"
)

// A file is what a path was in the turn.
type file struct {
	path     string
	versions []version // the first is the start
	weave    []*line   // every line it ever had, in order
	whole    bool      // lines don't count: it is binary, a link, or too large
	made     bool      // it is new, and was not a file by another name
	to       *file     // the new name of a file that has gone
	had      []int     // its lines as it went
}

// A version is what a file was from a state on.
type version struct {
	entry object.Entry
	cut   bool  // no newline at the end
	by    label // who made it so
	state int   // -1 at the start
}

// A line is a line of a weave.
type line struct {
	text    int
	by      label   // who wrote it
	removed label   // who removed it, if it is gone
	from    *line   // that was removed elsewhere, and came back here
	source  *file   // the file of from
	placed  label   // who brought it here from there
	copy    *line   // the last line that came from this one
	instead *hunk   // what was put there by the change that removed it
	lives   []int32 // versions: from, up to, from, ...
}

// A hunk is the lines that a change put in a place.
type hunk []*line

func (l *line) in(version int) bool {
	n := 0
	for n < len(l.lives) && int(l.lives[n]) <= version {
		n++
	}
	return n%2 == 1
}

func (l *line) alive() bool { return len(l.lives)%2 == 1 }

func (f *file) entry() object.Entry { return f.versions[len(f.versions)-1].entry }
func (f *file) exists() bool        { return f.entry().Mode != 0 }

// begin sets the lines that the file had at the start.
func (f *file) begin(ids []int) {
	lines, lives := make([]line, len(ids)), make([]int32, len(ids))
	for i, id := range ids {
		lines[i] = line{text: id, lives: lives[i : i+1 : i+1]}
		f.weave = append(f.weave, &lines[i])
	}
}

// maxWeave is how many lines a file may have had. One with more is a whole.
const maxWeave = 1_000_000

// change makes f what it is in a state. A new file may be one of those gone.
func (w *walk) change(f *file, e object.Entry, by label, state int, gone []*file) {
	existed := f.exists()
	f.versions = append(f.versions, version{e, false, by, state})
	v := &f.versions[len(f.versions)-1]
	defer func() {
		if !e.Hash.IsZero() {
			w.had[e.Hash] = append(w.had[e.Hash], f)
		}
	}()
	if e.Mode != 0 {
		f.to = nil
	}
	if f.whole {
		return
	}
	if old := f.version(e); old >= 0 && isFile(e.Mode) {
		v.cut = f.versions[old].cut
		f.restore(old, by)
		return
	}
	text, ok := w.read(e)
	if !ok {
		f.whole, f.weave = true, nil
		return
	}
	v.cut = cut(text)
	ids := w.texts.split(text)
	var known []*line
	source, at := w.source(f, e, ids, existed, gone)
	if source != nil {
		if known = w.linesOf(source, at, ids); !existed {
			source.to = f
		}
	} else if !existed && len(f.versions) == 2 {
		f.made = true
	}
	w.edit(f, ids, known, source, by)
	if len(f.weave) > maxWeave {
		f.whole, f.weave = true, nil
	}
}

// version returns the last version but the newest that had the content, or -1.
func (f *file) version(e object.Entry) int {
	for i, v := range slices.Backward(f.versions[:len(f.versions)-1]) {
		if v.entry.Hash == e.Hash && (v.entry.Mode == 0) == (e.Mode == 0) {
			return i
		}
	}
	return -1
}

// restore brings the lines of an old version back.
func (f *file) restore(old int, by label) {
	for _, l := range f.weave {
		switch then := l.in(old); {
		case then && !l.alive():
			f.revive(l)
		case !then && l.alive():
			f.remove(l, by)
		}
	}
}

// now numbers the newest version.
func (f *file) now() int32 { return int32(len(f.versions) - 1) }

func (f *file) revive(l *line) {
	l.lives, l.instead = append(l.lives, f.now()), nil
}

func (f *file) remove(l *line, by label) {
	l.lives, l.removed, l.instead = append(l.lives, f.now()), by, nil
}

func (f *file) removedNow(l *line) bool { return !l.alive() && l.lives[len(l.lives)-1] == f.now() }

// source returns the file, and its version, that a file is the new name of.
func (w *walk) source(f *file, e object.Entry, ids []int, existed bool, gone []*file) (source *file, at int) {
	for _, g := range slices.Backward(w.had[e.Hash]) {
		if g != f && !g.exists() && !g.whole {
			return g, g.version(e)
		}
	}
	if existed || len(f.weave) > 0 || len(ids) == 0 {
		return nil, 0
	}
	best := len(ids) / 2 // half of its lines, at least
	more := w.byText(0)  // how many more are in f
	for _, id := range ids {
		more[id]++
	}
	for _, g := range gone {
		if w.work += len(g.had); g.whole || g.to != nil || w.work > maxWork {
			continue
		}
		same := 0
		for _, id := range g.had {
			if more[id]--; more[id] >= 0 {
				same++
			}
		}
		for _, id := range g.had {
			more[id]++
		}
		if same > best {
			source, at, best = g, len(g.versions)-2, same
		}
	}
	for _, id := range ids {
		more[id] = 0
	}
	return source, at
}

// linesOf returns for each line of a text the one that it was in a version of
// another file, or nil.
func (w *walk) linesOf(source *file, at int, ids []int) []*line {
	old := source.linesIn(at)
	known := make([]*line, len(ids))
	for i, j := range w.align(textsOf(old), ids) {
		if j >= 0 {
			known[i] = old[j]
		}
	}
	return known
}

// linesIn returns the lines of a version.
func (f *file) linesIn(version int) (lines []*line) {
	for _, l := range f.weave {
		if l.in(version) {
			lines = append(lines, l)
		}
	}
	return lines
}

// edit makes ids the lines of f. Known has those that are of another file.
func (w *walk) edit(f *file, ids []int, known []*line, source *file, by label) {
	var alive []*line
	for _, l := range f.weave {
		if l.alive() {
			alive = append(alive, l)
		}
	}
	from := w.align(textsOf(alive), ids)
	stays := make([]bool, len(alive))
	for _, i := range from {
		if i >= 0 {
			stays[i] = true
		}
	}
	for i, l := range alive {
		if !stays[i] {
			f.remove(l, by)
		}
	}
	h := hunks{walk: w, file: f, source: source, by: by, dead: make(map[int][]*line)}
	for _, l := range f.weave {
		if !l.alive() && w.texts.counts[l.text] {
			h.dead[l.text] = append(h.dead[l.text], l)
		}
	}
	rest := f.weave
	for i := 0; i <= len(ids); {
		end := i
		for end < len(ids) && from[end] < 0 {
			end++
		}
		n := len(rest) // up to the next line that stays
		if end < len(ids) {
			n = slices.Index(rest, alive[from[end]])
		}
		h.edit(rest[:n], ids[i:end], known[min(i, len(known)):])
		if rest = rest[n:]; end < len(ids) {
			h.weave, rest = append(h.weave, rest[0]), rest[1:]
		}
		i = end + 1
	}
	f.weave = h.weave
}

// hunks are the parts of a file that a change edits.
type hunks struct {
	walk   *walk
	file   *file
	source *file // of the lines that are known from there
	by     label
	dead   map[int][]*line // by text, lines that are gone
	weave  []*line         // so far
}

// edit adds a part of the old weave, none of whose lines is there any more, with
// new lines in it.
func (h *hunks) edit(part []*line, ids []int, known []*line) {
	var gone, removed []*line
	end := 0 // of those removed now
	for i, l := range part {
		if h.file.removedNow(l) {
			removed, end = append(removed, l), i+1
		} else {
			gone = append(gone, l)
		}
	}
	back := h.walk.comeBack(gone, ids)
	next := make([]*line, len(ids)+1) // that comes back
	for i, l := range slices.Backward(back) {
		if next[i] = l; l == nil {
			next[i] = next[i+1]
		}
	}
	put := func(n int) { h.weave, part, end = append(h.weave, part[:n]...), part[n:], end-n }
	added := new(hunk)
	for i, id := range ids {
		switch {
		case next[i] != nil:
			put(slices.Index(part, next[i]))
		case end > 0:
			put(end)
		}
		if back[i] != nil {
			h.file.revive(back[i])
			put(1)
			continue
		}
		l := &line{text: id, by: h.by, lives: []int32{h.file.now()}}
		if i < len(known) && known[i] != nil {
			l.source, l.from = h.source, known[i]
		} else if was := h.take(id); was != nil {
			l.source, l.from = h.file, was
		}
		if l.from != nil {
			l.by, l.placed, l.from.copy = l.from.by, h.by, l
		}
		*added, h.weave = append(*added, l), append(h.weave, l)
	}
	for _, l := range removed {
		l.instead = added
	}
	put(len(part))
}

// take takes the last line of a text that is gone, and not there as a copy.
func (h *hunks) take(text int) *line {
	for list := h.dead[text]; len(list) > 0; {
		l := list[len(list)-1]
		list = list[:len(list)-1]
		h.dead[text] = list
		if !l.alive() && (l.copy == nil || !l.copy.alive()) {
			return l
		}
	}
	return nil
}

// comeBack returns for each new line the one of those gone from there that it
// is. One without a letter or digit comes back beside another alone.
func (w *walk) comeBack(gone []*line, ids []int) []*line {
	back := make([]*line, len(ids))
	if len(gone) == 0 {
		return back
	}
	from := w.align(textsOf(gone), ids)
	keep := func(i, beside int) {
		if from[i] < 0 || back[i] != nil {
			return
		}
		if w.texts.counts[ids[i]] || beside >= 0 && beside < len(ids) && back[beside] != nil && from[beside]-from[i] == beside-i {
			back[i] = gone[from[i]]
		}
	}
	for i := range ids {
		keep(i, i-1)
	}
	for i := range slices.Backward(ids) {
		keep(i, i+1)
	}
	return back
}

func textsOf(lines []*line) []int {
	ids := make([]int, len(lines))
	for i, l := range lines {
		ids[i] = l.text
	}
	return ids
}

// texts numbers the different lines, without their newline.
type texts struct {
	ids    map[string]int
	texts  []string
	counts []bool // it has a letter or digit
}

func (t *texts) split(text []byte) []int {
	if t.ids == nil {
		t.ids = make(map[string]int)
	}
	ids := make([]int, 0, bytes.Count(text, []byte("\n"))+1)
	for l := range bytes.Lines(text) {
		l = bytes.TrimSuffix(l, []byte("\n"))
		id, ok := t.ids[string(l)]
		if !ok {
			id = len(t.texts)
			s := string(l)
			t.ids[s] = id
			t.texts = append(t.texts, s)
			t.counts = append(t.counts, strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }))
		}
		ids = append(ids, id)
	}
	return ids
}

// cut reports whether a text has no newline at its end.
func cut(text []byte) bool { return len(text) > 0 && text[len(text)-1] != '\n' }

// isBinary reports whether git takes the content for binary.
func isBinary(content []byte) bool { return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 }
