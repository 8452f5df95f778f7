package turns

import (
	"bytes"
	"maps"
	"slices"

	"gitagent/internal/ledger"
	"gitagent/internal/redact"
	"gitagent/internal/secret"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// catchUp brings the local state in line with the ledger. The state is behind if a hook died after
// moving the refs, and empty if somebody deleted it. Neither may make us record a turn again, or
// store its part of the conversation twice.
func (r *recording) catchUp() (adopted bool, err error) {
	if r.Session == "" || !slices.Contains(r.tx.Ledger.Mission.Sessions, r.Session) {
		return false, nil
	}
	seen := r.state.Cursors[string(r.id)].Turn
	if last := r.state.Last; last != nil && last.Mission == string(r.id) {
		seen = max(seen, last.Turn)
	}
	looked := 0
	for turn, err := range r.tx.Ledger.Turns() {
		if err != nil || turn.Number <= seen || looked == maxCaughtUp {
			return false, err
		}
		looked++
		t, err := readTurn(r.tx.Ledger, turn.Number)
		if err == nil && t.Session == r.Session && t.Mission == r.id { // what can't be read is not ours
			r.adopt(t)
			r.adoptSides(t)
			return true, r.noteAgain(t)
		}
	}
	return false, nil
}

// maxCaughtUp is how many turns, those of other sessions, may have been recorded meanwhile.
const maxCaughtUp = 10_000

// noteAgain adds a turn's line to its note if it is missing there: git moves the ledger's ref
// before that of the notes, and may have been killed in between.
func (r *recording) noteAgain(t *Turn) error {
	if t.CodeKnown() != nil {
		return nil // it has none
	}
	note := r.noteOn(t)
	line, err := t.Line()
	if err != nil || bytes.Contains(note, line) || len(note) >= maxNote {
		return err
	}
	return r.note(t, line)
}

// adopt makes t, a record of this session, the last turn in the local state.
func (r *recording) adopt(t *Turn) {
	last := &session.LastTurn{
		Mission: string(r.id), Turn: t.Turn, PromptID: t.PromptID,
		Code: t.Code, Base: t.Base, From: t.Head, Head: t.Head, Prompt: t.Prompt, Started: t.Started,
	}
	if r.moves {
		last.Head = t.Code
	}
	if seg := t.Transcript; seg != nil {
		last.Before, _ = r.cursorAt(seg.From, seg.After) // a missing file has no cursor
		if seg.Missing == "size" || seg.Missing == "redaction" || holds(r.tx.Ledger, r.Purged(), r.Transcript, t.Turn, seg) {
			cursors := map[string]session.Cursor{}
			maps.Copy(cursors, r.state.Cursors)
			cursors[string(r.id)], _ = r.cursorAt(seg.To, t.Turn)
			r.state.Cursors = cursors
		}
	}
	r.state.Last = last
	if o := r.state.Open; o != nil && o.PromptID != "" && o.PromptID == t.PromptID {
		r.state.Open = nil
	}
}

// holds reports whether the client's file still has, at the offsets of a turn's segment, its content.
func holds(l *ledger.Ledger, purged *secret.Finder, path string, turn int, seg *Segment) bool {
	if path == "" || seg.Path == "" || seg.To < seg.From || seg.To-seg.From > transcript.MaxSegment {
		return false
	}
	raw, err := transcript.ReadRange(path, seg.From, seg.To)
	if err != nil {
		return false
	}
	clean, err := redact.JSONLines(raw)
	if err != nil {
		return false
	}
	clean = purged.ReplaceJSON(clean)
	stored, err := l.ReadUpTo(ledger.TurnPath("transcript", turn, ".jsonl"), int64(len(clean)))
	return err == nil && bytes.Equal(clean, stored)
}
