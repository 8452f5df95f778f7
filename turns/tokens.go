package turns

import (
	"gitagent/internal/record"
)

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
