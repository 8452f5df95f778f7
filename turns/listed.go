package turns

import (
	"context"
	"os"
	"slices"

	"gitagent/internal/compact"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/version"
	"gitagent/internal/workspace"
)

// A listing reads all missions for a list, and keeps what it shows of them for
// the next one, each by the tip of its ledger: what a commit has does not change.
// What can't be read, or is very large, is not kept.
//
// What is kept can be lost, damaged or of another version; then all is read.
// It does not tell of objects that are gone since.
type listing struct {
	w     *workspace.Workspace
	kept  map[record.ID]keptLine
	anew  int  // how many were read that can be kept
	stale bool // something is kept of a mission that is gone
}

type keptLine struct {
	tip  object.Hash
	text string
}

// Bounds of what is kept: strangers may push missions of any size.
const (
	maxKept    = 16 << 10 // bytes of a mission
	maxKeptAll = 64 << 20
	fewRead    = 64 // missions that are read rather than kept
)

// keptAs is the first line of the file.
func keptAs() string { return "git-agent missions 2 " + version.String() }

// Listed is [Lines] for all missions that have refs.
func Listed(ctx context.Context, w *workspace.Workspace, tips map[record.ID]object.Hash) ([]MissionLine, error) {
	if len(tips) < fewRead {
		return Lines(ctx, w.Repo, tips)
	}
	l := &listing{w: w, kept: make(map[record.ID]keptLine, len(tips))}
	list := make([]MissionLine, 0, len(tips))
	l.read(tips, func(m MissionLine) { list = append(list, m) })
	unknown := make(map[record.ID]object.Hash)
	for id, tip := range tips {
		if _, ok := l.kept[id]; !ok {
			unknown[id] = tip
		}
	}
	unread, err := surveyAll(ctx, w.Repo, unknown, func(s *survey) {
		list = append(list, s.line)
		if s.last == nil {
			l.keep(s)
		}
	})
	if err != nil {
		return nil, err
	}
	if l.anew >= fewRead || l.stale {
		_ = l.write(ctx) // nothing depends on it
	}
	slices.SortFunc(list, MissionLine.byNewest)
	return list, unread.Err()
}

// read calls f with what was kept of missions that are as they were.
func (l *listing) read(tips map[record.ID]object.Hash, f func(MissionLine)) {
	file, err := l.w.Store.Dir().OpenFile(session.MissionsFile, os.O_RDONLY)
	if err != nil {
		return
	}
	defer file.Close()
	r, err := compact.Open(keptAs(), file)
	if err != nil {
		return
	}
	for range r.Count() {
		id, tip, text := record.ID(r.Text()), r.Hash(), r.Text()
		if now, there := tips[id]; now != tip || tip.IsZero() {
			l.stale = l.stale || !there
			continue
		}
		if line, ok := unpack(id, tip, text); ok {
			l.kept[id] = keptLine{tip, text}
			f(line)
		}
	}
}

func (l *listing) keep(s *survey) {
	if packed, ok := pack(s.line, s.text); ok && len(packed) <= maxKept {
		l.kept[s.id] = keptLine{s.line.Tip, packed}
		l.anew++
	}
}

// write keeps what was read. What was purged or removed meanwhile is not written
// again.
func (l *listing) write(ctx context.Context) error {
	return l.w.Store.WriteList(session.MissionsFile, func() ([]byte, error) {
		refs, err := ledger.Refs(ctx, l.w.Repo.Watched(nil))
		if err != nil {
			return nil, err
		}
		var out compact.Writer
		n := 0
		for id, tip := range ledger.OfRefs(refs) {
			k, ok := l.kept[id]
			if !ok || k.tip != tip || len(out)+len(k.text) > maxKeptAll {
				continue
			}
			n++
			out.Text(string(id))
			out.Hash(tip)
			out.Text(k.text)
		}
		var head compact.Writer
		head.Int(int64(n))
		return compact.File(keptAs(), append(head, out...)), nil
	})
}

// pack returns what is kept of a mission with that mission.json, if it can be.
func pack(line MissionLine, head string) (packed string, ok bool) {
	var w compact.Writer
	w.Text(head)
	w.Int(int64(line.Turns))
	if w.Is(line.Last != nil); line.Last == nil {
		return string(w), true
	}
	g := line.Last
	for _, s := range []string{string(g.Mission), g.Session, g.Prompt, g.Imported, g.Checked} {
		w.Text(s)
	}
	for _, n := range []int64{int64(g.Turn), g.Context, g.To} {
		w.Int(n)
	}
	ok = w.Time(g.At)
	return string(w), ok
}

func unpack(id record.ID, tip object.Hash, text string) (line MissionLine, ok bool) {
	r := compact.NewReader(text)
	m, err := record.ParseHead(id, r.Text(), tip.Format())
	line = MissionLine{Mission: m, Tip: tip, Turns: int(r.Int())}
	if r.Is() {
		g := new(Glance)
		g.Mission, g.Session, g.Prompt, g.Imported, g.Checked = record.ID(r.Text()), r.Text(), r.Text(), r.Text(), r.Text()
		g.Turn, g.Context, g.To = int(r.Int()), r.Int(), r.Int()
		g.At = r.Time()
		line.Last = g
	}
	return line, err == nil && !r.Bad() && !r.More()
}
