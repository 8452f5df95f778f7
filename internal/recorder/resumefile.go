package recorder

import (
	"context"
	"errors"
	"io/fs"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Some clients begin a new file when the user goes back in a conversation, or
// forks it in the client. It refers to the old file instead of repeating it, so
// its turns follow the last turn that both share.

// followFile makes a segment that begins a file follow the turn that the file
// continues, if the mission's ledger has it.
func (r *recording) followFile() error {
	if r.segment.none || r.segment.from > 0 || !r.segment.Restarted && r.state.Transcript == r.Transcript {
		return nil
	}
	shared := r.shared()
	if shared == "" {
		return nil
	}
	most := maxCaughtUp
	t, err := r.turnOf(r.tx.Ledger, shared, &most)
	if t != nil {
		r.segment.after = t.Turn
	}
	return err
}

// shared returns the prompt id of the last turn shared with another file, or
// "".
func (r *recording) shared() string {
	continues := r.agent().Continues
	if continues == nil {
		return ""
	}
	id, err := continues(r.Transcript)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("what the conversation in %s goes on from is not known: %v", r.Transcript, err)
	}
	return id
}

// turnOf returns the newest turn of a ledger with a prompt id and a stored
// conversation, or nil. It looks at most turns, and counts them off.
func (r *recording) turnOf(l *ledger.Ledger, promptID string, most *int) (*turns.Turn, error) {
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
	shared := r.shared()
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
