package fetcher_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// orders is how many of the 5,040 orders are tried; each takes a second on one core.
var orders = flag.Int("orders", 10, "how many orders of push and fetch are tried")

// TestConverge lets two clones continue one mission at the same time, in many orders of recording,
// pushing and fetching, with a third clone that only continues what it has fetched. Whatever the
// order, no turn is lost, no ref of the host is forced, every clone gets every side, and then
// nothing changes any more.
func TestConverge(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	steps := []string{"a turn", "a push", "a fetch", "b turn", "b push", "b fetch", "c all"}
	var all [][]string
	permutations(steps, func(order []string) { all = append(all, slices.Clone(order)) })
	r := rand.New(rand.NewPCG(6, 2026))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	seed := newSeed(t)
	for _, order := range all[:min(*orders, gittest.Size(len(all), 4))] {
		t.Run(strings.Join(order, ","), func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			converge(t, seed, order)
		})
	}
}

func permutations(rest []string, f func([]string)) {
	var walk func(n int)
	walk = func(n int) {
		if n == len(rest) {
			f(rest)
			return
		}
		for i := n; i < len(rest); i++ {
			rest[n], rest[i] = rest[i], rest[n]
			walk(n + 1)
			rest[n], rest[i] = rest[i], rest[n]
		}
	}
	walk(0)
}

// A seed is a host and three clones in one directory, with a mission that they all have.
func newSeed(t *testing.T) string {
	host := gittest.TempDir(t)
	in := gittest.New(t)
	in.Git("init", "-q", "--bare", "-b", "main", host+"/host")
	in.In(host + "/host").ForwardOnly() // a forced push would fail
	in.Write("file", "1\n")
	in.Commit("first")
	in.Git("push", "-q", host+"/host", "main")
	for _, name := range []string{"a", "b", "c"} {
		in.Git("clone", "-q", host+"/host", host+"/"+name)
		c := &remotelab.Clone{Repo: in.In(host + "/" + name), T: t}
		c.Git("remote", "set-url", "origin", "../host") // so that the directory can be copied
		c.Agree("../host", "all")
		if name == "a" {
			c.Turn(remotelab.Mission, "common")
			c.Push(remotelab.Mission)
		} else {
			c.Fetch()
		}
	}
	return host
}

func converge(t *testing.T, seed string, order []string) {
	dir := gittest.TempDir(t)
	if err := os.CopyFS(dir, os.DirFS(seed)); err != nil {
		t.Fatal(err)
	}
	in := gittest.New(t)
	host := in.In(dir + "/host")
	clones := make(map[string]*remotelab.Clone)
	for _, name := range []string{"a", "b", "c"} {
		clones[name] = &remotelab.Clone{Repo: in.In(dir + "/" + name), T: t}
	}
	recorded := make(map[string]bool) // ledger commits
	turn := func(name string) {
		c := clones[name]
		for id := range c.Sides() {
			c.Turn(id, fmt.Sprintf("by %s, %d", name, len(recorded)))
			recorded[c.Git("rev-parse", id.Ref())] = true
		}
	}
	for _, step := range order {
		name, what, _ := strings.Cut(step, " ")
		c := clones[name]
		switch what {
		case "turn":
			turn(name)
		case "push":
			c.PushAll()
		case "fetch":
			c.Fetch()
		case "all": // continues every side that it finds
			c.Fetch()
			turn(name)
			c.PushAll()
		}
	}
	for range 2 {
		for _, name := range []string{"a", "b", "c"} {
			clones[name].PushAll()
			clones[name].Fetch()
		}
	}
	want := newest(host)
	for name, c := range clones {
		before := remotelab.AgentRefs(c.Repo)
		remotelab.Equal(t, name+" fetches once more", c.Fetch(), nil)
		c.PushAll()
		if after := remotelab.AgentRefs(c.Repo); !maps.Equal(after, before) {
			t.Errorf("%s has changed from %v to %v", name, before, after)
		}
		remotelab.Equal(t, name+" has the sides", newest(c.Repo), want)
		for commit := range recorded {
			if c.Git("for-each-ref", "--contains", commit, "refs/agent/missions/") == "" {
				t.Errorf("%s has lost %s", name, commit)
			}
		}
	}
}

// newest returns the ledgers that no other ledger contains.
func newest(r *gittest.Repo) []string {
	tips := slices.Compact(remotelab.LedgerTips(r))
	return slices.Sorted(slices.Values(strings.Fields(r.Git(append([]string{"merge-base", "--independent"}, tips...)...))))
}
