package ledger

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/record"
)

// Ranges are numbers, mostly of turns: sorted, with gaps, as in "1-4,7".
type Ranges []Range

// A Range is the numbers from First to Last.
type Range struct{ First, Last int }

// ParseRanges parses numbers and ranges with commas between, in any order.
func ParseRanges(s string) (Ranges, error) {
	var list Ranges
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		from, ok := record.ParseNumber(first)
		to, okay := record.ParseNumber(last)
		if !ok || !okay || from > to {
			return nil, fmt.Errorf("%q: turns are named by numbers and ranges of them, as in 1-4,7", s)
		}
		list = append(list, Range{from, to})
	}
	return list.joined(), nil
}

// RangesOf returns the Ranges of some numbers.
func RangesOf(numbers ...int) Ranges {
	list := make(Ranges, len(numbers))
	for i, n := range numbers {
		list[i] = Range{n, n}
	}
	return list.joined()
}

// joined sorts ranges and joins those that touch.
func (r Ranges) joined() Ranges {
	slices.SortFunc(r, func(a, b Range) int { return a.First - b.First })
	var list Ranges
	for _, next := range r {
		if n := len(list); n > 0 && next.First <= list[n-1].Last+1 {
			list[n-1].Last = max(list[n-1].Last, next.Last)
		} else {
			list = append(list, next)
		}
	}
	return list
}

// With returns the numbers of both.
func (r Ranges) With(s Ranges) Ranges { return append(slices.Clone(r), s...).joined() }

// Has reports whether n is among the numbers.
func (r Ranges) Has(n int) bool {
	_, is := slices.BinarySearchFunc(r, n, func(s Range, n int) int {
		switch {
		case s.Last < n:
			return -1
		case s.First > n:
			return 1
		}
		return 0
	})
	return is
}

// All yields the numbers in order.
func (r Ranges) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, s := range r {
			for n := s.First; n <= s.Last; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

func (r Ranges) String() string {
	var parts []string
	for _, s := range r {
		part := strconv.Itoa(s.First)
		if s.Last > s.First {
			part += "-" + strconv.Itoa(s.Last)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}
