package ledger

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestNewestFirst: all things of all sources come, the newest first.
func TestNewestFirst(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 0))
	for range 500 {
		var want []int64
		var sources []Source[int64]
		for range r.IntN(6) {
			var times []int64
			for range r.IntN(8) {
				times = append(times, r.Int64N(1000))
			}
			want = append(want, times...)
			slices.Sort(times)
			bound := int64(1000)
			if len(times) > 0 {
				bound = times[len(times)-1] + r.Int64N(20)
			}
			sources = append(sources, Source[int64]{At: time.Unix(bound, 0), Next: func() (thing int64, at time.Time, ok bool) {
				if len(times) == 0 {
					return 0, at, false
				}
				last := times[len(times)-1]
				times = times[:len(times)-1]
				return last, time.Unix(last, 0), true
			}})
		}
		slices.Sort(want)
		slices.Reverse(want)
		var got []int64
		for at, thing := range NewestFirst(sources) {
			if at.Unix() != thing {
				t.Fatalf("%d is of %d", thing, at.Unix())
			}
			got = append(got, thing)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d, want %d", got, want)
		}
	}
}

// A source is not asked while another has what is newer, and one that breaks its own order ends
// nothing.
func TestNewestFirstAsksLate(t *testing.T) {
	t.Parallel()
	source := func(bound int64, times ...int64) Source[int64] {
		return Source[int64]{At: time.Unix(bound, 0), Next: func() (thing int64, at time.Time, ok bool) {
			if len(times) == 0 {
				return 0, at, false
			}
			thing, times = times[0], times[1:]
			return thing, time.Unix(thing, 0), true
		}}
	}
	asked := false
	late := Source[int64]{At: time.Unix(50, 0), Next: func() (int64, time.Time, bool) {
		asked = true
		return 0, time.Time{}, false
	}}
	var got []int64
	for at, thing := range NewestFirst([]Source[int64]{source(90, 90, 60, 70, 40), late, source(65, 65)}) {
		if asked != (at.Unix() < 50) {
			t.Errorf("at %d, the late one was asked: %v", at.Unix(), asked)
		}
		got = append(got, thing)
	}
	if want := []int64{90, 65, 60, 70, 40}; !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}

// TestNewestFirstHolds: however much sources hold, together it is no more than they may, and who holds little
// never gives it up.
func TestNewestFirstHolds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 0))
	const large = MaxHeld / 10
	held, dropped := make([]int, 200), 0
	sum := func() (all int) {
		for _, n := range held {
			all += n
		}
		return all
	}
	var sources []Source[int]
	for i := range held {
		left := 20
		sources = append(sources, Source[int]{
			At: time.Unix(1000, 0), // all may have the newest
			Next: func() (thing int, at time.Time, ok bool) {
				if before := sum() - held[i]; before > MaxHeld {
					t.Fatalf("%d bytes are held", before)
				}
				if held[i] = 100; i%2 == 0 {
					held[i] = large
				}
				if left--; left < 0 {
					held[i] = 0
				}
				return i, time.Unix(int64(left*40+r.IntN(30)), 0), left >= 0
			},
			Held: func() int { return held[i] },
			Drop: func() {
				if i%2 == 1 {
					t.Errorf("one that holds %d bytes has to drop them", held[i])
				}
				held[i], dropped = 0, dropped+1
			},
		})
	}
	things := 0
	for range NewestFirst(sources) {
		things++
	}
	if things != 20*len(held) || dropped == 0 || sum() != 0 {
		t.Errorf("%d things, %d times dropped, %d bytes held at the end", things, dropped, sum())
	}
}
