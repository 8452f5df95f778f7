//go:build unix

package neighbours

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/test/gittest"
)

var (
	steps  = flag.Int("steps", 60, "how many steps are taken, in all rounds together")
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "what steps are drawn from")
	shrink = flag.Bool("shrink", false, "leave out of a round that fails what it does not take, which needs many rounds")
	only   = flag.String("only", "", "take only these `steps` of each round, as -shrink prints them")
)

// TestMain builds the programs, and puts them in front of PATH.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gittest.Programs{M: m}.Run())
}

// perRound is how many steps a repository lives for.
const perRound = 30

// A tally counts what happened in all rounds.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what] += n
}

// TestNeighbours takes the steps.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	if _, err := exec.LookPath("git-filter-repo"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git-filter-repo is missing")
		}
		t.Log("git-filter-repo is missing, so nothing is filtered by it")
	}
	t.Logf("seed %d", *seed)
	c := &tally{counts: make(map[string]int)}
	t.Cleanup(func() {
		var all []string
		for _, what := range slices.Sorted(maps.Keys(c.counts)) {
			all = append(all, fmt.Sprintf("%6d %s", c.counts[what], what))
		}
		t.Logf("seed %d:\n%s", *seed, strings.Join(all, "\n"))
	})
	for n := range (*steps + perRound - 1) / perRound {
		t.Run(fmt.Sprintf("round %d", n), func(t *testing.T) {
			t.Parallel()
			taken := chosen(*only)
			w := play(t, n, c, taken)
			if *shrink && len(w.found) > 0 {
				taken, w = least(t, n, c, taken, w)
			}
			for _, what := range w.found {
				t.Error(what)
			}
			if len(w.found) > 0 {
				t.Logf("-seed %d -run 'Neighbours/round_%d$' -only %s\n%s", *seed, n, strings.Trim(strings.ReplaceAll(fmt.Sprint(taken), " ", ","), "[]"),
					strings.Join(w.done, "\n"))
			}
		})
	}
}

func chosen(numbers string) (taken []int) {
	for number := range strings.SplitSeq(numbers, ",") {
		var n int
		if _, err := fmt.Sscan(number, &n); err == nil {
			taken = append(taken, n)
		}
	}
	if taken == nil {
		for n := range perRound {
			taken = append(taken, n)
		}
	}
	return taken
}

// least leaves out of a failed round what it does not take to fail in the same
// way: halves, quarters, and so on.
func least(t *testing.T, n int, c *tally, taken []int, failed *world) ([]int, *world) {
	kind, _, _ := strings.Cut(failed.found[0], ":")
	taken = taken[:len(failed.done)]
	for size := (len(taken) + 1) / 2; size > 0; size /= 2 {
		for at := len(taken) - size; at > -size; at -= size {
			fewer := slices.Delete(slices.Clone(taken), max(at, 0), at+size)
			var w *world
			t.Run("shrink", func(t *testing.T) { w = play(t, n, c, fewer) })
			if w != nil && slices.ContainsFunc(w.found, func(what string) bool { return strings.HasPrefix(what, kind+":") }) {
				taken, failed = fewer[:len(w.done)], w
			}
			at = min(at, len(taken))
		}
	}
	return taken, failed
}

// draw returns the source of a step of a round; step -1 is what the round is.
func draw(round, step int) *rand.Rand {
	return rand.New(rand.NewPCG(*seed, uint64(round)<<32|uint64(step+1)))
}

// play takes steps of a round until something is found.
func play(t *testing.T, round int, c *tally, taken []int) *world {
	w := newWorld(t, round, c)
	for _, n := range taken {
		w.Rand = draw(round, n)
		w.step(n)
		if len(w.found) > 0 {
			break
		}
	}
	if len(w.found) == 0 {
		w.look()
	}
	w.leave()
	return w
}
