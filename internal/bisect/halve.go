package bisect

import "math/bits"

// A Verdict is what is known of a state.
type Verdict int

// The verdicts.
const (
	Untried Verdict = iota
	Good
	Bad
	Skipped // it was tried, and nothing can be said
	Unknown // it can't be tried, as nobody knows where the code was
)

func (v Verdict) String() string {
	return [...]string{"untried", "good", "bad", "skipped", "unknown"}[v]
}

// Halve says how to go on from these verdicts of states in order. Both ends are tried first; then they
// must be good and bad. From there on good is the last good state, bad the first bad one after it, and
// next one between them to try; -1 if there is none left. So no verdict, of a flaky command either,
// makes it try a state twice.
//
// Next is the state that is farthest from both ends and from all that were skipped, as often several in
// a row can't be tried for one reason; of those the nearest to the middle.
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

// distances says of each verdict how far it is to the nearest end, or skipped state.
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

// offset is how far a state is from the middle of two others, in halves.
func offset(i, good, bad int) int {
	d := 2*i - good - bad
	return max(d, -d)
}

// Left is how many states between a good and a bad one are left to try, and about how many trials it takes.
func Left(verdicts []Verdict, good, bad int) (states, trials int) {
	for _, v := range verdicts[good+1 : bad] {
		if v == Untried {
			states++
		}
	}
	return states, bits.Len(uint(states))
}
