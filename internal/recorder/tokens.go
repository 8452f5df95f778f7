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
	before, err := r.spentBefore(t)
	if err != nil {
		r.warn("the tokens of turn %s are not known: %v", t.ID(), err)
		return
	}
	took := all.Minus(before)
	t.Context, t.Output = last.Tokens, took.Output
	t.Tokens = byModel(map[string]transcript.Tokens{cmp.Or(t.Model, last.Model): took})
	sum := before.Plus(took)
	r.spent = &sum
}

// spentBefore returns what the session's turns before t took. It is in the
// session's state, or is added up.
func (r *recording) spentBefore(t *turns.Turn) (sum usage.Tokens, err error) {
	if last := r.state.Last; last != nil && last.Spent != nil && last.Mission == r.id && last.Turn < t.Turn {
		return *last.Spent, nil
	}
	for n, err := range r.tx.Ledger.TurnsBelow(t.Turn) {
		if err != nil {
			return sum, err
		}
		if before, err := turns.ReadIn(r.tx.Ledger, n.Number); err == nil && before.Session == t.Session {
			sum = sum.Plus(before.Tokens.Sum())
		}
	}
	return sum, nil
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
