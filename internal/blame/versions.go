package blame

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// versions holds what a file was in a graph's commits, under all its names.
type versions struct {
	repo     *git.Repo
	objects  *git.Objects
	history  *git.Objects // those with the ledgers
	graph    *graph
	promisor string   // the remote of a partial clone, "" for other clones
	next     []string // files that may be asked about after this one
	names    []string
	blobs    [][]object.Hash // by name and place; zero where there is none

	numbering *lineIDs
	texts     map[object.Hash]int32 // a blob's text, -1 if it was not read
	left      int                   // how many numbers may still be kept
	all       *contents             // nil before they are known
	tips      [][]int               // by place, see [tips]; nil before they are known
}

// Limits of what is kept: a file may have 100,000 versions of 10,000 lines.
const (
	maxBlob  = 16 << 20 // bytes of one version
	maxLines = 64 << 20 // of all versions
)

func newVersions(repo *git.Repo, objects *git.Objects, h *History, g *graph) *versions {
	return &versions{
		repo: repo, objects: objects, history: h.objects, graph: g, promisor: h.promisor,
		numbering: newNumbering(), texts: make(map[object.Hash]int32), left: maxLines,
	}
}

// add looks up the new names in the graph's commits, and reads the blobs.
func (v *versions) add(ctx context.Context, names ...string) error {
	for _, name := range names {
		if slices.Contains(v.names, name) {
			continue
		}
		blobs, err := v.named(ctx, name)
		if err != nil {
			return err
		}
		v.names, v.blobs, v.all, v.tips = append(v.names, name), append(v.blobs, blobs), nil, nil
	}
	return v.read(ctx)
}

// named returns what a file was in the graph's commits.
func (v *versions) named(ctx context.Context, name string) ([]object.Hash, error) {
	charted, err := v.graph.chart.blobs(ctx, v.repo, name, v.next)
	if err != nil {
		return nil, err
	}
	blobs := make([]object.Hash, len(v.graph.nodes))
	for at, n := range v.graph.nodes {
		if n.charted >= 0 {
			blobs[at] = charted[n.charted]
		}
	}
	return blobs, nil
}

// same reports whether two commits have equal content under all names.
func (v *versions) same(a, b int) bool {
	for _, blobs := range v.blobs {
		if blobs[a] != blobs[b] {
			return false
		}
	}
	return true
}

// appears reports whether one commit has a name that the other lacks.
func (v *versions) appears(in, from int) bool {
	for _, blobs := range v.blobs {
		if !blobs[in].IsZero() && blobs[from].IsZero() {
			return true
		}
	}
	return false
}

// read reads the lines of unread versions, oldest first: neighbours are alike.
func (v *versions) read(ctx context.Context) error {
	var wanted []git.Wanted
	asked := make(map[object.Hash]bool)
	for at := range v.graph.nodes {
		for _, blobs := range v.blobs {
			hash := blobs[at]
			if _, known := v.texts[hash]; !known && !hash.IsZero() && !asked[hash] {
				asked[hash] = true
				wanted = append(wanted, git.Wanted{Hash: hash, Most: maxBlob})
			}
		}
	}
	if v.promisor != "" {
		missing := make([]object.Hash, len(wanted))
		for i, w := range wanted {
			missing[i] = w.Hash
		}
		if err := v.repo.Prefetch(ctx, v.promisor, missing); err != nil {
			return err
		}
	}
	type version struct {
		blob object.Hash
		text []byte
	}
	texts := make(chan version, 16) // git reads on while lines are numbered
	var done sync.WaitGroup
	done.Go(func() {
		for t := range texts {
			v.texts[t.blob] = -1
			if t.text != nil && v.left > 0 {
				text := v.numbering.number(t.text)
				v.texts[t.blob] = text
				v.left -= v.numbering.in.lines[text]
			}
		}
	})
	err := v.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err == nil && obj.Type == plumbing.BlobObject {
			texts <- version{wanted[i].Hash, obj.Content}
		} else {
			texts <- version{blob: wanted[i].Hash}
		}
		return nil
	})
	close(texts)
	done.Wait()
	return err
}

// began is the state in which a turn started. That of one which no event told
// of, or in which HEAD went to another branch, is not in its record: then it is
// the one before it in its mission.
func (v *versions) began(t *pastTurn) object.Hash {
	if !t.start.IsZero() {
		return t.start
	}
	at, ok := v.graph.index[t.base]
	if ok && !v.graph.nodes[at].made && v.graph.nodes[at].date > t.started.Unix() && t.before != nil && !t.before.code.IsZero() {
		return t.before.code
	}
	return t.base
}

// lacked reports whether a line was absent when a turn started.
func (v *versions) lacked(t *pastTurn, line string) bool {
	at, ok := v.graph.index[v.began(t)]
	if !ok {
		return true
	}
	n, known := v.numbering.words[maphash.Bytes(v.numbering.seed, []byte(line))]
	return !known || !v.has(at, n)
}

// besides reports whether a line that is new in a turn is somebody else's, or
// may be: the end without the turn's change has it. That says nothing of a line
// in the turn's base, as after a switch of branches.
func (v *versions) besides(t *pastTurn, line string) (theirs, unsure bool) {
	n, known := v.numbering.words[maphash.Bytes(v.numbering.seed, []byte(line))]
	switch {
	case t.others.IsZero() || !known || !v.lacked(t, line):
		return false, false
	case v.in(t.base, n):
		return false, true
	case v.in(t.others, n):
		return true, false
	}
	return false, v.in(t.shared, n)
}

// in reports whether a commit, if it is in the graph, has a line.
func (v *versions) in(commit object.Hash, line int32) bool {
	at, ok := v.graph.index[commit]
	return ok && v.has(at, line)
}

// wrote reports whether a line appeared in a turn: it was there at the end, and
// neither at the start nor in commits that HEAD moved to.
func (v *versions) wrote(t *pastTurn, line string) bool {
	at, ok := v.graph.index[t.code]
	if !ok {
		return false
	}
	n, known := v.numbering.words[maphash.Bytes(v.numbering.seed, []byte(line))]
	if !known || !v.has(at, n) {
		return false
	}
	if !v.lacked(t, line) {
		return false
	}
	if _, told := v.graph.index[t.others]; told && !v.in(t.base, n) {
		return !v.in(t.others, n)
	}
	began := v.began(t)
	// Stop at commits that were not made in the turn.
	for todo := []int{at}; len(todo) > 0; {
		node := v.graph.nodes[todo[0]]
		todo = todo[1:]
		switch {
		case node.made || slices.Contains(node.writers, t):
			for _, p := range node.real {
				if v.has(p, n) {
					todo = append(todo, p)
				}
			}
		case node.hash != began:
			return false
		}
	}
	return true
}

func (v *versions) has(at int, line int32) bool {
	return slices.ContainsFunc(v.blobs, func(blobs []object.Hash) bool {
		text, ok := v.texts[blobs[at]]
		return ok && text >= 0 && v.numbering.in.has(text, line)
	})
}

func (v *versions) contents() *contents {
	if v.all != nil {
		return v.all
	}
	c := &contents{of: make([]int, len(v.graph.nodes)), in: &v.numbering.in}
	known := make(map[string]int)
	var key []byte
	for at := range v.graph.nodes {
		key = key[:0]
		for _, blobs := range v.blobs {
			key = v.repo.Format().Append(key, blobs[at])
		}
		version, ok := known[string(key)]
		if !ok {
			version = len(c.texts)
			known[string(key)] = version
			var texts []int32
			for _, blobs := range v.blobs {
				if text, ok := v.texts[blobs[at]]; ok && text >= 0 {
					texts = append(texts, text)
				}
			}
			c.texts = append(c.texts, texts)
		}
		c.of[at] = version
	}
	v.all = c
	return c
}
