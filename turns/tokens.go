package turns

import (
	"cmp"

	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/usage"
)

const (
	maxModels = 16
	maxModel  = 100 // runes of a name
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

// Spent returns the turn's tokens, with those of its subagents apart.
func (t *Turn) Spent() record.Usage {
	s := record.Usage{Models: t.Tokens}
	for _, a := range t.Agents {
		s.Agents = s.Agents.Plus(a.Tokens)
	}
	return s
}

// SpentKnown reports whether the record has the turn's tokens. Older programs
// only wrote those of the model's output.
func (t *Turn) SpentKnown() bool {
	s := t.Spent()
	counted := t.Transcript != nil && t.Transcript.Missing == "" && t.Context == 0 && t.Output == 0
	return len(s.Models)+len(s.Agents) > 0 || counted
}

// spend adds a turn's tokens to its mission's, in place of those of old, if
// any.
func (r *recording) spend(t, old *Turn) {
	var was record.Usage
	if old != nil {
		was = old.Spent()
	}
	r.tx.Ledger.Mission.AddUsage(t.Turn, was, t.Spent())
}
