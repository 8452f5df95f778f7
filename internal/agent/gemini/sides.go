package gemini

import "gitagent/internal/transcript"

// Sides lists none: conversations of sub-agents are not recorded.
func (Agent) Sides(path string, segment []byte, read map[string]int64, running bool) ([]transcript.Side, error) {
	return nil, nil
}
