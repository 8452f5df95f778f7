package blame

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
)

// A graph holds the commits of a question, ordered so that each comes after
// those it was made from.
type graph struct {
	nodes []*node
	index map[object.Hash]int  // into nodes
	turns map[*pastTurn]bool   // whose states are in it
	list  []*pastTurn          // the same, in order of their starts
	chart *chart               // of its commits
	cut   map[object.Hash]bool // where a shallow clone ends: what is new there may be older
}

// has reports whether a commit is in the graph.
func (g *graph) has(commit object.Hash) bool {
	_, ok := g.index[commit]
	return ok
}

// holds reports whether the states of all these turns are in the graph.
func (g *graph) holds(list []*pastTurn) bool {
	return !slices.ContainsFunc(list, func(t *pastTurn) bool { return !g.turns[t] })
}

type node struct {
	hash object.Hash
	tree object.Hash
	date int64 // of the committer, in seconds
	// saved is the first time, in milliseconds, at which it was known to be a
	// turn's state; 0 if none or unknown.
	saved int64
	// parents are the places of what it was made from, in the order in which
	// git asks them: the state before it, then the parents that git has.
	parents   []int
	starts    []*pastTurn // turns that started in it
	first     int         // the place of its first parent, -1 if it has none in the graph
	real      []int       // the places of its parents in git
	charted   int         // its place in the chart, -1 for a commit of which only the name is known
	edge      bool        // the graph ends here: its parents are unknown
	made      bool        // see [state]
	mission   record.ID   // that it is a state of, if it was made for one
	elsewhere bool        // it may be of another worktree than the mission's
	// beside is the turn whose end this is without its own change, or nil. With
	// unsure, that is its sure change: what is new here may be the turn's.
	beside *pastTurn
	unsure bool
	// writers are the turns that wrote the lines that no parent has: none if
	// written by hand, several if more than one ran.
	writers []*pastTurn
}

// graph returns the commits that can be reached from one commit and from the
// states of turns, without what was there before the oldest of them.
func (h *History) graph(ctx context.Context, objects *git.Objects, commit object.Hash, list []*pastTurn) (*graph, error) {
	_, repo := objects.Of()
	real, chart, err := h.revisions(ctx, objects, commit, list)
	if err != nil {
		return nil, err
	}
	saved := make(map[object.Hash]int64)
	save := func(commit object.Hash, at time.Time) {
		if ms := at.UnixMilli(); saved[commit] == 0 || ms < saved[commit] {
			saved[commit] = ms
		}
	}
	for _, t := range list {
		save(t.base, t.started)
		save(t.start, t.started)
		save(t.code, t.at)
		save(t.head, t.at)
		// After a commit that is the turn's end; before a code commit in any case.
		save(t.others, t.at.Add(time.Millisecond))
		save(t.shared, t.at.Add(time.Millisecond))
	}
	var commits []*waiting
	var edges []*node
	for _, r := range real {
		if r.edge {
			edges = append(edges, &node{hash: r.hash, tree: r.tree, date: r.date, first: -1, edge: true})
			continue
		}
		w := &waiting{hash: r.hash, tree: r.tree, date: r.date, saved: saved[r.hash], real: r.parents}
		if s := h.states[r.hash]; s != nil && s.made {
			w.made = true
			if !s.chain.IsZero() {
				w.chain = []object.Hash{s.chain}
			}
		}
		commits = append(commits, w)
	}
	g := order(edges, commits)
	g.chart = chart
	for _, n := range g.nodes {
		n.charted = -1
		if at, ok := chart.index[n.hash]; ok {
			n.charted = at
		}
		if s := h.states[n.hash]; s != nil && s.made && s.turn != nil {
			n.writers = []*pastTurn{s.turn}
		}
		if s := h.states[n.hash]; s != nil {
			n.mission, n.starts, n.elsewhere, n.beside = s.mission, s.starts, s.elsewhere, s.beside
			if n.unsure = n.beside != nil && n.hash == n.beside.shared; n.unsure {
				n.writers = []*pastTurn{n.beside}
			}
		}
	}
	g.list, g.turns, g.cut = list, make(map[*pastTurn]bool), make(map[object.Hash]bool)
	shallow, err := repo.Shallow()
	if err != nil {
		return nil, err
	}
	for _, commit := range shallow {
		g.cut[commit] = true
	}
	for _, t := range slices.Backward(list) { // the turn that began last comes first
		g.turns[t] = true
		g.claim(t)
		for _, w := range t.worktrees {
			h.claimIn(g, t, w)
		}
	}
	return g, nil
}

// ran returns the other turns that may have written what is new in a commit, as
// they ran with its first writer or when it was made; the latest start first.
func (g *graph) ran(n *node) (list []*pastTurn) {
	var from, to time.Time
	switch {
	case len(n.writers) > 0:
		from, to = n.writers[0].started, n.writers[0].at
	case n.edge:
		return nil
	default: // a state, or a commit that HEAD has left since
		from = time.Unix(n.date, 0)
		to = from.Add(time.Second)
	}
	for _, t := range g.list {
		if !t.started.Before(to) {
			break
		}
		// A start for turns of other branches only was in another worktree.
		elsewhere := len(n.starts) > 0 && !slices.ContainsFunc(n.starts, t.on)
		if n.beside == t && !n.unsure || n.told() {
			continue
		}
		if !t.at.Before(from) && !elsewhere && !slices.ContainsFunc(n.writers, func(w *pastTurn) bool { return w.id == t.id }) {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *pastTurn) int { return byStart(b, a) })
	return list
}

// on reports whether HEAD was on one branch at the end of t or before it, and at
// the end of other or before that, or whether one is known to have worked beside
// the other.
func (t *pastTurn) on(other *pastTurn) bool {
	if slices.Contains(t.with, other.session) || slices.Contains(other.with, t.session) {
		return true
	}
	is := func(branch string) bool {
		return branch == other.branch || other.before != nil && branch == other.before.branch
	}
	return is(t.branch) || t.before != nil && is(t.before.branch)
}

// apart reports whether the turn that ended at one place can't have seen the
// other, a state of another mission: one of them ended on its mission's branch,
// in its own worktree. Agents given the same task write equal lines, so these
// prove nothing; real merges show in git's parents.
func (g *graph) apart(at, tip int) bool {
	here, there := g.nodes[at], g.nodes[tip]
	if !here.ended() || !there.made || here.writers[0].id.Mission == there.mission {
		return false
	}
	ended := here.writers[0]
	if ended.attached() && (there.ended() || !g.within(there, here, ended)) {
		return true
	}
	return there.ended() && there.writers[0].attached() && there.writers[0].branch != ended.branch
}

// ended reports whether a turn ended in a commit made for it.
func (n *node) ended() bool {
	return n.made && len(n.writers) > 0 && n.writers[0].code == n.hash
}

// told reports whether what is new in a turn's end is known to be its own: the
// turn's record tells it from what others did.
func (n *node) told() bool { return n.ended() && !n.writers[0].others.IsZero() }

// within reports whether a state may be from the turn's worktree while it ran,
// as by an adoption: it was made on the code commit's parent or a state on
// that.
func (g *graph) within(state, code *node, t *pastTurn) bool {
	if state.date < t.started.Unix() || state.date >= t.at.Unix() {
		return false
	}
	for range 2 {
		if len(state.real) == 0 {
			return false
		}
		if slices.Contains(code.real, state.real[0]) {
			return true
		}
		state = g.nodes[state.real[0]]
	}
	return false
}

// attached reports whether a turn ended on its own mission's branch.
func (t *pastTurn) attached() bool {
	return t.in.ID == t.id.Mission && t.branch != "" && t.in.Mission.Branch == "refs/heads/"+t.branch
}

// during reports whether a state was saved while a turn ran. Commit dates are
// in seconds; the start of a turn in the state is more precise.
func (n *node) during(t *pastTurn) bool {
	for _, s := range n.starts {
		if s.started.Unix() == n.date {
			return t.started.Before(s.started) && t.at.After(s.started)
		}
	}
	return t.started.Unix() < n.date && n.date < t.at.Unix()
}

// claim marks the commits by the turn's agent: those that HEAD gained in it.
func (g *graph) claim(t *pastTurn) {
	from, to := t.started.Unix(), t.at.Unix()
	at, ok := g.index[cmp.Or(t.head, t.code)]
	for ok && at >= 0 {
		n := g.nodes[at]
		if n.edge || !n.made && n.date < from || g.had(t, at) {
			return
		}
		if !n.made && n.date <= to && !g.cut[n.hash] {
			n.writers = append(n.writers, t)
		}
		at = n.first
	}
}

// claimIn marks the commits that the turn's agent or a sub-agent made in another
// worktree, as far as they were merged since. A sub-agent may have begun in the
// turn before.
func (h *History) claimIn(g *graph, t *pastTurn, w record.Worktree) {
	from := t.started
	if w.Agent != "" && t.before != nil {
		from = t.before.started
	}
	base, at := h.headOf(g, w.Base), h.headOf(g, w.Code)
	for at >= 0 && at != base {
		n := g.nodes[at]
		if n.edge || n.made || n.date < from.Unix() || g.had(t, at) {
			return
		}
		if n.date <= t.at.Unix() && !g.cut[n.hash] && !slices.Contains(n.writers, t) {
			n.writers, t.commits = append(n.writers, t), append(t.commits, n.hash)
		}
		at = n.first
	}
}

// headOf returns the place of HEAD in a worktree's state: the commit itself, or
// the only parent of one that was made for it; -1 if it is not in the graph.
func (h *History) headOf(g *graph, state object.Hash) int {
	parents, err := h.objects.Parents(state)
	if err == nil && len(parents) == 1 {
		parents = []object.Hash{state, parents[0]}
	} else {
		parents = []object.Hash{state}
	}
	for _, commit := range parents {
		if at, ok := g.index[commit]; ok {
			return at
		}
	}
	return -1
}

// had reports whether a commit existed when a turn started.
func (g *graph) had(t *pastTurn, at int) bool {
	from := t.started.Unix()
	var had []object.Hash
	// After a switch of branches base is where HEAD was at the end, which may
	// have been made in the turn.
	if start, ok := g.index[t.base]; ok && (t.base != t.head || g.nodes[start].made || g.nodes[start].date <= from && cmp.Or(t.start, t.base) == t.base) {
		had = append(had, t.base)
	}
	if t.before != nil && !t.before.at.After(t.started) {
		had = append(had, t.before.head, t.before.code)
	}
	if g.nodes[at].date == from { // same second: the date does not tell
		for u := range g.turns {
			if u != t && !u.at.After(t.started) && u.at.Unix() == from {
				had = append(had, u.head, u.code, u.base)
			}
		}
	}
	return g.reach(had, at)
}

// reach reports whether a commit can be reached from any of the others.
func (g *graph) reach(froms []object.Hash, at int) bool {
	seen := make(map[int]bool)
	for _, from := range froms {
		start, ok := g.index[from]
		if !ok || start < at || seen[start] {
			continue
		}
		seen[start] = true
		for todo := []int{start}; len(todo) > 0; {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if i == at {
				return true
			}
			for _, p := range g.nodes[i].real {
				if p >= at && !seen[p] {
					seen[p] = true
					todo = append(todo, p)
				}
			}
		}
	}
	return false
}

// A waiting is a commit that has no place yet.
type waiting struct {
	hash, tree  object.Hash
	date        int64
	saved       int64
	made        bool
	chain, real []object.Hash // what it was made from

	rank   int // within its second, from 1; 0 if no state needs it there
	left   int // how many of chain and real have no place yet
	place  int // -1 before it has one
	behind []*waiting
}

// order sorts commits after those they were made from; otherwise by date and,
// within a second, turns' states and what they need first. Edges, and commits
// that are named but not given, come first. Links that close a circle of states
// and repeated parents are dropped.
func order(edges []*node, commits []*waiting) *graph {
	g := &graph{index: make(map[object.Hash]int, len(edges)+len(commits)), nodes: make([]*node, 0, len(edges)+len(commits))}
	slices.SortFunc(edges, func(a, b *node) int { return cmp.Or(cmp.Compare(a.date, b.date), a.hash.Compare(b.hash)) })
	for _, n := range edges {
		if _, placed := g.index[n.hash]; !placed {
			g.index[n.hash] = len(g.nodes)
			g.nodes = append(g.nodes, n)
		}
	}
	known := make(map[object.Hash]*waiting, len(commits))
	for _, w := range commits {
		known[w.hash], w.place = w, -1
	}
	for _, w := range commits {
		for _, from := range slices.Concat(w.chain, w.real) {
			if of := known[from]; of != nil {
				of.behind = append(of.behind, w)
				w.left++
			} else if _, placed := g.index[from]; !placed {
				g.index[from] = len(g.nodes)
				g.nodes = append(g.nodes, &node{hash: from, first: -1, edge: true})
			}
		}
	}
	rank(commits, known)
	var ready queue
	for _, w := range commits {
		if w.left == 0 {
			ready = append(ready, w)
		}
	}
	heap.Init(&ready)
	for placed := 0; placed < len(commits); {
		if len(ready) == 0 {
			heap.Push(&ready, freed(commits, known))
			continue
		}
		w := heap.Pop(&ready).(*waiting)
		if w.place >= 0 {
			continue
		}
		placed++
		w.place = len(g.nodes)
		g.index[w.hash] = w.place
		n := &node{hash: w.hash, tree: w.tree, date: w.date, saved: w.saved, made: w.made, first: -1}
		for _, from := range w.real {
			n.real = append(n.real, g.index[from])
		}
		if len(n.real) > 0 {
			n.first = n.real[0]
		}
		for _, from := range w.chain {
			if at, ok := g.index[from]; ok && at < w.place {
				n.parents = append(n.parents, at)
			}
		}
		for _, at := range n.real {
			if !slices.Contains(n.parents, at) {
				n.parents = append(n.parents, at)
			}
		}
		g.nodes = append(g.nodes, n)
		for _, b := range w.behind {
			if b.left--; b.left == 0 && b.place < 0 {
				heap.Push(&ready, b)
			}
		}
	}
	return g
}

// rank gives states their rank among the commits of their second: in order of
// time, each behind what it needs of that second. So nothing comes before the
// states that it may have been made from, unless a state needs it.
func rank(commits []*waiting, known map[object.Hash]*waiting) {
	var states []*waiting
	for _, w := range commits {
		if w.made || w.saved != 0 {
			states = append(states, w)
		}
	}
	slices.SortFunc(states, func(a, b *waiting) int {
		return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.saved, b.saved), a.hash.Compare(b.hash))
	})
	last := 0
	seen := make(map[*waiting]bool)
	for _, state := range states {
		for todo := []*waiting{state}; len(todo) > 0; {
			w := todo[len(todo)-1]
			if seen[w] {
				todo = todo[:len(todo)-1]
				if w.rank == 0 {
					last++
					w.rank = last
				}
				continue
			}
			seen[w] = true
			for _, from := range slices.Concat(w.real, w.chain) {
				if of := known[from]; of != nil && of.date == w.date && !seen[of] {
					todo = append(todo, of)
				}
			}
		}
	}
}

// freed is the oldest commit in a circle: one that waits for nothing but a
// state.
func freed(commits []*waiting, known map[object.Hash]*waiting) *waiting {
	var best *waiting
	for _, w := range commits {
		waits := slices.ContainsFunc(w.real, func(p object.Hash) bool { return known[p] != nil && known[p].place < 0 })
		if w.place < 0 && !waits && (best == nil || before(w, best)) {
			best = w
		}
	}
	return best
}

func before(a, b *waiting) bool {
	if a.date != b.date {
		return a.date < b.date
	}
	if a.rank != b.rank {
		return b.rank == 0 || a.rank != 0 && a.rank < b.rank
	}
	return a.hash.Compare(b.hash) < 0
}

// A queue is a heap of commits, in the order of before.
type queue []*waiting

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return before(q[i], q[j]) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*waiting)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	*q = (*q)[:last]
	return w
}
