package recorder

import (
	"context"
	"errors"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// The file of a session that is recorded for the first time may begin with turns
// that nobody told of. Either the client has forked another session, and they
// are that one's turns; or the session ran before recording was switched on, and
// they are turns of its own, of which no more is known than of imported ones.

// maxSources is how many of the latest sessions may be a fork's source.
const maxSources = 32

// inherit finds what a fresh session goes on from. If that is a turn of another
// mission, its own becomes a fork of that one, unless it has turns already.
func (r *recording) inherit(ctx context.Context) error {
	last, err := r.tx.Ledger.LastTurn()
	if err != nil || !r.fresh() {
		return err
	}
	looksFor := r.likeness()
	if shared, jumps := r.goesOnFrom(0); jumps {
		looksFor = func(_ *ledger.Ledger, t *turns.Turn) (repeats, bool) {
			return repeats{}, leadsTo(t, shared, r.agent().Name)
		}
	}
	if looksFor == nil {
		return nil
	}
	source, has, err := r.source(ctx, looksFor)
	if source == nil || err != nil {
		if r.elsewhereBegun(r.earlier()) {
			r.inherited.turns = -1
		}
		return err
	}
	r.inherited, r.segment.after = has, source.Turn
	switch {
	case source.Ledger == r.id:
		return nil
	case last > 0: // it can't be another mission's fork any more
		r.inherited, r.segment.after = repeats{turns: -1}, 0
		return nil
	}
	if err = r.fork(ctx, source); err != nil {
		err = errors.Join(err, r.Trust.Forget(r.id))
	}
	return err
}

// elsewhereBegun reports whether one of some turns began in another repository:
// the session has moved, and the turn is none of this one's.
func (r *recording) elsewhereBegun(list []transcript.FileTurn) bool {
	looked := map[string]bool{"": true}
	return slices.ContainsFunc(list, func(t transcript.FileTurn) bool {
		if looked[t.Cwd] {
			return false
		}
		looked[t.Cwd] = true
		repo, err := git.Find(t.Cwd)
		return err == nil && !git.SameFile(repo.CommonDir, r.Repo.CommonDir)
	})
}

// fresh reports whether the segment is the beginning of a session that no
// mission has a turn of.
func (f *inputs) fresh() bool {
	return f.Session != "" && f.state.Last == nil && f.segment.from == 0 && !f.segment.none
}

// earlier returns the turns of a fresh session before the one that is recorded.
func (f *inputs) earlier() []transcript.FileTurn {
	begun := f.begun()
	if named := f.named(begun); named >= 0 {
		return begun[:named]
	}
	if f.Event == Prompted {
		return begun
	}
	first, _ := f.which(begun)
	return begun[:max(0, first)]
}

// repeats is what a session's file has of another one: turns at its beginning,
// and where they end. What follows is the session's own, also before its first
// turn: commands that a person has given, for example.
type repeats struct{ turns, end int }

// A search reports whether a recorded turn is looked for, and what the file
// repeats up to it, if it is in the file.
type search func(l *ledger.Ledger, t *turns.Turn) (has repeats, is bool)

// likeness looks for a turn that is among the earlier ones of the file. It is
// nil if there are none.
func (r *recording) likeness() search {
	earlier := r.earlier()
	if len(earlier) == 0 {
		return nil
	}
	byPrompt := make(map[string][]int)
	for i, e := range earlier {
		prompt := recordedPrompt(r.rules, e.Prompt)
		byPrompt[prompt] = append(byPrompt[prompt], i)
	}
	return func(l *ledger.Ledger, t *turns.Turn) (repeats, bool) {
		places := byPrompt[t.Prompt]
		if len(places) == 0 || t.Agent != r.agent().Name || t.Transcript == nil || t.Transcript.Missing != "" {
			return repeats{}, false
		}
		stored, err := l.ReadUpTo(t.Transcript.Path, transcript.MaxSegment)
		if err != nil {
			return repeats{}, false
		}
		recorded := transcript.Turns(r.agent().Reader(), stored)
		if len(recorded) == 0 {
			return repeats{}, false
		}
		last := recorded[len(recorded)-1]
		for _, i := range slices.Backward(places) {
			if e := earlier[i]; same(last, e) {
				end := transcript.Common(r.agent().Reader, r.segment.Bytes[e.Start:e.End], stored[last.Start:last.End])
				return repeats{i + 1, e.Start + end}, true
			}
		}
		return repeats{}, false
	}
}

// same reports whether two conversations have a turn in common: one whose first
// record has the same id or, where a client makes new ones, the same time.
func same(a, b transcript.FileTurn) bool {
	return a.UUID != "" && a.UUID == b.UUID || !a.At.IsZero() && a.At.Equal(b.At)
}

// source returns the newest trusted turn that is looked for, and what the search
// says of it; nil if there is none. A mission's own turns come first.
func (r *recording) source(ctx context.Context, looksFor search) (*turns.Turn, repeats, error) {
	most := maxCaughtUp
	if t, has, err := find(r.tx.Ledger, &most, looksFor); t != nil || err != nil {
		return t, has, err
	}
	looked := map[record.ID]bool{"": true, r.id: true}
	for _, st := range r.Store.Recent(maxSources) {
		if looked[st.Mission] || st.Agent != r.agent().Name {
			continue
		}
		looked[st.Mission] = true
		l, err := ledger.Open(ctx, r.Repo, r.tx.Objects, st.Mission)
		if ledger.Missing(err) {
			continue
		}
		if err != nil {
			return nil, repeats{}, err
		}
		t, has, err := find(l, &most, looksFor)
		if err != nil || t == nil {
			continue // an unreadable ledger is no source
		}
		usable, err := turns.Usable(ctx, r.Workspace, t)
		if errors.Is(err, workspace.ErrUntrusted) {
			return nil, repeats{}, nil
		}
		return usable, has, err
	}
	return nil, repeats{}, nil
}

// find returns the newest turn of a ledger that is looked for, or nil. It looks
// at most turns, and counts them off.
func find(l *ledger.Ledger, most *int, looksFor search) (*turns.Turn, repeats, error) {
	for turn, err := range l.Turns() {
		if err != nil || *most == 0 {
			return nil, repeats{}, err
		}
		*most--
		t, err := turns.ReadIn(l, turn.Number)
		if err != nil {
			continue
		}
		if has, is := looksFor(l, t); is {
			return t, has, nil
		}
	}
	return nil, repeats{}, nil
}

// fork begins the mission's ledger as a fork at the end of a turn.
func (r *recording) fork(ctx context.Context, source *turns.Turn) error {
	l, err := source.LedgerAt(ctx, r.Repo, r.tx.Objects, false)
	if err != nil {
		return err
	}
	m, of := r.mission(), source.ID()
	m.V, m.ID, m.Title, m.Agent, m.Predecessor = record.Version, r.id, l.Mission.Title, source.Agent, ""
	m.Base, m.ForkedFrom = source.Code.String(), &of
	return r.tx.Fork(ctx, m, l, source.Code)
}

// past adds a turn that the session had before anybody recorded it.
func (r *recording) past(ctx context.Context, e ending) (*turns.Turn, error) {
	c := &candidate{File: transcript.File{Session: r.Session, Path: r.Transcript}, agent: r.agent()}
	im := &importer{
		Workspace: r.Workspace, ImportOptions: ImportOptions{At: r.At}, head: r.head,
		places: make(map[string]placed), there: make(map[string]bool), logs: make(map[string]headLog),
	}
	if err := im.code(r.tx); err != nil {
		return nil, err
	}
	defer func(at time.Time) { r.tx.At = at }(r.tx.At)
	return im.turn(ctx, r.tx, c, c.reader, r.segment, e, false)
}
