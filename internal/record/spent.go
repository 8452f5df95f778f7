package record

import "gitagent/internal/usage"

// maxModels is how many models the sum of a mission names.
const maxModels = 16

// A Spent says how many tokens the turns of a mission took, without those that a fork inherited. Who lists
// missions reads their heads, and not the records of all turns.
type Usage struct {
	Since  int           `json:"since"`            // the first turn that counts: older programs did not count
	Models usage.ByModel `json:"models,omitempty"` // without sub-agents
	Agents usage.ByModel `json:"agents,omitempty"` // sub-agents
}

// All are the tokens of models and sub-agents.
func (s *Usage) All() usage.Tokens { return s.Models.Sum().Plus(s.Agents.Sum()) }

// AddUsage adds the tokens of a turn to the mission's. was is what a former record of the turn has said.
func (m *Mission) AddUsage(turn int, was, is Usage) {
	if m.Spent == nil {
		m.Spent = &Usage{Since: turn}
	}
	if s := m.Spent; turn >= s.Since {
		s.Models = s.Models.Minus(was.Models).Plus(is.Models).Most(maxModels)
		s.Agents = s.Agents.Minus(was.Agents).Plus(is.Agents).Most(maxModels)
	}
}

// SpentAll reports whether the mission's tokens are those of all its turns.
func (m *Mission) SpentAll() bool {
	first := 1
	if m.ForkedFrom != nil {
		first += m.ForkedFrom.Turn
	}
	return m.Spent != nil && m.Spent.Since <= first
}
