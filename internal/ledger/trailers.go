package ledger

import (
	"strings"

	"gitagent/internal/record"
)

// maxTrailed bounds the turns that a message names, repeated ones included.
const maxTrailed = 10_000

// ReadTrailers returns the turns that a message's trailers name, anywhere and
// indented, as a squash joins messages. They prove nothing.
func ReadTrailers(message string) []record.TurnID {
	var list []record.TurnID
	seen := make(map[record.TurnID]bool)
	var mission record.ID
	left := maxTrailed
	for line := range strings.Lines(message) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		var numbers Ranges
		switch key {
		case TrailerMission:
			mission, _ = record.ParseID(value) // an invalid id is none
		case trailerTurn:
			if n, ok := record.ParseNumber(value); ok {
				numbers = RangesOf(n)
			}
		case TrailerTurns:
			numbers, _ = ParseRanges(value)
		}
		if mission == "" {
			continue
		}
		for n := range numbers.All() {
			if left--; left < 0 {
				return list
			}
			if id := (record.TurnID{Mission: mission, Turn: n}); !seen[id] {
				seen[id] = true
				list = append(list, id)
			}
		}
	}
	return list
}
