package ledger

import (
	"strings"

	"gitagent/internal/record"
)

// maxTrailed is how many turns of a message count, with those that it names again.
const maxTrailed = 10_000

// ReadTrailers returns the turns that the message of any commit names in trailers, each once. They are read
// wherever they stand, also indented: a squash puts whole messages into one. What they claim proves nothing.
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
			mission, _ = record.ParseID(value) // what is no id is none
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
