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
