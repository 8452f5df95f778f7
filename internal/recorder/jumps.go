package recorder

import (
	"context"
	"errors"
	"io/fs"
	"maps"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// In some clients' files a turn does not go on from the one before: a person has
// gone back in a file that is a tree, or the client has begun a new file that
// refers to the old one instead of repeating it.

// A jump is what such a turn goes on from.
type jump struct {
	promptID string
	turn     int // of the mission; 0 if it begins a conversation, or is not recorded there
}

// findJumps finds the turns of the segment that do not go on from the one before.
func (r *recording) findJumps() error {
	if r.agent().Continues == nil || r.segment.none {
		return nil
	}
	r.jumps = make(map[int]jump)
	starts := []int{0}
	for i, b := range transcript.Turns(r.agent().Reader(), r.segment.Bytes) {
		if i > 0 {
			starts = append(starts, b.Start)
		}
	}
	for _, at := range starts {
		id, jumps := r.goesOnFrom(r.segment.from + int64(at))
		if !jumps {
			continue
		}
		j := jump{promptID: id}
		most := maxCaughtUp
		if t, err := r.turnOf(r.tx.Ledger, id, &most); err != nil {
			return err
		} else if t != nil {
			j.turn = t.Turn
		}
		r.jumps[at] = j
	}
	return nil
}

// goesOnFrom returns the prompt id of the turn that a turn of the client's file
// goes on from, if it jumps there.
func (r *recording) goesOnFrom(at int64) (promptID string, jumps bool) {
	continues := r.agent().Continues
	if continues == nil {
		return "", false
	}
	id, jumps, err := continues(r.Transcript, at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("what the conversation in %s goes on from is not known: %v", r.Transcript, err)
	}
	return id, jumps
}

// maxCutBack is how many turns a person may go back in a file.
const maxCutBack = 1000

// cutBack moves the cursor back in a file that no longer has all that was read
// of it: some clients cut it off when a person goes back, or take back their last
// lines. What it has left ends with the newest turn whose lines are still there.
func (r *recording) cutBack() bool {
	if !r.segment.Restarted || r.again() || r.state.Transcript != r.Transcript {
		return false
	}
	looked := 0
	for turn, err := range r.tx.Ledger.Turns() {
		if err != nil || looked == maxCutBack {
			return false
		}
		looked++
		t, err := turns.ReadIn(r.tx.Ledger, turn.Number)
		if err != nil || t.Session != r.Session || t.Mission != r.id || t.Transcript == nil || t.Transcript.From == t.Transcript.To {
			continue
		}
		if !holds(r.tx.Ledger, r.rules, r.Purged(), r.Transcript, t.Turn, t.Transcript) {
			continue
		}
		c, err := r.cursorAt(t.Transcript.To, t.Turn)
		if err != nil {
			return false
		}
		r.state.Cursors = maps.Clone(r.state.Cursors)
		r.state.Cursors[r.id] = c
		return true
	}
	return false
}

// turnOf returns the newest turn of a ledger with a prompt id and a stored
// conversation, or nil. It looks at most turns, and counts them off.
func (r *recording) turnOf(l *ledger.Ledger, promptID string, most *int) (*turns.Turn, error) {
	if promptID == "" {
		return nil, nil
	}
	for turn, err := range l.Turns() {
		if err != nil || *most == 0 {
			return nil, err
		}
		*most--
		if t, err := turns.ReadIn(l, turn.Number); err == nil && leadsTo(t, promptID, r.agent().Name) {
			return t, nil
		}
	}
	return nil, nil
}

func leadsTo(t *turns.Turn, promptID, agent string) bool {
	return t.PromptID == promptID && t.Agent == agent && t.Transcript != nil && t.Transcript.Missing == ""
}

// maxSources is how many of the latest sessions may be a fork's source.
const maxSources = 32

// begin begins the mission's ledger, as a fork if the session's file continues
// a turn of another mission because the user forked it in the client.
func (r *recording) begin(ctx context.Context) error {
	if r.Transcript == "" || r.Session == "" || r.state.Last != nil {
		r.tx.Begin(r.mission())
		return nil
	}
	source, err := r.source(ctx)
	if err != nil {
		return err
	}
	if source == nil {
		r.tx.Begin(r.mission())
		return nil
	}
	if err = r.fork(ctx, source); err != nil {
		err = errors.Join(err, r.Trust.Forget(r.id))
	}
	return err
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

// source returns the trusted turn that the session's file continues, or nil.
func (r *recording) source(ctx context.Context) (*turns.Turn, error) {
	shared, _ := r.goesOnFrom(0)
	if shared == "" {
		return nil, nil
	}
	looked, most := map[record.ID]bool{"": true, r.id: true}, maxCaughtUp
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
			return nil, err
		}
		t, err := r.turnOf(l, shared, &most)
		if err != nil || t == nil {
			continue // an unreadable ledger is no source
		}
		usable, err := turns.Usable(ctx, r.Workspace, t)
		if errors.Is(err, workspace.ErrUntrusted) {
			return nil, nil
		}
		return usable, err
	}
	return nil, nil
}
