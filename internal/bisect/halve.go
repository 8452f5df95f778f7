package bisect

import "math/bits"

// A Verdict is what is known of a state.
type Verdict int

const (
	Untried Verdict = iota
	Good
	Bad
	Skipped // tried without a result
	Unknown // can't be tried: its code is unknown
)

func (v Verdict) String() string {
	return [...]string{"untried", "good", "bad", "skipped", "unknown"}[v]
}

// Halve returns the last good state, the first bad one after it, and the next
// to try between, or -1. Both ends are tried first, and must be good and bad.
// Even a flaky command is not tried twice on a state. The next state is the
// farthest from both ends and from skipped ones, as several in a row often
// can't be tried for one reason; of those the nearest to the middle.
func Halve(verdicts []Verdict) (good, bad, next int) {
	last := len(verdicts) - 1
	switch Untried {
	case verdicts[0]:
		return 0, last, 0
	case verdicts[last]:
		return 0, last, last
	}
	for i, v := range verdicts[:last] {
		if v == Good {
			good = i
		}
	}
	bad = good + 1
	for bad < last && verdicts[bad] != Bad {
		bad++
	}
	next = -1
	most := 0
	far := distances(verdicts[good : bad+1])
	for i := good + 1; i < bad; i++ {
		if verdicts[i] != Untried || far[i-good] < most {
			continue
		}
		if far[i-good] > most || offset(i, good, bad) < offset(next, good, bad) {
			most, next = far[i-good], i
		}
	}
	return good, bad, next
}

// distances returns each verdict's distance to an end or a skipped one.
func distances(verdicts []Verdict) []int {
	last := len(verdicts) - 1
	far := make([]int, len(verdicts))
	for i := 1; i < last; i++ {
		if verdicts[i] != Skipped {
			far[i] = far[i-1] + 1
		}
	}
	for i := last - 1; i > 0; i-- {
		far[i] = min(far[i], far[i+1]+1)
	}
	return far
}

// offset returns twice the distance of a state from the middle of two others.
func offset(i, good, bad int) int {
	d := 2*i - good - bad
	return max(d, -d)
}

// Left returns the states left to try between two, and about how many trials.
func Left(verdicts []Verdict, good, bad int) (states, trials int) {
	for _, v := range verdicts[good+1 : bad] {
		if v == Untried {
			states++
		}
	}
	return states, bits.Len(uint(states))
}
