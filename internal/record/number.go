package record

import (
	"fmt"
	"strconv"
)

// MaxNumber is the greatest number of a turn or a handoff: the names of their files have six digits.
const MaxNumber = 999_999

// IsNumber reports whether n can be the number of a turn or a handoff.
func IsNumber(n int) bool { return n >= 1 && n <= MaxNumber }

// ParseNumber reads the number of a turn or a handoff as it is written: decimal digits, without a
// sign and without zeros before them.
func ParseNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && IsNumber(n) && strconv.Itoa(n) == s
}

// Next returns the number of a mission's next turn or handoff, as what says. It is an error if the
// mission has had as many as there are numbers.
func Next(what string, last int) (int, error) {
	if last >= MaxNumber {
		return 0, fmt.Errorf("%s %d is the last that a mission can have; go on in another one: git agent-turn start", what, last)
	}
	return last + 1, nil
}
