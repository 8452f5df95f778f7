package turns

import (
	"bytes"
	"slices"

	"gitagent/internal/ledger"
	"gitagent/internal/redact"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// catchUp brings the local state in line with the ledger. It is behind if a hook died after it
// had moved the refs, and empty if somebody deleted it: then a turn must not
// be recorded a second time, nor its part of the conversation stored twice.
func (r *recording) catchUp() (adopted bool, err error) {
	if r.Session == "" || !slices.Contains(r.ledger.Mission.Sessions, r.Session) {
		return false, nil
	}
	seen := r.state.Cursors[string(r.id)].Turn
	if last := r.state.Last; last != nil && last.Mission == string(r.id) {
		seen = max(seen, last.Turn)
	}
	newest, err := r.ledger.LastTurn()
	if err != nil {
		return false, err
	}
	for n := newest; n > seen; n-- {
		t, err := r.readTurn(n)
		if ledger.Missing(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		if t.Session == r.Session && t.Mission == r.id {
			_, _ = r.segment() // whatever it is, it was read by the state that changes now
			r.adopt(t)
			return true, nil
		}
	}
	return false, nil
}

func (r *recording) readTurn(n int) (*Turn, error) {
	data, err := r.ledger.Read(ledger.TurnPath("turns", n, ".json"))
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// adopt takes a record of this session for the last one that was recorded.
func (r *recording) adopt(t *Turn) {
	last := &session.LastTurn{
		Mission: string(r.id), Turn: t.Turn, PromptID: t.PromptID,
		Code: t.Code, Base: t.Base, Head: t.Head, Prompt: t.Prompt, Started: t.Started,
	}
	if r.moves {
		last.Head = t.Code
	}
	if seg := t.Transcript; seg != nil {
		last.Before = r.cursorAt(seg.From, seg.After)
		if seg.Missing == "size" || seg.Missing == "redaction" || r.holds(seg) {
			if r.state.Cursors == nil {
				r.state.Cursors = make(map[string]session.Cursor)
			}
			r.state.Cursors[string(r.id)] = r.cursorAt(seg.To, t.Turn)
		}
	}
	r.state.Last = last
	if o := r.state.Open; o != nil && o.PromptID != "" && o.PromptID == t.PromptID {
		r.state.Open = nil
	}
}

// holds reports whether the client's file still has, where the segment was taken from, what the segment holds.
func (r *recording) holds(seg *Segment) bool {
	if r.Transcript == "" || seg.Path == "" || seg.To < seg.From || seg.To-seg.From > transcript.MaxSegment {
		return false
	}
	stored, err := r.ledger.Read(seg.Path)
	if err != nil {
		return false
	}
	raw, err := transcript.ReadRange(r.Transcript, seg.From, seg.To)
	if err != nil {
		return false
	}
	clean, err := redact.JSONLines(raw)
	return err == nil && bytes.Equal(clean, stored)
}

func (r *recording) cursorAt(offset int64, turn int) session.Cursor {
	c, err := transcript.At(r.Transcript, offset)
	if err != nil {
		return session.Cursor{}
	}
	return session.Cursor{Offset: c.Offset, Check: c.Check, Turn: turn}
}
