package bisect

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git/object"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrSame reports that the good and the bad state have the same files.
var ErrSame = errors.New("both have the same files")

// A Bisection is the states from a good one to a bad one, with their verdicts.
type Bisection struct {
	States   []*turns.State // the good one first; without repeats of the same files
	Verdicts []Verdict
	Foreign  bool // one is untrusted but accepted

	trees []object.Hash // of the states; zero where that is not known
}

// New returns the bisection of the states on a way, see [turns.Path].
func New(ctx context.Context, w *workspace.Workspace, way []*turns.State) (*Bisection, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	roll := &turns.Writers{Workspace: w, Objects: objects}
	b := new(Bisection)
	for _, s := range way {
		tree, verdict := object.Hash{}, Unknown
		if s.Known() == nil {
			var err error
			if tree, err = objects.TreeOf(s.Commit); err != nil {
				return nil, fmt.Errorf("look at the files of %s: %w", s.Describe(), err)
			}
			verdict = Untried
		}
		if !s.Saved {
			by, err := roll.By(ctx, s.Turn)
			if err != nil {
				return nil, err
			}
			b.Foreign = b.Foreign || by == trust.Unknown
		}
		b.add(s, tree, verdict)
	}
	if last := len(b.States) - 1; b.trees[0] == b.trees[last] {
		return nil, ErrSame
	}
	return b, nil
}

// add adds the next state, unless it has the files of the last one.
func (b *Bisection) add(s *turns.State, tree object.Hash, v Verdict) {
	if n := len(b.States); n > 0 && v != Unknown && b.trees[n-1] == tree {
		return
	}
	b.States, b.trees, b.Verdicts = append(b.States, s), append(b.trees, tree), append(b.Verdicts, v)
}

// Judge sets the verdict of a state and all others with its files.
func (b *Bisection) Judge(i int, v Verdict) {
	for j, tree := range b.trees {
		if tree == b.trees[i] {
			b.Verdicts[j] = v
		}
	}
}

// Named returns the names of the states with a verdict.
func (b *Bisection) Named(v Verdict) []string {
	names := []string{}
	for i, s := range b.States {
		if b.Verdicts[i] == v {
			names = append(names, s.String())
		}
	}
	return names
}
