package blame

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"gitagent/internal/compact"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// What git has said of commits is kept in the local state, for the next process.
// All of it is known by their hashes, so it may be old, and it may go at any
// time. It names files, so it goes in a purge, and when a mission is removed.

// Limits of what is kept.
const (
	fewCommits = 1000 // of which nothing is kept
	fewAnew    = 256  // commits and comparisons that are not worth writing the file again
	maxChart   = 64 << 20
)

const commitsLine = "git-agent commits 1"

// readKept reads the file, if there is one and it may be used.
func (h *History) readKept() {
	h.past = newPast()
	file, err := h.w.Store.Dir().OpenFile(session.CommitsFile, os.O_RDONLY)
	if err != nil || !h.whole() {
		return
	}
	defer file.Close()
	r, err := compact.Open(commitsLine, file)
	if err != nil {
		return
	}
	if past, c := unpackPast(r), unpackChart(r); c != nil {
		h.past = past
		if len(c.list) > 0 {
			h.chart = c
		}
	}
}

// whole reports whether commits have the parents that they name here: all are
// asked for in a partial clone, and left out in a shallow one.
func (h *History) whole() bool {
	shallow, err := h.w.Repo.Shallow()
	_, missing := os.Lstat(filepath.Join(h.w.Repo.CommonDir, "info", "grafts"))
	return h.promisor == "" && len(shallow) == 0 && err == nil && missing != nil
}

// charted answers from the chart, if there is one and it tells.
func (h *History) charted(objects *git.Objects, wanted map[object.Hash]bool, without []object.Hash) ([]real, *chart) {
	c := h.chart
	if c == nil {
		return nil, nil
	}
	if _, repo := objects.Of(); repo != h.w.Repo {
		c = c.clone()
	}
	if commits, ok := c.reach(objects, wanted, without); ok {
		return commits, c
	}
	return nil, nil
}

// keep writes what the file lacks, if that is much. What was purged or removed
// meanwhile is not written: then some mission is not what was read.
func (h *History) keep(ctx context.Context) error {
	c := h.chart
	if c == nil || len(c.list) < fewCommits || c.anew+h.past.anew < fewAnew || !h.whole() {
		return nil
	}
	if _, err := h.w.Store.Dir().Lstat("."); err != nil { // nothing was recorded here
		return nil
	}
	return h.w.Store.WriteList(session.CommitsFile, func() ([]byte, error) {
		tips, err := ledger.ListAll(ctx, h.w.Repo.Watched(nil))
		if err == nil && !maps.Equal(tips, h.tips) {
			err = errors.New("missions have changed")
		}
		if err != nil {
			return nil, err
		}
		var w compact.Writer
		h.past.pack(&w)
		c.pack(&w)
		return compact.File(commitsLine, w), nil
	})
}

func writeHashes(w *compact.Writer, list []object.Hash) {
	w.Int(int64(len(list)))
	for _, h := range list {
		w.Hash(h)
	}
}

func readHashes(r *compact.Reader) []object.Hash {
	list := make([]object.Hash, r.Count())
	for i := range list {
		list[i] = r.Hash()
	}
	return list
}

// pack writes the commits, parents as places; then where files changed. What is
// too much of these is left out.
func (c *chart) pack(w *compact.Writer) {
	writeHashes(w, c.without)
	c.files.follow(c.list, c.index)
	w.Int(int64(len(c.list)))
	for at, r := range c.list {
		w.Hash(r.hash)
		w.Hash(r.tree)
		w.Int(r.date)
		w.Int(int64(at - c.files.from[at]))
		if w.Is(r.edge); r.edge {
			continue
		}
		w.Int(int64(len(r.parents)))
		for _, p := range r.parents {
			w.Int(int64(at - c.index[p]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.files.changes)) {
		changes := c.files.changes[name]
		if len(*w)+len(name)+(object.SHA256.Size()+8)*len(changes.list) > maxChart {
			continue
		}
		w.Text(name)
		w.Int(int64(changes.until))
		w.Int(int64(len(changes.list)))
		for _, change := range changes.list {
			w.Int(int64(change.at))
			w.Hash(change.blob)
		}
	}
}

// unpackChart reads what pack has written, and returns nil for anything else.
func unpackChart(r *compact.Reader) *chart {
	c := &chart{without: readHashes(r), files: lookup{changes: make(map[string]changes)}}
	n := r.Count()
	c.list, c.index, c.files.from = make([]real, n), make(map[object.Hash]int, n), make([]int, n)
	var parents []int // places, of all
	counts := make([]int, n)
	for at := range c.list {
		c.list[at] = real{hash: r.Hash(), tree: r.Hash(), date: r.Int()}
		c.index[c.list[at].hash] = at
		if c.files.from[at] = at - int(r.Int()); c.files.from[at] < -1 || c.files.from[at] >= at {
			return nil
		}
		if c.list[at].edge = r.Is(); !c.list[at].edge {
			counts[at] = r.Count()
		}
		for range counts[at] {
			p := at - int(r.Int())
			if p < 0 || p >= n {
				return nil
			}
			parents = append(parents, p)
		}
	}
	hashes := make([]object.Hash, len(parents))
	for i, p := range parents {
		hashes[i] = c.list[p].hash
	}
	for at, count := range counts {
		c.list[at].parents, hashes = hashes[:count:count], hashes[count:]
	}
	for r.More() {
		name, of := r.Text(), changes{until: int(r.Int())}
		of.list = make([]change, r.Count())
		last := -1
		for i := range of.list {
			of.list[i] = change{at: int(r.Int()), blob: r.Hash()}
			if of.list[i].at <= last {
				return nil
			}
			last = of.list[i].at
		}
		if of.until > n || last >= of.until {
			return nil
		}
		c.files.changes[name] = of
		c.files.kept += len(of.list)
	}
	if r.Bad() || len(c.index) < n {
		return nil
	}
	return c
}
