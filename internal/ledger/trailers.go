package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// TrailerTurns is the trailer that names the turns of a mission which a commit of the user's has, as
// [FormatNumbers] writes them. It comes after [TrailerMission], and there may be several of both.
const TrailerTurns = "Agent-Turns"

// maxTrailed is how many turns of a message count.
const maxTrailed = 10_000

// ReadTrailers returns the turns that the message of any commit names in trailers, each once. They are read
// wherever they stand, also indented: a squash puts whole messages into one. What they claim proves nothing.
func ReadTrailers(message string) []TurnID {
	var list []TurnID
	seen := make(map[TurnID]bool)
	var mission ID
	for line := range strings.Lines(message) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		var numbers []int
		switch key {
		case TrailerMission:
			mission, _ = ParseID(value) // what is no id is none
		case trailerTurn:
			if n, ok := ParseNumber(value); ok {
				numbers = []int{n}
			}
		case TrailerTurns:
			numbers, _ = ParseNumbers(value)
		}
		for _, n := range numbers {
			id := TurnID{mission, n}
			if mission == "" || seen[id] {
				continue
			}
			if len(list) == maxTrailed {
				return list
			}
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}

// FormatNumbers writes numbers as "1-4,7": in order, each once.
func FormatNumbers(numbers []int) string {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var parts []string
	for i := 0; i < len(numbers); {
		first := numbers[i]
		last := first
		for i++; i < len(numbers) && numbers[i] == last+1; i++ {
			last++
		}
		if first == last {
			parts = append(parts, fmt.Sprint(first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
	}
	return strings.Join(parts, ",")
}

// ParseNumbers reads what [FormatNumbers] writes; blanks may follow a comma. ok is false for anything else,
// and for more numbers than a message may have.
func ParseNumbers(text string) (numbers []int, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimLeft(part, " "), "-")
		first, ok := ParseNumber(from)
		last := first
		if isRange && ok {
			last, ok = ParseNumber(to)
		}
		if !ok || last < first || len(numbers)+last-first >= maxTrailed {
			return nil, false
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers, true
}
