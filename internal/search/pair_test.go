package search

import (
	"math/rand/v2"
	"testing"
)

// TestPair compares where pairs are with what a look at each place says.
func TestPair(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(38, 1))
	const few = "aAbB\x81\xa1\xff\x00"
	one := func() byte { return few[r.IntN(len(few))] }
	for range 5000 {
		b := make([]byte, r.IntN(100))
		for i := range b {
			if b[i] = 'x'; r.IntN(4) == 0 {
				b[i] = one()
			}
		}
		first, second, apart := one(), one(), r.IntN(40)
		orFirst, orSecond := first, second
		if r.IntN(2) == 0 {
			orFirst, orSecond = first^' ', second^' '
		}
		if apart == 0 {
			second, orSecond = first, orFirst
		}
		p := newPair(first, orFirst, second, orSecond, apart)
		want := len(b)
		for from := len(b); from >= 0; from-- {
			if from+apart < len(b) && (b[from] == first || b[from] == orFirst) && (b[from+apart] == second || b[from+apart] == orSecond) {
				want = from
			}
			if got := p.next(b, from); got != want {
				t.Fatalf("%q or %q, %d before %q or %q, in %q from %d: %d, want %d", first, orFirst, apart, second, orSecond, b, from, got, want)
			}
		}
	}
}
