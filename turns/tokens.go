package turns

import (
	"cmp"

	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/usage"
)

// The limits of what a record says of tokens.
const (
	maxModels = 16
	maxModel  = 100 // runes of a name
)

// byModel makes the tokens of a conversation fit for a record. What models are called, the client says.
func byModel(found map[string]transcript.Tokens) usage.ByModel {
	var m usage.ByModel
	for model, tokens := range found {
		name := cmp.Or(called(model, maxModel), "unknown")
		m = m.Plus(usage.ByModel{name: tokens})
	}
	return m.Most(maxModels)
}

// Spent are the turn's tokens, those of the sub-agents that ran in it apart.
func (t *Turn) Spent() record.Usage {
	s := record.Usage{Models: t.Tokens}
	for _, a := range t.Agents {
		s.Agents = s.Agents.Plus(a.Tokens)
	}
	return s
}

// SpentKnown reports whether the record says what the turn has taken. Older programs wrote how much the model
// had written, and nothing else.
func (t *Turn) SpentKnown() bool {
	s := t.Spent()
	counted := t.Transcript != nil && t.Transcript.Missing == "" && t.Context == 0 && t.Output == 0
	return len(s.Models)+len(s.Agents) > 0 || counted
}

// spend adds the tokens of a turn to its mission's; old is the record that it replaces, or nil.
func (r *recording) spend(t, old *Turn) {
	var was record.Usage
	if old != nil {
		was = old.Spent()
	}
	r.tx.Ledger.Mission.AddUsage(t.Turn, was, t.Spent())
}
