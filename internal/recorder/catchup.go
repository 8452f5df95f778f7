package recorder

import (
	"bytes"
	"iter"
	"maps"
	"slices"

	"gitagent/internal/agent"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// catchUp brings the local state in line with the ledger: it is behind if a
// hook died after moving the refs, and empty if deleted. Neither may lead to a
// turn or its segment being recorded twice.
func (r *recording) catchUp() (adopted bool, err error) {
	if r.Session == "" || !slices.Contains(r.tx.Ledger.Mission.Sessions, r.Session) {
		return false, nil
	}
	t, err := missed(&r.state, r.Session, r.id, r.tx.Ledger.Turns(), func(n int) (*turns.Turn, error) { return turns.ReadIn(r.tx.Ledger, n) })
	if err != nil || t == nil {
		return false, err
	}
	r.setLast(t)
	r.adoptSubagents(t)
	return true, r.noteAgain(t)
}

// missed returns the session's newest turn if its state does not know it.
func missed(st *session.Known, name string, id record.ID, turns iter.Seq2[ledger.Numbered, error], read func(number int) (*turns.Turn, error)) (*turns.Turn, error) {
	seen := st.Cursors[id].Turn
	if last := st.Last; last != nil && last.Mission == id {
		seen = max(seen, last.Turn)
	}
	looked := 0
	for turn, err := range turns {
		if err != nil || turn.Number <= seen || looked == maxCaughtUp {
			return nil, err
		}
		looked++
		t, err := read(turn.Number)
		if err == nil && t.Session == name && t.Mission == id { // what can't be read is not ours
			return t, nil
		}
	}
	return nil, nil
}

// maxCaughtUp limits the turns of other sessions to pass over.
const maxCaughtUp = 10_000

// noteAgain adds a turn's line to its note if it is missing: git moves the
// ledger's ref before the notes', and may have been killed in between.
func (r *recording) noteAgain(t *turns.Turn) error {
	if t.CodeKnown() != nil {
		return nil // it has none
	}
	note := r.noteOn(t)
	line, err := t.Line()
	if err != nil || bytes.Contains(note, line) || len(note) >= record.MaxNote {
		return err
	}
	return r.note(t, line)
}

func (r *recording) setLast(t *turns.Turn) {
	last := &session.LastTurn{
		Mission: r.id, Turn: t.Turn, PromptID: t.PromptID,
		Code: t.Code, Base: t.Base, From: t.Head, Head: t.Head, Prompt: t.Prompt, Started: t.Started, Ended: t.At,
	}
	if r.moves {
		last.Head = t.Code
	}
	if seg := t.Transcript; seg != nil {
		last.Before, _ = r.cursorAt(seg.From, seg.After) // a missing file has no cursor
		if seg.Missing == "size" || seg.Missing == "redaction" || holds(r.tx.Ledger, r.rules, r.Purged(), r.Transcript, t.Turn, seg) {
			cursors := map[record.ID]session.Cursor{}
			maps.Copy(cursors, r.state.Cursors)
			cursors[r.id], _ = r.cursorAt(seg.To, t.Turn)
			r.state.Cursors = cursors
		}
	}
	r.state.Last = last
	if o := r.state.Open; o != nil && o.PromptID != "" && o.PromptID == t.PromptID {
		r.state.Open = nil
	}
}

// holds reports whether the client's file still has a segment's content, all but
// what it says again; see [transcript.Unrepeat].
func holds(l *ledger.Ledger, rules *redact.Rules, purged *scrub.Finder, path string, turn int, seg *record.Segment) bool {
	if path == "" || seg.Path == "" || seg.To < seg.From || seg.To-seg.From > transcript.MaxSegment {
		return false
	}
	raw, err := transcript.ReadRange(path, seg.From, seg.To)
	if err != nil {
		return false
	}
	clean, err := rules.JSONLines(raw, agent.Structure)
	if err != nil {
		return false
	}
	clean = purged.ReplaceJSON(clean)
	stored, err := l.ReadUpTo(ledger.TurnPath("transcript", turn, ".jsonl"), int64(max(len(clean), seg.Bytes)))
	if err != nil || hasLines(clean, stored) {
		return err == nil
	}
	again, err := rules.JSONLines(stored, agent.Structure) // the user may have more rules since
	return err == nil && hasLines(clean, again)
}

// hasLines reports whether a has the lines of b, in order. If there are any in a,
// there must be some in b.
func hasLines(a, b []byte) bool {
	if len(b) == 0 {
		return len(a) == 0
	}
	next, stop := iter.Pull(bytes.Lines(b))
	defer stop()
	wanted, more := next()
	for line := range bytes.Lines(a) {
		if more && bytes.Equal(line, wanted) {
			wanted, more = next()
		}
	}
	return !more
}
