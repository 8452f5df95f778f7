package recall

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// Hints say for each file in which turns to look, and for each mission up to
// where the user could rely on it. They hold no text of the record: what is told
// is read from it, so they may lack something, and cannot be wrong. Each line is
//
//	<path> TAB <kind>|<turn>|<fate>|<turn that took it back> TAB ...
//
// behind a first line, "git-agent recall 1 <digest>", and lines of missions,
// TAB <mission> TAB <commit>.
type Hints []byte

const hintsBegin = "git-agent recall 1 "

// hinted is how many turns of each kind a file has hints of. One may be of the
// session that asks.
const hinted = 3

// Note writes the hints of a repository, unless they are of the missions as they
// are. One process at a time may.
func Note(ctx context.Context, w *workspace.Workspace) error {
	p := newPast(ctx, w)
	defer p.Close()
	chosen, err := p.open()
	if err != nil {
		return err
	}
	var missions bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(p.ledgers)) {
		fmt.Fprintf(&missions, "\t%s\t%s\n", id, p.ledgers[id].Tip)
	}
	begin := fmt.Sprintf("%s%x\n", hintsBegin, sha256.Sum256(missions.Bytes()))
	if before, err := w.Store.ReadRecall(); err == nil && bytes.HasPrefix(before, []byte(begin)) {
		return nil
	}
	if err := p.read(nil, chosen); err != nil {
		return err
	}
	out := append([]byte(begin), missions.Bytes()...)
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		if !strings.ContainsAny(path, "\t\n") {
			out = append(out, hintOf(path, p.files[path])...)
		}
	}
	return w.Store.WriteRecall(out)
}

// hintOf returns the line of a file, or "" if there is nothing to tell.
func hintOf(path string, steps []step) string {
	up, kept := judge(steps)
	var b strings.Builder
	for _, g := range slices.Backward(up[max(0, len(up)-hinted):]) {
		in := ""
		if g.in.Turn > 0 {
			in = g.in.String()
		}
		fmt.Fprintf(&b, "\t%s|%s|%s|%s", Tried, g.of, g.fate, in)
	}
	for _, s := range slices.Backward(kept[max(0, len(kept)-hinted):]) {
		fmt.Fprintf(&b, "\t%s|%s||", Why, s.of)
	}
	if b.Len() == 0 {
		return ""
	}
	return path + b.String() + "\n"
}

// A hint is a turn that has something on a file.
type hint struct {
	kind   Kind
	of, in record.TurnID
	fate   Fate
}

// Has reports whether there are hints for a file.
func (h Hints) Has(path string) bool { return len(h.line(path)) > 0 }

// line returns the fields behind a path.
func (h Hints) line(path string) []byte {
	if path == "" || strings.ContainsAny(path, "\t\n") {
		return nil
	}
	return h.behind(path)
}

// behind returns the rest of the line that begins so.
func (h Hints) behind(begin string) []byte {
	_, rest, _ := bytes.Cut(h, []byte("\n"+begin+"\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return line
}

// of returns the hints for a file, the newest of each kind first.
func (h Hints) of(path string) (list []hint) {
	for field := range strings.SplitSeq(string(h.line(path)), "\t") {
		f := strings.Split(field, "|")
		if len(f) != 4 {
			continue
		}
		of, in, fate := turnOf(f[1]), turnOf(f[3]), Fate(f[2])
		if of.Turn > 0 && slices.Contains(fates, fate) { // it is told as it stands
			list = append(list, hint{Kind(f[0]), of, in, fate})
		}
	}
	return list
}

// mission returns the commit up to which the user could rely on a mission.
func (h Hints) mission(id record.ID) object.Hash {
	return object.NewHash(string(h.behind("\t" + string(id))))
}

// turnOf reads a turn's name; it is zero for any other text.
func turnOf(text string) record.TurnID {
	mission, number, _ := strings.Cut(text, "/")
	id, err := record.ParseID(mission)
	n, ok := record.ParseNumber(number)
	if err != nil || !ok {
		return record.TurnID{}
	}
	return record.TurnID{Mission: id, Turn: n}
}
