package recorder

import (
	"cmp"

	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/usage"
	"gitagent/turns"
)

// byModel makes token counts fit for a record. Model names are untrusted.
func byModel(found map[string]transcript.Tokens) usage.ByModel {
	var m usage.ByModel
	for model, tokens := range found {
		name := cmp.Or(called(model, maxModel), "unknown")
		m = m.Plus(usage.ByModel{name: tokens})
	}
	return m.Most(maxModels)
}

// addSpent adds to the session's last turn what the client keeps of its tokens
// beside the conversation: of all that the session took, what its turns before
// did not.
func (r *recording) addSpent(t *turns.Turn) {
	spent := r.agent().Spent
	if spent == nil || r.Transcript == "" {
		return
	}
	last, all, err := spent(r.Transcript)
	if err != nil {
		return // no request was answered
	}
	for n, err := range r.tx.Ledger.TurnsBelow(t.Turn) {
		if err != nil {
			r.warn("the tokens of turn %s are not known: %v", t.ID(), err)
			return
		}
		if before, err := turns.ReadIn(r.tx.Ledger, n.Number); err == nil && before.Session == t.Session {
			all = all.Minus(before.Tokens.Sum())
		}
	}
	t.Context, t.Output = last.Tokens, all.Output
	t.Tokens = byModel(map[string]transcript.Tokens{cmp.Or(t.Model, last.Model): all})
}

// spend adds a turn's tokens to its mission's, in place of those of old, if
// any.
func (r *recording) spend(t, old *turns.Turn) {
	var was record.Usage
	if old != nil {
		was = old.Spent()
	}
	r.tx.Ledger.Mission.AddUsage(t.Turn, was, t.Spent())
}

const (
	maxModels = 16
	maxModel  = 100 // runes of a name
)
