package bisect

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// verdictsOf reads verdicts from letters: g, b, s for skipped, u for unknown, and a dot for untried.
func verdictsOf(letters string) []Verdict {
	var verdicts []Verdict
	for _, c := range letters {
		verdicts = append(verdicts, Verdict(strings.IndexRune(".gbsu", c)))
	}
	return verdicts
}

func TestHalve(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		verdicts        string
		good, bad, next int
	}{
		{"..", 0, 1, 0},
		{"g.", 0, 1, 1},
		{".b", 0, 1, 0},
		{"gb", 0, 1, -1},
		{"g.b", 0, 2, 1},
		{"g...b", 0, 4, 2},
		{"g..b", 0, 3, 1},
		{"g.g..b", 2, 5, 3},
		{"g.b..b", 0, 2, 1},
		{"gsb", 0, 2, -1},
		{"gusb", 0, 3, -1},
		{"gs.b", 0, 3, 2},
		{"gu.ub", 0, 4, 2},
		{"g.....s.....b", 0, 12, 3}, // away from what was skipped
		{"g.ususus.ub", 0, 10, 8},   // but anything rather than nothing; of two as far away the one nearer the middle
		{"g..uuuu..b", 0, 9, 2},     // what is unknown says nothing about its neighbours
		{"gb.g...b", 3, 7, 5},       // not in order: after the last good one
		{"g.b.b.g.b", 6, 8, 7},      //
		{"g.b.bgb", 5, 6, -1},       //
		{"g" + strings.Repeat(".", 999) + "b", 0, 1000, 500},
	} {
		good, bad, next := Halve(verdictsOf(tt.verdicts))
		if good != tt.good || bad != tt.bad || next != tt.next {
			t.Errorf("Halve(%.20s) = %d, %d, %d, want %d, %d, %d", tt.verdicts, good, bad, next, tt.good, tt.bad, tt.next)
		}
	}
}

// TestHalveFinds bisects 1,000 states, with the fault at every position, and with states that can't be
// tried here and there or in a row.
func TestHalveFinds(t *testing.T) {
	t.Parallel()
	const n = 1000
	random := rand.New(rand.NewPCG(1, 1000))
	for name, tt := range map[string]struct {
		most  int               // trials without those that were skipped, the ends included
		step  int               // from one position of the fault to the next
		skips func(int) Verdict // what becomes of a state, or Untried
	}{
		"none":           {12, 1, func(int) Verdict { return Untried }},
		"some":           {20, 1, func(int) Verdict { return []Verdict{Skipped, Untried, Untried, Untried, Untried}[random.IntN(5)] }},
		"most":           {20, 1, func(int) Verdict { return []Verdict{Skipped, Skipped, Untried}[random.IntN(3)] }},
		"unknown":        {14, 1, func(int) Verdict { return []Verdict{Unknown, Untried}[random.IntN(2)] }},
		"in a row":       {14, 9, func(i int) Verdict { return []Verdict{Untried, Skipped, Untried}[i/334] }},
		"all":            {2, 97, func(int) Verdict { return Skipped }},
		"all unknown":    {2, 1, func(int) Verdict { return Unknown }},
		"several in row": {18, 1, func(i int) Verdict { return []Verdict{Untried, Skipped}[i/50%2] }},
	} {
		most, tries := 0, 0
		for fault := 1; fault < n; fault += tt.step * gittest.Size(1, 7) {
			truth := make([]Verdict, n) // what a trial says
			verdicts := make([]Verdict, n)
			for i := range truth {
				truth[i] = Good
				if i >= fault {
					truth[i] = Bad
				}
				if v := tt.skips(i); v != Untried && i > 0 && i < n-1 {
					truth[i] = v
					if v == Unknown {
						verdicts[i] = v
					}
				}
			}
			told := 0
			for tried := 0; ; tried++ {
				good, bad, next := Halve(verdicts)
				if next < 0 {
					if fault <= good || fault > bad {
						t.Fatalf("%s: the fault is at %d, and it is said to be in (%d, %d]", name, fault, good, bad)
					}
					if between := truth[good+1 : bad]; slices.Contains(between, Good) || slices.Contains(between, Bad) {
						t.Fatalf("%s: the fault is at %d, and states between %d and %d were not tried", name, fault, good, bad)
					}
					tries = max(tries, tried)
					break
				}
				if verdicts[next] != Untried {
					t.Fatalf("%s: state %d is tried twice", name, next)
				}
				if verdicts[next] = truth[next]; truth[next] != Skipped {
					told++
				}
			}
			most = max(most, told)
		}
		t.Logf("%s: at most %d trials that tell something, %d in all", name, most, tries)
		if most > tt.most {
			t.Errorf("%s: %d trials that tell something, want at most %d", name, most, tt.most)
		}
	}
}

// TestHalveFlaky lets a command say anything. Nothing is tried twice, and what is found follows from what
// was said: a good state, then a bad one, and nothing between them that was tried and not skipped.
func TestHalveFlaky(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 3))
	for range gittest.Size(3000, 300) {
		verdicts := make([]Verdict, 2+random.IntN(60))
		last := len(verdicts) - 1
		for {
			good, bad, next := Halve(verdicts)
			if next < 0 {
				if verdicts[good] != Good || verdicts[bad] != Bad || slices.Contains(verdicts[good+1:bad], Untried) ||
					slices.Contains(verdicts[good+1:bad], Good) || slices.Contains(verdicts[good+1:bad], Bad) {
					t.Fatalf("of %v it says %d, %d", verdicts, good, bad)
				}
				break
			}
			if verdicts[next] != Untried {
				t.Fatalf("of %v state %d is tried again", verdicts, next)
			}
			verdicts[next] = []Verdict{Good, Bad, Skipped}[random.IntN(3)]
			for range random.IntN(3) { // others have the same files
				if i := random.IntN(len(verdicts)); i > 0 && i < last && verdicts[i] != Unknown {
					verdicts[i] = verdicts[next]
				}
			}
			if next == 0 {
				verdicts[0] = Good
			} else if next == last {
				verdicts[last] = Bad
			}
		}
	}
}
