package opencode

import "gitagent/internal/transcript"

// Sides lists none.
func (Agent) Sides(path string, segment []byte, read map[string]int64, running bool) ([]transcript.Side, error) {
	return nil, nil
}
