package owners

import (
	"bytes"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// A side takes labels from it on for the turn's: own, or unsure too.
type side struct {
	mine  label
	walk  *walk
	taken map[*hunk]bool
	kinds map[*file]kind
}

// A kind is what a side knows of a file.
type kind struct {
	kept  bool // others made it, or left it
	wrote bool // others wrote in it
}

func (w *walk) side(mine label) *side {
	return &side{mine, w, make(map[*hunk]bool), make(map[*file]kind)}
}

// projections returns what the files would be without the turn.
func (w *walk) projections() map[string]File {
	files := make(map[string]File)
	without, surely := w.side(unsure), w.side(own)
	for path, f := range w.files {
		p := File{without.content(f), surely.content(f)}
		start, end := f.versions[0].entry, f.entry()
		if start != end || !p.Others.is(start) || !p.Shared.is(start) {
			files[path] = p
		}
	}
	return files
}

// content returns what a file would be.
func (s *side) content(f *file) Content {
	if f.whole {
		return Content{Entry: f.versions[s.last(f)].entry}
	}
	if !s.present(f) {
		return Content{}
	}
	var lines []*line
	for _, l := range f.weave {
		if s.left(l) && !s.elsewhere(l) {
			lines = append(lines, l)
		}
	}
	c := Content{}
	c.Entry.Mode = s.mode(f)
	cut := f.versions[0].cut
	for i, v := range f.versions[1:] {
		if v.cut != f.versions[i].cut && v.by < s.mine {
			cut = v.cut
		}
	}
	for _, at := range []int{0, len(f.versions) - 1} {
		if v := f.versions[at]; v.entry.Mode != 0 && v.cut == cut && sameLines(f, lines, at) {
			c.Entry.Hash = v.entry.Hash
			return c
		}
	}
	c.Text = s.walk.texts.join(lines, cut)
	return c
}

// last returns the last version that is not of the turn.
func (s *side) last(f *file) int {
	at := len(f.versions) - 1
	for f.versions[at].by >= s.mine {
		at--
	}
	return at
}

// mode returns the last mode that is not of the turn, else the last one.
func (s *side) mode(f *file) filemode.FileMode {
	mode, last := f.versions[0].entry.Mode, f.versions[0].entry.Mode
	for _, v := range f.versions[1:] {
		if m := v.entry.Mode; m != 0 && m != last {
			if last = m; v.by < s.mine {
				mode = m
			}
		}
	}
	if mode == 0 {
		return last
	}
	return mode
}

// kind tells of a file what presence and renames depend on.
func (s *side) kind(f *file) kind {
	if k, ok := s.kinds[f]; ok {
		return k
	}
	k := kind{kept: f.versions[0].entry.Mode != 0}
	for i, v := range f.versions[1:] {
		if now := v.entry.Mode != 0; now != (f.versions[i].entry.Mode != 0) && v.by < s.mine {
			k.kept = now
		}
	}
	k.wrote = slices.ContainsFunc(f.weave, func(l *line) bool { return l.by != before && s.left(l) })
	s.kinds[f] = k
	return k
}

// present reports whether there would be a file. Where others wrote in a file
// that the turn gave a new name, it has that.
func (s *side) present(f *file) bool {
	k := s.kind(f)
	return (k.kept || k.wrote) && !s.renamed(f)
}

func (s *side) renamed(f *file) bool {
	return !f.exists() && f.to != nil && (s.kind(f.to).wrote || s.renamed(f.to))
}

// left reports whether a line is there and is not the turn's, or the turn
// removed it.
func (s *side) left(l *line) bool {
	switch {
	case l.by >= s.mine:
		return false
	case l.alive():
		return true
	case l.copy != nil && l.copy.alive() && (l.by != before || l.copy.placed < s.mine):
		return false
	default:
		return l.removed >= s.mine && !s.takenOver(l)
	}
}

// elsewhere reports whether a line would be where the turn took it from.
func (s *side) elsewhere(l *line) bool {
	return l.from != nil && l.placed >= s.mine && (l.by == before || !l.alive()) &&
		(s.present(l.source) && s.left(l.from) || s.elsewhere(l.from))
}

// takenOver reports whether others have removed all that the turn put in a
// line's place: they took the change over.
func (s *side) takenOver(l *line) bool {
	if l.instead == nil || len(*l.instead) == 0 {
		return false
	}
	taken, ok := s.taken[l.instead]
	if !ok {
		taken = !slices.ContainsFunc(*l.instead, func(put *line) bool {
			return put.alive() || put.removed >= s.mine && !s.takenOver(put)
		})
		s.taken[l.instead] = taken
	}
	return taken
}

func sameLines(f *file, lines []*line, version int) bool {
	for _, l := range f.weave {
		has := len(lines) > 0 && lines[0] == l
		if has != l.in(version) {
			return false
		}
		if has {
			lines = lines[1:]
		}
	}
	return true
}

// join returns the text of lines, which is never nil.
func (t *texts) join(lines []*line, cut bool) []byte {
	b := bytes.NewBuffer([]byte{})
	for _, l := range lines {
		b.WriteString(t.texts[l.text])
		b.WriteByte('\n')
	}
	if cut && len(lines) > 0 {
		b.Truncate(b.Len() - 1)
	}
	return b.Bytes()
}
