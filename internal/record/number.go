package record

import (
	"fmt"
	"strconv"
)

// MaxNumber is the greatest turn or handoff: file names have six digits.
const MaxNumber = 999_999

// IsNumber reports whether n may be the number of a turn or handoff.
func IsNumber(n int) bool { return n >= 1 && n <= MaxNumber }

// ParseNumber parses decimal digits without sign and leading zeros.
func ParseNumber(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && IsNumber(n) && strconv.Itoa(n) == s
}

// Next returns the number after last. The error at [MaxNumber] begins with
// what.
func Next(what string, last int) (int, error) {
	if last >= MaxNumber {
		return 0, fmt.Errorf("%s %d is the last that a mission can have; go on in another one: git agent-turn start", what, last)
	}
	return last + 1, nil
}
