package turns

import (
	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/evidence"
)

// Evidence returns the word for what a turn's checks come to.
func (t *Turn) Evidence() evidence.Word {
	checks := make([]evidence.Check, len(t.Checks))
	for i, c := range t.Checks {
		checks[i] = evidence.Check{Kind: c.Kind, Command: c.Command, Outcome: c.Outcome}
	}
	return evidence.WordOf(checks, t.Changed(), t.ChangedAfter)
}

// Changed reports whether a turn changed files, as far as that is known.
func (t *Turn) Changed() bool {
	if c := t.Change(); c.Files > 0 || c.Unsure() {
		return true
	}
	for _, w := range t.Worktrees {
		if w.Files > 0 {
			return true
		}
	}
	if t.CodeKnown() == nil {
		return false
	}
	effects := agent.Of(t.Agent).Effects
	for tool := range t.Tools {
		if effects[tool] == hooks.Edits {
			return true
		}
	}
	return false
}

// UnprovenText says of a reply what the record lacks.
const UnprovenText = "says that tests pass; no such run is recorded"
