package objectpurge

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Referrers are the doomed objects and all that lead to one.
type Referrers struct {
	to map[object.Hash][]object.Hash // the others that each refers to
}

// FindReferrers reads all commits, trees and tags. Damaged ones lead nowhere.
func FindReferrers(ctx context.Context, repo *git.Repo, doomed map[object.Hash]bool) (*Referrers, error) {
	g, err := ReadGraph(ctx, repo, doomed)
	if err != nil {
		return nil, err
	}
	return g.Leading(doomed), nil
}

// ReadGraph reads all commits, trees and tags. Of the blobs it knows some.
func ReadGraph(ctx context.Context, repo *git.Repo, blobs map[object.Hash]bool) (*Graph, error) {
	list, err := referrers(ctx, repo)
	// Listing all packs fails when a gc renames one, which may have ended
	// since.
	for try := 0; err != nil && (try == 0 || try < 4 && git.GCRuns(repo)); try++ {
		list, err = referrers(ctx, repo)
	}
	if err != nil {
		return nil, fmt.Errorf("list all objects: %w", err)
	}
	g := &Graph{blobs: blobs, number: make(map[object.Hash]int32)}
	objects := quiet(repo).Objects(ctx)
	defer objects.Close()
	err = objects.Each(list, func(_ int, obj *git.Object, err error) error {
		if err == nil {
			g.add(obj)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what leads to %d objects: %w", len(blobs), err)
	}
	return g, nil
}

func referrers(ctx context.Context, repo *git.Repo) (list []git.Wanted, err error) {
	err = quiet(repo).Split(ctx, nil, '\n', func(line []byte) error {
		text, kind, _ := bytes.Cut(line, []byte(" "))
		h, err := object.ParseHash(text)
		if err != nil {
			return fmt.Errorf("unexpected line %q", line)
		}
		switch string(kind) {
		case "tree":
			list = append(list, git.Wanted{Hash: h, Most: git.MaxTree})
		case "commit", "tag":
			list = append(list, git.Wanted{Hash: h, Most: git.MaxCommit})
		}
		return nil
	}, "cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch-check=%(objectname) %(objecttype)")
	return list, err
}

// A Graph has the references between objects, which are numbered, but for those
// to most blobs.
type Graph struct {
	blobs  map[object.Hash]bool // that it knows
	number map[object.Hash]int32
	hashes []object.Hash
	into   []int32 // by number: the last edge into it, or -1
	edges  []edge
}

type edge struct{ from, next int32 }

func (g *Graph) node(h object.Hash) int32 {
	n, known := g.number[h]
	if !known {
		n = int32(len(g.hashes))
		g.number[h] = n
		g.hashes, g.into = append(g.hashes, h), append(g.into, -1)
	}
	return n
}

func (g *Graph) add(obj *git.Object) {
	from := int32(-1)
	refer := func(h object.Hash) {
		if from < 0 {
			from = g.node(obj.Hash)
		}
		to := g.node(h)
		g.edges = append(g.edges, edge{from, g.into[to]})
		g.into[to] = int32(len(g.edges) - 1)
	}
	if obj.Type != plumbing.TreeObject {
		head, _, _ := bytes.Cut(obj.Content, []byte("\n\n"))
		for line := range bytes.Lines(head) {
			key, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
			switch string(key) {
			case "tree", "parent", "object":
				if h, err := object.ParseHash(value); err == nil {
					refer(h)
				}
			}
		}
		return
	}
	format := obj.Hash.Format()
	for rest := obj.Content; ; rest = rest[format.Size():] {
		mode, after, _ := bytes.Cut(rest, []byte(" "))
		_, after, ok := bytes.Cut(after, []byte{0})
		if rest = after; !ok || len(rest) < format.Size() {
			return
		}
		h := format.Hash(rest)
		if string(bytes.TrimLeft(mode, "0")) == "40000" || g.blobs[h] { // old programs wrote 040000
			refer(h)
		}
	}
}

// Knows reports whether an object is a commit, a tree or a tag that refers to
// another or is referred to, or one of the blobs.
func (g *Graph) Knows(h object.Hash) bool {
	_, known := g.number[h]
	return known || g.blobs[h]
}

// Leading walks from the doomed objects, blobs only of those that the graph
// knows, to all that lead there.
func (g *Graph) Leading(doomed map[object.Hash]bool) *Referrers {
	l := &Referrers{to: make(map[object.Hash][]object.Hash)}
	var next []object.Hash
	for h := range doomed {
		l.to[h] = nil
		next = append(next, h)
	}
	for len(next) > 0 {
		h := next[len(next)-1]
		next = next[:len(next)-1]
		n, known := g.number[h]
		if !known {
			continue
		}
		for e := g.into[n]; e >= 0; e = g.edges[e].next {
			from := g.hashes[g.edges[e].from]
			if _, seen := l.to[from]; !seen {
				next = append(next, from)
			}
			l.to[from] = append(l.to[from], h)
		}
	}
	return l
}

// Has reports whether an object is doomed or leads to one that is.
func (l *Referrers) Has(h object.Hash) bool { _, has := l.to[h]; return has }

// Without returns the objects that can go: all that the roots don't need.
func (l *Referrers) Without(roots []Root) map[object.Hash]bool {
	needed := make(map[object.Hash]bool)
	var next []object.Hash
	for _, r := range roots {
		next = append(next, r.Hashes...)
	}
	for len(next) > 0 {
		h := next[len(next)-1]
		next = next[:len(next)-1]
		if !needed[h] {
			needed[h] = true
			next = append(next, l.to[h]...)
		}
	}
	goes := make(map[object.Hash]bool)
	for h := range l.to {
		if !needed[h] {
			goes[h] = true
		}
	}
	return goes
}
