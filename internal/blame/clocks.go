package blame

import (
	"slices"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// How far ahead a clock may be: from nearly a wrong time zone to a wrong day
// and zone. Work moved between branches within an hour looks the same as less.
const (
	minSkew = 50 * time.Minute
	maxSkew = 26 * time.Hour
)

// skewed reports whether a state may precede a commit despite a later date.
func skewed(state, commit *node) bool {
	ahead := time.Duration(state.date-commit.date) * time.Second
	return minSkew <= ahead && ahead <= maxSkew
}

// ahead returns by how many seconds at least a mission's clock was ahead. It
// was if several of its turns wrote, later by its clock, lines that are new in
// a commit that they don't descend from: the commit took them from there. One
// commit with the exact tree in which a turn ended is enough.
func ahead(g *graph, c *contents) map[record.ID]int64 {
	fresh := c.allFresh(parentsOf(g))
	written := make([][]int, c.words()) // by line: the commits in which it is new and a turn's
	for at, n := range g.nodes {
		if len(n.writers) > 0 {
			for _, line := range fresh[at] {
				written[line] = append(written[line], at)
			}
		}
	}
	by := g.taken()
	turns := make(map[record.ID][]int) // the commits of turns that commits took lines from
	needed := make(map[record.ID]int64)
	for at, n := range g.nodes {
		if n.edge || n.made || len(n.writers) > 0 {
			continue
		}
		later := make(map[record.ID][]int)
		for _, line := range fresh[at] {
			if len(written[line]) == 0 || c.since(line) != at {
				continue
			}
			for _, from := range written[line] {
				id := g.nodes[from].writers[0].id.Mission
				if from > at && skewed(g.nodes[from], n) && !slices.Contains(later[id], from) {
					later[id] = append(later[id], from)
				}
			}
		}
		for id, list := range later {
			if g.descends(list, at) {
				continue
			}
			needed[id] = max(needed[id], g.nodes[slices.Max(list)].date-n.date+1)
			for _, from := range list {
				if !slices.Contains(turns[id], from) {
					turns[id] = append(turns[id], from)
				}
			}
		}
	}
	for id, list := range turns {
		if len(list) > 1 || by[id] > 0 {
			by[id] = max(by[id], needed[id])
		}
	}
	return by
}

// taken does what ahead does, by the trees of commits alone.
func (g *graph) taken() map[record.ID]int64 {
	ended := make(map[object.Hash][]int) // by tree: the states in which turns ended that changed something
	for at, n := range g.nodes {
		if n.made && len(n.writers) > 0 && n.hash == n.writers[0].code && !slices.ContainsFunc(n.parents, func(p int) bool { return g.nodes[p].tree == n.tree }) {
			ended[n.tree] = append(ended[n.tree], at)
		}
	}
	by := make(map[record.ID]int64)
	for at, n := range g.nodes {
		list := ended[n.tree]
		if n.edge || n.made || len(n.writers) > 0 || len(list) == 0 || list[0] < at {
			continue
		}
		state := g.nodes[list[0]]
		if skewed(state, n) && !g.descends(list[:1], at) {
			id := state.writers[0].id.Mission
			by[id] = max(by[id], state.date-n.date+1)
		}
	}
	return by
}

// descends reports whether one of the commits has from as an ancestor.
func (g *graph) descends(list []int, from int) bool {
	seen := make(map[int]bool)
	for todo := slices.Clone(list); len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at == from {
			return true
		}
		for _, p := range g.nodes[at].parents {
			if p >= from && !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return false
}

// corrected returns the graph, sorted with the missions' clocks set back.
func (g *graph) corrected(by map[record.ID]int64) *graph {
	var edges []*node
	var commits []*waiting
	for _, n := range g.nodes {
		if n.edge {
			edges = append(edges, n)
			continue
		}
		w := &waiting{hash: n.hash, tree: n.tree, date: n.date, saved: n.saved, made: n.made}
		switch {
		case n.made:
			w.date -= by[n.mission]
		case len(n.writers) > 0:
			w.date -= by[n.writers[0].id.Mission]
		}
		for _, p := range n.real {
			w.real = append(w.real, g.nodes[p].hash)
		}
		for _, p := range n.parents {
			if !slices.Contains(n.real, p) {
				w.chain = append(w.chain, g.nodes[p].hash)
			}
		}
		commits = append(commits, w)
	}
	sorted := order(edges, commits)
	sorted.turns, sorted.list, sorted.chart = g.turns, g.list, g.chart
	for at, n := range sorted.nodes {
		old := g.nodes[g.index[n.hash]]
		n.charted = old.charted
		if !n.edge {
			sorted.nodes[at].writers, sorted.nodes[at].mission = old.writers, old.mission
			sorted.nodes[at].starts, sorted.nodes[at].elsewhere = old.starts, old.elsewhere
		}
	}
	return sorted
}

func (v *versions) reordered(g *graph) *versions {
	other := *v
	other.graph, other.all, other.tips, other.blobs = g, nil, nil, nil
	for _, blobs := range v.blobs {
		moved := slices.Clone(blobs)
		for at, n := range g.nodes {
			moved[at] = blobs[v.graph.index[n.hash]]
		}
		other.blobs = append(other.blobs, moved)
	}
	return &other
}
