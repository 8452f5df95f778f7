package record

import "gitagent/internal/usage"

// maxModels is how many models a mission's usage names.
const maxModels = 16

// A Usage is the tokens of a mission's turns, without those inherited by a
// fork. It is in the head, so that lists need not read all turns.
type Usage struct {
	Since  int           `json:"since"`            // the first counted turn: older programs did not count
	Models usage.ByModel `json:"models,omitempty"` // without subagents
	Agents usage.ByModel `json:"agents,omitempty"` // subagents
}

// All returns the tokens of models and subagents.
func (s *Usage) All() usage.Tokens { return s.Models.Sum().Plus(s.Agents.Sum()) }

// AddUsage adds a turn's tokens; was is what its previous record counted.
func (m *Mission) AddUsage(turn int, was, is Usage) {
	if m.Spent == nil {
		m.Spent = &Usage{Since: turn}
	}
	if s := m.Spent; turn >= s.Since {
		s.Models = s.Models.Minus(was.Models).Plus(is.Models).Most(maxModels)
		s.Agents = s.Agents.Minus(was.Agents).Plus(is.Agents).Most(maxModels)
	}
}

// SpentAll reports whether all turns of the mission are counted.
func (m *Mission) SpentAll() bool {
	first := 1
	if m.ForkedFrom != nil {
		first += m.ForkedFrom.Turn
	}
	return m.Spent != nil && m.Spent.Since <= first
}
