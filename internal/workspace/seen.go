package workspace

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"gitagent/internal/compact"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/trust"
)

// A seen is what was found out about each mission, where there are many, for the
// next process that looks at all. Each thing stands beside what it was found out
// from, and counts for nothing once that is another: what this clone notes of a
// mission, by the size and times of the file, and the tip of its ledger, whose
// commits do not change. The file can be lost, damaged or of another version;
// then all is looked at. It says nothing about objects that are gone since.
type seen struct {
	mu   sync.Mutex
	read bool
	of   map[record.ID]*seenMission
	keys string    // by which writers were found
	anew int       // how many were looked at
	at   time.Time // before the stamps of now were taken
}

type seenMission struct {
	now   trust.Stamp // of the file with what this clone notes of the mission
	stamp trust.Stamp // as what follows was found out
	left  object.Hash // where this clone left it, by the file with that stamp; zero also if it was not read
	known bool        // it was
	tip   object.Hash
	date  int64  // of that commit, in seconds; -1 if nobody asked
	by    string // who wrote up to there: trust.Clone or trust.Unknown, by that file and the keys; or ""
	asked bool   // by this process: it is there
}

// many is how many missions are looked at before anything is noted of them.
const many = 64

const seenLine = "git-agent seen 1"

// load reads the file, once. The caller holds the mutex.
func (s *seen) load(w *Workspace, n int) {
	if s.read {
		return
	}
	s.read, s.of = true, make(map[record.ID]*seenMission, n)
	f, err := w.Store.Dir().OpenFile(session.SeenFile, os.O_RDONLY)
	if err != nil {
		return
	}
	defer f.Close()
	r, err := compact.Open(seenLine, f)
	if err != nil {
		return
	}
	s.keys = r.Text()
	all := make([]seenMission, r.Count())
	for i := range all {
		m, id := &all[i], record.ID(r.Text())
		m.stamp = trust.Stamp{Size: r.Int(), Modified: r.Int(), Changed: r.Int()}
		m.known = r.Is()
		m.left, m.tip, m.date = r.Hash(), r.Hash(), r.Int()
		switch r.Int() {
		case 1:
			m.by = trust.Clone
		case 2:
			m.by = trust.Unknown
		}
		s.of[id] = m
	}
	if r.Bad() || r.More() {
		clear(s.of)
	}
}

// mission returns what is known of a mission, of the stamp that it has now. The
// caller holds the mutex.
func (s *seen) mission(id record.ID) *seenMission {
	m := s.of[id]
	if m == nil {
		m = &seenMission{date: -1}
		s.of[id] = m
	}
	m.asked = true
	return m
}

// note forgets what was found out from another record of a mission. It reports
// whether anything may be noted of the one that is there.
func (s *seen) note(m *seenMission) bool {
	if s.at.IsZero() || !m.now.Settled(s.at) {
		return false
	}
	if m.stamp != m.now {
		*m = seenMission{now: m.now, stamp: m.now, tip: m.tip, date: m.date, asked: true}
	}
	s.anew++
	return true
}

// look calls f with each mission of which this clone has noted anything, in
// order of ids, as an archive's index is read fastest, and what tells where it
// was left. refs is how many refs were read now.
func (s *seen) look(w *Workspace, now time.Time, refs int, f func(id record.ID, left func() (object.Hash, error))) {
	type known struct {
		id    record.ID
		stamp trust.Stamp
		left  object.Hash
		read  bool
	}
	all := make([]known, 0, refs)
	s.mu.Lock()
	w.Trust.Stamps(func(id record.ID, stamp trust.Stamp) { all = append(all, known{id: id, stamp: stamp}) })
	slices.SortFunc(all, func(a, b known) int { return cmp.Compare(a.id, b.id) })
	if max(len(all), refs) >= many {
		s.load(w, max(len(all), refs))
		s.at = now
		for _, m := range s.of {
			m.now = trust.Stamp{}
		}
		for i := range all {
			k := &all[i]
			m := s.mission(k.id)
			if m.now = k.stamp; m.known && m.stamp == m.now {
				k.left, k.read = m.left, true
			}
		}
	}
	s.mu.Unlock()
	for _, k := range all {
		f(k.id, func() (object.Hash, error) {
			if k.read {
				return k.left, nil
			}
			left, err := w.Trust.Left(k.id)
			if s.mu.Lock(); s.read && err == nil {
				if m := s.mission(k.id); s.note(m) {
					m.left, m.known = left.At, true
				}
			}
			s.mu.Unlock()
			return left.At, err
		})
	}
}

// Writer returns who wrote a mission whose ledger ends at tip, as
// [Workspace.TrustLevel] does. It is for lists of all missions.
func (w *Workspace) Writer(ctx context.Context, objects *git.Objects, id record.ID, tip object.Hash) (string, error) {
	s := w.seen
	s.mu.Lock()
	if s.read && s.keys != w.Trust.Keys().Digest() {
		s.keys = w.Trust.Keys().Digest()
		for _, m := range s.of {
			m.by = ""
		}
	}
	by := ""
	if s.read {
		if m := s.mission(id); !s.at.IsZero() && m.stamp == m.now && m.tip == tip {
			by = m.by
		}
	}
	s.mu.Unlock()
	if by == trust.Clone || by == trust.Unknown && w.witnesses()[id] == nil {
		return by, nil
	}
	level, err := w.TrustLevel(ctx, objects, id, tip)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read && err == nil && level.Sure && (level.By == trust.Clone || level.By == trust.Unknown) {
		if m := s.mission(id); s.note(m) {
			m.under(tip)
			m.by = level.By
		}
	}
	return level.By, err
}

// under forgets what was found out about another tip.
func (m *seenMission) under(tip object.Hash) {
	if m.tip != tip {
		m.tip, m.date, m.by = tip, -1, ""
	}
}

// NoteSeen notes what was found out about missions for the next process, if that
// is much, and forgets it. Nothing depends on it.
func (w *Workspace) NoteSeen() {
	s := w.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.anew >= many {
		_ = w.Store.WriteList(session.SeenFile, func() ([]byte, error) { return s.file(), nil })
	}
	s.read, s.of, s.anew, s.at = false, nil, 0, time.Time{}
}

func (s *seen) file() []byte {
	var ids []record.ID
	for _, id := range slices.Sorted(maps.Keys(s.of)) {
		if s.of[id].asked {
			ids = append(ids, id)
		}
	}
	var out compact.Writer
	out.Text(s.keys)
	out.Int(int64(len(ids)))
	for _, id := range ids {
		m := s.of[id]
		out.Text(string(id))
		for _, n := range []int64{m.stamp.Size, m.stamp.Modified, m.stamp.Changed} {
			out.Int(n)
		}
		out.Is(m.known)
		out.Hash(m.left)
		out.Hash(m.tip)
		out.Int(m.date)
		out.Int(map[string]int64{trust.Clone: 1, trust.Unknown: 2}[m.by])
	}
	return compact.File(seenLine, out)
}
