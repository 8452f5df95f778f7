package blame

import (
	"context"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A chart is what git has said of commits, which never changes: their trees,
// dates and parents, and what files were in them. It answers for any commits
// that come down to it, so git need not list a long history again; see
// [chart.file] for how it is kept.
type chart struct {
	without []object.Hash // what these reach was left out, but for the edges
	list    []real
	index   map[object.Hash]int // in list
	files   lookup              // of list
	anew    int                 // commits and comparisons that the file lacks
}

// newChart returns a chart of what git listed, the newest first.
func newChart(without []object.Hash, listed []real) *chart {
	c := &chart{without: without, list: make([]real, 0, len(listed)), index: make(map[object.Hash]int, len(listed)), files: lookup{changes: make(map[string]changes)}}
	for _, r := range slices.Backward(listed) { // parents first: it is them that trees are compared with
		c.add(r)
	}
	return c
}

// closed reports whether the chart has all that its commits were made from, and
// what they were listed without: only then can it answer for git.
func (c *chart) closed() bool {
	lacks := func(commit object.Hash) bool { _, known := c.index[commit]; return !known }
	return !slices.ContainsFunc(c.without, lacks) && !slices.ContainsFunc(c.list, func(r real) bool {
		return !r.edge && slices.ContainsFunc(r.parents, lacks)
	})
}

func (c *chart) add(r real) {
	if _, known := c.index[r.hash]; !known {
		c.index[r.hash] = len(c.list)
		c.list, c.anew = append(c.list, r), c.anew+1
	}
}

// clone returns a copy, to which may be added what is of another repository.
func (c *chart) clone() *chart {
	files := lookup{from: slices.Clip(c.files.from), changes: maps.Clone(c.files.changes), kept: c.files.kept}
	return &chart{without: c.without, list: slices.Clip(c.list), index: maps.Clone(c.index), files: files}
}

// blobs returns what a file was at each place of the list. Others that are
// likely to be asked about next are looked up with it.
func (c *chart) blobs(ctx context.Context, repo *git.Repo, name string, next []string) ([]object.Hash, error) {
	c.files.follow(c.list, c.index)
	if !c.files.has(name) {
		together := []string{name}
		for _, other := range next {
			if len(together) < maxTogether && !c.files.has(other) {
				together = appendNew(together, other)
			}
		}
		compared, err := c.files.ask(ctx, repo, c.list, together)
		if err != nil {
			return nil, err
		}
		c.anew += compared
	}
	return c.files.blobs(name), nil
}

// known adds those of some versions that were looked up.
func (c *chart) known(wanted []version, blobs map[version]object.Hash) {
	byPath := make(map[string][]version)
	for _, v := range wanted {
		byPath[v.path] = append(byPath[v.path], v)
	}
	for path, list := range byPath {
		until := c.files.changes[path].until
		if until == 0 {
			continue
		}
		all := c.files.blobs(path)
		for _, v := range list {
			if at, ok := c.index[v.in]; ok && at < until {
				blobs[v] = all[at]
			}
		}
	}
}

// Marks of a walk.
const (
	excluded = 1 << iota // what was asked for is to be without it
	answered
)

// reach returns what git would list: the commits that some reach and others do
// not, and as edges the parents of these that are left out, and others that are
// wanted anyway. ok is false where the chart does not tell.
func (c *chart) reach(objects *git.Objects, wanted map[object.Hash]bool, without []object.Hash) (listed []real, ok bool) {
	for commit := range wanted {
		if !c.learn(objects, commit) {
			return nil, false
		}
	}
	marks := make([]uint8, len(c.list))
	if !slices.Equal(without, c.without) && !c.exclude(without, marks) {
		return nil, false
	}
	ends := func(at int) bool { return c.list[at].edge || marks[at]&excluded != 0 }
	var todo []int
	for commit, anyway := range wanted {
		if at := c.index[commit]; anyway || !ends(at) {
			todo = append(todo, at)
		}
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if marks[at]&answered != 0 {
			continue
		}
		r := c.list[at]
		r.edge = ends(at)
		listed, marks[at] = append(listed, r), marks[at]|answered
		if r.edge {
			continue
		}
		for _, p := range r.parents {
			todo = append(todo, c.index[p])
		}
	}
	return listed, true
}

// exclude marks what some commits reach. It reports whether the edges are all
// among it, which the chart knows if what it was asked without is.
func (c *chart) exclude(without []object.Hash, marks []uint8) bool {
	var todo []int
	push := func(commits []object.Hash) bool {
		for _, commit := range commits {
			at, known := c.index[commit]
			if !known {
				return false
			}
			if marks[at] == 0 {
				marks[at] = excluded
				todo = append(todo, at)
			}
		}
		return true
	}
	if !push(without) {
		return false
	}
	for len(todo) > 0 {
		r := c.list[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		if !r.edge && !push(r.parents) {
			return false
		}
	}
	return !slices.ContainsFunc(c.without, func(commit object.Hash) bool {
		at, known := c.index[commit]
		return !known || marks[at] == 0
	})
}

// maxLearned is how many commits are read one by one, at most, before git lists
// them all.
const maxLearned = 256

// learn reads a commit that the chart lacks, and what it was made from. Each must
// come down to one that is no edge: what was asked without that has no edge
// above it either.
func (c *chart) learn(objects *git.Objects, commit object.Hash) bool {
	if _, known := c.index[commit]; known {
		return true
	}
	var list []real
	seen := make(map[object.Hash]bool)
	for todo := []object.Hash{commit}; len(todo) > 0; {
		hash := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, known := c.index[hash]; known || seen[hash] {
			continue
		}
		seen[hash] = true
		read, err := objects.Commit(hash)
		if err != nil || len(list) == maxLearned {
			return false
		}
		list = append(list, real{hash: hash, tree: read.Tree, date: read.Committer.When.Unix(), parents: read.Parents})
		todo = append(todo, read.Parents...)
	}
	var above []real // the parents first
	sure := make(map[object.Hash]bool)
	for more := true; more; {
		more = false
		for _, r := range slices.Backward(list) {
			if !sure[r.hash] && slices.ContainsFunc(r.parents, func(p object.Hash) bool {
				at, known := c.index[p]
				return sure[p] || known && !c.list[at].edge
			}) {
				sure[r.hash], more = true, true
				above = append(above, r)
			}
		}
	}
	if len(above) < len(list) {
		return false
	}
	for _, r := range above {
		c.add(r)
	}
	return true
}
