package recorder

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// A sides is what was added to subagents' files.
type sides struct {
	list []sided
	left []string // ids of those left to the next turn by the limits, or unreadable now
	err  error    // why one is unreadable
}

type sided struct {
	record.Subagent
	raw           []byte
	before, after session.SubagentCursor
}

// subagents reads what subagents did since the session's last turn. segment is
// the new part of the conversation.
func (r *recording) subagents(segment []byte) (s sides) {
	list := r.agent().Subagents
	if list == nil || r.Transcript == "" || r.Event == Prompted && r.state.Open == nil {
		return s
	}
	before, running, read := r.subagentsBefore(), false, make(map[string]int64)
	for id, side := range before {
		read[id], running = side.Offset, running || side.Runs
	}
	found, err := list(r.Transcript, segment, read, running)
	s.err = err
	bytes := int64(0)
	for _, f := range found {
		if len(s.list) == turns.MaxSubagents || bytes >= maxSubagentBytes {
			s.left = append(s.left, f.ID)
			continue
		}
		side, err := readSubagent(r.agent(), f, before[f.ID])
		if len(r.withheld) > 0 {
			own := func() transcript.Reader { return transcript.Own(r.agent().Reader()) }
			transcript.Withhold(own, side.raw, r.withheld.Turn, r.withheld.At)
			if side.raw = transcript.Unblank(side.raw); len(side.raw) == 0 && side.Missing == "" {
				continue
			}
		}
		if err != nil {
			s.left, s.err = append(s.left, f.ID), err
		} else if side.To > side.From {
			s.list, bytes = append(s.list, side), bytes+int64(len(side.raw))
		}
	}
	return s
}

// subagentsBefore returns how much of subagents' files was recorded before.
func (f *inputs) subagentsBefore() map[string]session.SubagentCursor {
	before := make(map[string]session.SubagentCursor)
	maps.Copy(before, f.state.Subagents)
	if f.again() {
		maps.Copy(before, f.state.Last.SubagentsBefore)
	}
	return before
}

func readSubagent(a *agent.Agent, f transcript.SubagentFile, before session.SubagentCursor) (s sided, err error) {
	if before.Offset < f.Start {
		before = session.SubagentCursor{Offset: f.Start}
	}
	from := transcript.Cursor{Offset: before.Offset, Check: before.Check}
	if f.Lines == "" && from.Offset > 0 && from.Check == "" { // known only from the ledger, or of its parent
		from, err = transcript.At(f.Path, from.Offset)
	}
	var segment transcript.NewLines
	if err == nil {
		segment, err = readNew(f, from)
	}
	missing := ""
	if errors.Is(err, transcript.ErrTooLarge) {
		missing = "size"
		segment.Cursor, err = transcript.End(f.Path)
	}
	if err != nil {
		return s, fmt.Errorf("sub-agent %s: %w", f.ID, err)
	}
	if segment.Restarted {
		before = session.SubagentCursor{}
	}
	// A message may go on from the previous part, and its tokens count once.
	whole := segment.Bytes
	if to := segment.Cursor.Offset; f.Lines == "" && before.Offset > f.Start && to-f.Start <= maxSide {
		if whole, err = transcript.ReadRange(f.Path, f.Start, to); err != nil {
			return s, fmt.Errorf("sub-agent %s: %w", f.ID, err)
		}
	}
	all := transcript.Summarise(transcript.Own(a.Reader()), whole)
	tokens := byModel(all.Tokens)
	if len(whole) > len(segment.Bytes) {
		tokens = tokens.Minus(before.Spent)
	}
	s = sided{raw: segment.Bytes, before: before, Subagent: record.Subagent{
		ID: f.ID, Type: called(f.Type, maxSideName), Outcome: subagentOutcome(all, f.Over), Calls: calls(transcript.Summarise(transcript.Own(a.Reader()), segment.Bytes)), Tokens: tokens,
		From: before.Offset, To: segment.Cursor.Offset, Missing: missing,
	}}
	if hooks.ValidID(f.Call) {
		s.Call = f.Call
	}
	s.after = session.SubagentCursor{
		Offset: segment.Cursor.Offset, Check: segment.Cursor.Check, Spent: before.Spent.Plus(tokens), Runs: s.Outcome == record.Running,
	}
	return s, nil
}

func calls(s transcript.Summary) int {
	n := 0
	for _, of := range s.Tools {
		n += of
	}
	return n
}

func readNew(f transcript.SubagentFile, from transcript.Cursor) (transcript.NewLines, error) {
	if f.Lines != "" {
		return transcript.NewLines{Bytes: []byte(f.Lines), Cursor: transcript.Cursor{Offset: from.Offset + int64(len(f.Lines))}}, nil
	}
	if f.Size-from.Offset > maxSide {
		return transcript.NewLines{}, transcript.ErrTooLarge
	}
	return transcript.ReadSegment(f.Path, from)
}

// subagentOutcome returns a subagent's outcome after all that it did. over says
// that the client reports its end.
func subagentOutcome(all transcript.Summary, over bool) record.Outcome {
	switch {
	case all.APIError:
		return record.Failed
	case all.Interrupted:
		return record.Interrupted
	case all.Answered:
		return record.Done
	case over:
		return record.Interrupted
	}
	return record.Running
}

// addSubagents adds subagents' work to a turn and its files. A turn recorded
// again keeps the old record's subagents that are gone.
func addSubagents(t, old *turns.Turn, s sides, files map[string][]byte, rules *redact.Rules, purged *scrub.Finder) {
	t.AgentsLeft = len(s.left)
	for _, one := range s.list {
		path := turns.SubagentPath(t.Turn, one.ID)
		data, err := rules.JSONLines(one.raw, agent.Structure)
		data = purged.ReplaceJSON(data)
		switch {
		case one.Missing != "":
		case err != nil:
			one.Missing = "redaction"
		default:
			one.Bytes, files[path] = len(data), append([]byte{}, data...)
		}
		if one.Missing != "" {
			files[path] = nil
		}
		t.Agents = append(t.Agents, one.Subagent)
	}
	if old == nil {
		return
	}
	for _, was := range old.Agents {
		if !slices.ContainsFunc(t.Agents, func(s record.Subagent) bool { return s.ID == was.ID }) {
			t.Agents = append(t.Agents, was)
		}
	}
}

// keepSubagents notes how much of subagents' files is recorded now.
func (r *recording) keepSubagents(before map[string]session.SubagentCursor, again map[string]session.SubagentCursor) {
	touched := make(map[string]session.SubagentCursor)
	maps.Copy(touched, again)
	for _, one := range r.segment.sides.list {
		touched[one.ID], before[one.ID] = one.before, one.after
	}
	for _, id := range r.segment.sides.left { // the next turn looks for it, whatever it is told
		left := before[id]
		left.Runs = true
		before[id] = left
	}
	r.state.Subagents, r.state.Last.SubagentsBefore = before, touched
}

// maxSubagentsRead is how many turns are read if the local state is lost.
const maxSubagentsRead = 1000

// recordedSubagents returns how much of the subagents' files a ledger has.
func recordedSubagents(l *ledger.Ledger, of string) map[string]session.SubagentCursor {
	all := make(map[string]session.SubagentCursor)
	looked := 0
	for turn, err := range l.Turns() {
		if err != nil || looked == maxSubagentsRead {
			break
		}
		looked++
		t, err := turns.ReadIn(l, turn.Number)
		if err != nil || t.Session != of || t.Mission != l.ID {
			continue
		}
		for _, s := range t.Agents {
			if !hooks.ValidID(s.ID) || s.To < 0 {
				continue
			}
			known := all[s.ID]
			all[s.ID] = session.SubagentCursor{
				Offset: max(known.Offset, s.To), Spent: known.Spent.Plus(s.Tokens), Runs: known.Runs || known.Offset == 0 && s.Outcome == record.Running,
			}
		}
	}
	return all
}

// adoptSubagents updates the local state from t, the last turn, and the ledger.
func (r *recording) adoptSubagents(t *turns.Turn) {
	if r.state.Subagents == nil {
		r.state.Subagents = recordedSubagents(r.tx.Ledger, r.Session)
	}
	known, before := maps.Clone(r.state.Subagents), make(map[string]session.SubagentCursor)
	for _, s := range t.Agents {
		if s.To > known[s.ID].Offset { // a process recorded this turn and died
			known[s.ID] = session.SubagentCursor{Offset: s.To, Spent: known[s.ID].Spent.Plus(s.Tokens), Runs: s.Outcome == record.Running}
		}
		before[s.ID] = session.SubagentCursor{Offset: s.From, Spent: known[s.ID].Spent.Minus(s.Tokens), Runs: true}
	}
	r.state.Subagents, r.state.Last.SubagentsBefore = known, before
}

// Limits of what a turn records of subagents. The rest is left for the next.
const (
	maxSubagentBytes = 64 << 20
	maxSide          = 32 << 20 // bytes of one; a larger piece is not stored
	maxSideName      = 100      // runes
)
