package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// An importPlan is what to import of a session.
type importPlan struct {
	state  ImportState
	why    string
	other  record.ID   // the mission that has recorded it, if not its own
	last   int         // number of the mission's last turn
	bytes  []byte      // of the client's file
	from   int64       // their offset in it
	ends   []ending    // without their summaries
	begins int         // where the first of them does, after what goes with it
	again  bool        // the first of them is recorded, and has gone on
	source *turns.Turn // the turn of another mission that they follow; or nil
}

// shorten drops turns too large for one transaction, and reports if it did.
func (t *importPlan) shorten() bool {
	for i, e := range t.ends {
		if i > 0 && e.end-t.ends[0].start > maxAtOnce {
			t.ends = t.ends[:i]
			return true
		}
	}
	return false
}

// say adds the plan to the session's result.
func (t *importPlan) say(done *Imported, id record.ID) {
	done.Mission, done.Turns = cmp.Or(t.other, id), t.last
	if done.State == "" { // else this is a later part of it
		done.State, done.Why = t.state, t.why
	}
	if done.State == Skipped {
		done.Mission = t.other
	}
	if n := len(t.ends); n > 0 {
		done.Turns = t.ends[n-1].number
		done.Added += n
	}
}

// planImport decides what to import of a session. l is the ledger of its own
// mission, or nil, and st the local state that its hooks keep.
func (im *importer) planImport(ctx context.Context, id record.ID, l *ledger.Ledger, c *candidate, st *session.Known) (importPlan, error) {
	for _, other := range im.missions[c.Session] {
		if other != id {
			return im.recorded(other), nil
		}
	}
	if st.Mission != "" && st.Mission != id || st.Last != nil {
		return im.recorded(st.Mission), nil
	}
	t := importPlan{state: New}
	var last *turns.Turn
	if l != nil {
		err := owns(l.Mission, id, c.Session)
		if err != nil {
			return t, err
		}
		if t.last, err = l.LastTurn(); err != nil {
			return t, err
		}
		if last, err = turns.Last(l); err != nil {
			return t, err
		}
		if t.state = UpToDate; !imported(last, id, t.last, c.Session) {
			t.state = Recorded
			return t, nil
		}
		if last.Transcript.To == c.Size {
			return t, nil
		}
		if last.Transcript.Missing != "redaction" && !holds(l, im.Settings.Rules(), im.Purged(), c.Path, last.Turn, last.Transcript) {
			return t, errNotTheSame
		}
		t.from = last.Transcript.From
	}
	at, err := transcript.At(c.Path, t.from)
	if err != nil {
		return t, err
	}
	segment, err := transcript.ReadSegment(c.Path, at)
	if err != nil {
		return t, err
	}
	if segment.Restarted {
		return t, errors.New("its file is being rewritten")
	}
	t.bytes = segment.Bytes
	begun, err := transcript.Unrepeat(c.reader, t.bytes, c.Path, t.from, before(last)...)
	if err != nil {
		return t, err
	}
	noted := places.Of(im.Getenv)
	off := append(noted.WithheldBefore(), noted.Withheld(c.Session)...)
	if len(off) > 0 && !im.Withheld {
		transcript.Withhold(c.reader, t.bytes, off.Turn, off.At)
		begun = transcript.Turns(c.reader(), t.bytes)
	}
	start, after := 0, 0
	switch {
	case last != nil:
		old := int(last.Transcript.To - t.from)
		if old > len(t.bytes) {
			return t, errNotTheSame
		}
		if begun, t.again = furtherTurns(c.reader(), t.bytes, begun, old); t.again {
			t.last, after = t.last-1, last.Transcript.After
		} else {
			start, after = old, last.Turn
		}
	case last == nil:
		source, shared := im.source(ctx, c, begun)
		if source == nil {
			break
		}
		if shared == len(begun) {
			return importPlan{state: Skipped, other: source.Mission, why: "the client's copy of " + source.ID().String() + ", and nothing else"}, nil
		}
		t.source, t.last, after = source, source.Turn, source.Turn
		start, begun = begun[shared].Start, begun[shared:]
	}
	begun = running(c, begun, t.bytes, st.Open)
	number := t.last
	for i, b := range begun {
		if number, err = record.Next("turn", number); err != nil {
			return t, err
		}
		p := piece{start: b.Start, end: b.End, promptID: b.PromptID, seen: true}
		if i == 0 {
			p.start, t.begins = start, b.Start
		}
		t.ends = append(t.ends, ending{p, number, after})
		after = number
	}
	switch {
	case len(t.ends) > 0 && last != nil:
		t.state = Grown
	case len(t.ends) == 0 && last == nil && len(off) > 0 && !im.Withheld:
		t.state, t.why = Skipped, "it is withheld, as nothing was to be recorded of it"
	case len(t.ends) == 0 && last == nil:
		t.state, t.why = Skipped, "its first turn is running"
	}
	return t, nil
}

// before returns what precedes the last imported turn in the file, if any.
func before(last *turns.Turn) []transcript.Past {
	if last == nil || last.Started.IsZero() {
		return nil
	}
	return []transcript.Past{{Last: last.Started.Add(-time.Second)}}
}

// owns returns an error if the mission with the id is another session's.
func owns(m *record.Mission, id record.ID, session string) error {
	switch {
	case slices.Contains(m.Sessions, session):
		return nil
	case len(id) == 8:
		return fmt.Errorf("mission %s has just been made: %w", id, git.ErrConflict)
	}
	return fmt.Errorf("mission %s, which would be its own, is another one's", id)
}

// imported reports whether last, the last readable record or nil, is of the
// mission's last turn and comes from an import of the session.
func imported(last *turns.Turn, id record.ID, number int, session string) bool {
	return last != nil && last.Turn == number && last.Session == session && last.Mission == id && last.Imported != "" && last.Transcript != nil
}

// furtherTurns returns the turns after the imported old bytes. If the last
// imported turn has gone on, it comes first, up to the next turn.
func furtherTurns(r transcript.Reader, bytes []byte, begun []transcript.FileTurn, old int) (list []transcript.FileTurn, again bool) {
	n := 0
	for n < len(begun) && begun[n].Start < old {
		n++
	}
	next := len(bytes)
	if n < len(begun) {
		next = begun[n].Start
	}
	if n == 0 || !spoke(r, bytes[old:next]) {
		return begun[n:], false
	}
	begun[n-1].End = next
	return begun[n-1:], true
}

var errNotTheSame = errors.New("its file is not what was imported of it; the mission stays as it is")

// spoke reports whether bytes after a turn are more of it, not mere notes.
func spoke(r transcript.Reader, more []byte) bool {
	sum := transcript.Summarise(r, more)
	return !sum.Ended.IsZero() || sum.Reply != "" || len(sum.Queued) > 0
}

// running returns the turns without those left to hooks, from the open one on,
// and without an unfinished one in a live client.
func running(c *candidate, begun []transcript.FileTurn, bytes []byte, open *session.OpenTurn) []transcript.FileTurn {
	if open != nil && open.PromptID != "" {
		if i := slices.IndexFunc(begun, func(t transcript.FileTurn) bool { return t.PromptID == open.PromptID }); i >= 0 {
			return begun[:i]
		}
	}
	if n := len(begun); n > 0 && c.Runs {
		sum := transcript.Summarise(c.reader(), bytes[begun[n-1].Start:begun[n-1].End])
		if !sum.Answered && !sum.Interrupted && !sum.APIError {
			return begun[:n-1]
		}
	}
	return begun
}

// source returns the turn of another session's mission that a copied
// conversation continues, and how many turns they share; nil if none.
func (im *importer) source(ctx context.Context, c *candidate, begun []transcript.FileTurn) (source *turns.Turn, shared int) {
	for _, other := range im.alike[c.first.UUID] {
		if other == c || len(im.missions[other.Session]) == 0 {
			continue
		}
		theirs := other.all()
		n := inCommon(theirs, begun)
		if n <= shared {
			continue
		}
		for _, id := range im.missions[other.Session] {
			if t := im.recordOf(ctx, id, other.Session, theirs[n-1]); t != nil {
				source, shared = t, n
				break
			}
			if im.Dry { // it would have been imported, with these numbers
				source, shared = &turns.Turn{Mission: id, Turn: n}, n
			}
		}
	}
	return source, shared
}

// inCommon returns how many equal turns two conversations begin with.
func inCommon(a, b []transcript.FileTurn) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].UUID != "" && a[n].UUID == b[n].UUID {
		n++
	}
	return n
}

// mere reports whether a session is nothing but a copy of one with a mission.
func (im *importer) mere(ctx context.Context, c *candidate) bool {
	if len(im.alike[c.first.UUID]) < 2 {
		return false
	}
	source, shared := im.source(ctx, c, c.all())
	return source != nil && shared == len(c.all())
}

// recordOf returns the trusted record of a session's turn in its file, or nil.
func (im *importer) recordOf(ctx context.Context, id record.ID, session string, at transcript.FileTurn) *turns.Turn {
	var found *turns.Turn
	errFound := errors.New("found")
	_ = turns.Each(ctx, im.Repo, id, func(t *turns.Turn) error {
		if seg := t.Transcript; t.Session == session && seg != nil && seg.From <= int64(at.Start) && int64(at.Start) < seg.To && seg.To <= int64(at.End) {
			found = t
			return errFound
		}
		return nil
	})
	if found == nil {
		return nil
	}
	found, _ = turns.Usable(ctx, im.Workspace, found) // nil if it may not be used
	return found
}
