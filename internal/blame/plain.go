package blame

import (
	"context"
	"slices"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

// plain is what git says by itself. Where it is known what the file was in the
// commits, git is told of parents with which it passes over those that did not
// change it, as it would without being told, one by one.
func (q *question) plain(ctx context.Context, v *versions) (blamed []gitdiff.Blamed, err error) {
	if q.ignored, err = gitdiff.IgnoredRevs(ctx, q.h.w.Repo, q.h.conf); err != nil {
		return nil, err
	}
	if v != nil && len(q.r.Options) == 0 && len(q.ignored) == 0 && q.h.whole() {
		if s := q.shortcut(v); s != nil {
			if blamed, err := q.told(ctx, v.graph, s.parents, q.r.Ranges); err != nil || s.correct(v.graph, blamed) {
				return blamed, err
			}
		}
	}
	return q.blame(ctx, q.r.Since, q.r.Ranges, "")
}

// A shortcut is a way through a graph on which git finds what it would find on
// its own.
type shortcut struct {
	parents [][]int // that git is told of, by place
	instead [][]int // by place, for each real parent the one that git is told of
	old     []bool  // by place, what comes no later than the commit since which is asked; nil without one
}

// shortcut returns the way from the question's commit, nil if the graph lacks
// what is needed.
func (q *question) shortcut(v *versions) *shortcut {
	nodes := v.graph.nodes
	start, known := v.graph.index[q.commit]
	if !known || nodes[start].edge {
		return nil
	}
	s := &shortcut{parents: make([][]int, len(nodes)), instead: make([][]int, len(nodes))}
	if !q.r.Since.IsZero() {
		since, known := v.graph.index[q.r.Since]
		if !known {
			return nil
		}
		real := make([][]int, len(nodes))
		for at, n := range nodes {
			real[at] = n.real
		}
		s.old = reached(since, real)
	}
	blobs := v.blobs[slices.Index(v.names, q.r.Path)]
	named := s.followed(nodes, start, blobs)
	to := make([]int, len(nodes)) // the oldest commit with the same file, by git's way there
	for at, n := range nodes {
		to[at] = at
		if n.edge || s.old != nil && s.old[at] {
			continue // git goes on as it would, or need not
		}
		for _, p := range n.real {
			by := p
			if named[at] && !blobs[p].IsZero() {
				if by = to[p]; to[at] == at && blobs[p] == blobs[at] {
					to[at] = by
				}
			}
			s.instead[at] = append(s.instead[at], by)
			if !slices.Contains(s.parents[at], by) {
				s.parents[at] = append(s.parents[at], by)
			}
		}
	}
	return s
}

// followed tells in which commits git can only come to the file by its present
// name: where it had none, git looks for another one from there on.
func (s *shortcut) followed(nodes []*node, start int, blobs []object.Hash) []bool {
	named, lost := make([]bool, len(nodes)), make([]bool, len(nodes))
	named[start] = true
	for at := start; at >= 0; at-- {
		lost[at] = lost[at] || named[at] && blobs[at].IsZero()
		for _, p := range nodes[at].real {
			named[p], lost[p] = named[p] || named[at], lost[p] || lost[at]
		}
		named[at] = named[at] && !lost[at]
	}
	return named
}

// correct makes an answer what git would have said without the shortcut. It
// reports false where it can't be told what is old.
func (s *shortcut) correct(g *graph, blamed []gitdiff.Blamed) bool {
	for i := range blamed {
		b := &blamed[i]
		at, known := g.index[b.Commit]
		if s.old != nil {
			if !known || g.nodes[at].edge && !s.old[at] {
				return false
			}
			b.Before = s.old[at]
		}
		if !known {
			continue
		}
		for k, by := range s.instead[at] {
			if g.nodes[by].hash == b.Previous {
				b.Previous = g.nodes[g.nodes[at].real[k]].hash
				break
			}
		}
	}
	return true
}
