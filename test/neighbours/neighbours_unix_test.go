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
	steps       = flag.Int("steps", 60, "how many steps are taken, in all rounds together")
	abroadSteps = flag.Int("abroad", 0, "how many steps are taken in several repositories")
	seed        = flag.Uint64("seed", uint64(time.Now().UnixNano()), "what steps are drawn from")
	shrink      = flag.Bool("shrink", false, "leave out of a round that fails what it does not take, which needs many rounds")
	only        = flag.String("only", "", "take only these `steps` of each round, as -shrink prints them")
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
	rounds(t, "Neighbours", *steps, newWorld)
}

// TestAbroad plays with sessions that work in several repositories. Not all that
// it finds is mended, so no step is taken unless it is asked for.
func TestAbroad(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	rounds(t, "Abroad", *abroadSteps, newLand)
}

// TestAbroadCases plays short rounds that have failed once.
func TestAbroadCases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source
		steps string
	}{
		{source{2, 18}, "0,1,2,6,7"},
	} {
		t.Run(fmt.Sprintf("%d %d", tt.seed, tt.round), func(t *testing.T) {
			t.Parallel()
			tt.judge(t, "Abroad", &tally{counts: make(map[string]int)}, chosen(tt.steps), newLand)
		})
	}
}

// A game is what a round plays.
type game interface {
	at(r *rand.Rand)
	step(n int)
	finish() // looks at all of it
	leave()
	report() (done, found []string)
}

type begins func(t *testing.T, r source, c *tally) game

// rounds plays as many as have that many steps together.
func rounds(t *testing.T, name string, steps int, begin begins) {
	t.Logf("seed %d", *seed)
	c := &tally{counts: make(map[string]int)}
	t.Cleanup(func() {
		var all []string
		for _, what := range slices.Sorted(maps.Keys(c.counts)) {
			all = append(all, fmt.Sprintf("%6d %s", c.counts[what], what))
		}
		t.Logf("seed %d:\n%s", *seed, strings.Join(all, "\n"))
	})
	for n := range (steps + perRound - 1) / perRound {
		t.Run(fmt.Sprintf("round %d", n), func(t *testing.T) {
			t.Parallel()
			source{*seed, n}.judge(t, name, c, chosen(*only), begin)
		})
	}
}

// judge plays a round, and fails with what it finds.
func (r source) judge(t *testing.T, name string, c *tally, taken []int, begin begins) {
	done, found := play(t, r, c, taken, begin)
	if *shrink && len(found) > 0 {
		taken, done, found = least(t, r, c, taken, done, found, begin)
	}
	for _, what := range found {
		t.Error(what)
	}
	if len(found) > 0 {
		t.Logf("-seed %d -run '%s$/round_%d$' -only %s\n%s", r.seed, name, r.round, strings.Trim(strings.ReplaceAll(fmt.Sprint(taken), " ", ","), "[]"),
			strings.Join(done, "\n"))
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
func least(t *testing.T, r source, c *tally, taken []int, done, found []string, begin begins) ([]int, []string, []string) {
	kind, _, _ := strings.Cut(found[0], ":")
	taken = taken[:min(len(done), len(taken))]
	for size := (len(taken) + 1) / 2; size > 0; size /= 2 {
		for at := len(taken) - size; at > -size; at -= size {
			fewer := slices.Delete(slices.Clone(taken), max(at, 0), at+size)
			var did, fails []string
			t.Run("shrink", func(t *testing.T) { did, fails = play(t, r, c, fewer, begin) })
			if slices.ContainsFunc(fails, func(what string) bool { return strings.HasPrefix(what, kind+":") }) {
				taken, done, found = fewer[:min(len(did), len(fewer))], did, fails
			}
			at = min(at, len(taken))
		}
	}
	return taken, done, found
}

// A source is what the steps of a round are drawn from.
type source struct {
	seed  uint64
	round int
}

// draw returns the source of a step; step -1 is what the round is.
func (r source) draw(step int) *rand.Rand {
	return rand.New(rand.NewPCG(r.seed, uint64(r.round)<<32|uint64(step+1)))
}

// play takes steps of a round until something is found.
func play(t *testing.T, r source, c *tally, taken []int, begin begins) (done, found []string) {
	g := begin(t, r, c)
	for _, n := range taken {
		g.at(r.draw(n))
		g.step(n)
		if _, found = g.report(); len(found) > 0 {
			break
		}
	}
	if len(found) == 0 {
		g.finish()
	}
	g.leave()
	return g.report()
}
