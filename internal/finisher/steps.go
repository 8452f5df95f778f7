package finisher

import (
	"context"
	"fmt"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/workspace"
)

type step struct {
	turns   ledger.Ranges
	tree    object.Hash
	message string
}

// steps plans the commits from one tree to another: one, or one for each set of
// turns in f.Split, with the turns' changes applied to the previous one. The
// last has the rest. With only, other paths stay as they are.
func steps(ctx context.Context, w *workspace.Workspace, g *git.Repo, f Finishing, k *unfinished, from, to object.Hash, only map[string]bool) ([]step, error) {
	split := f.Split
	if len(split) == 0 {
		split = []ledger.Ranges{k.numbers()}
	} else if err := k.splits(split); err != nil {
		return nil, err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	var list []step
	for i, turns := range split {
		s := step{turns: turns, tree: to}
		var err error
		if i < len(split)-1 {
			if s.tree, err = apply(ctx, g, objects, k, turns, from, only); err != nil {
				return nil, err
			}
		}
		if len(split) > 1 && s.tree == from {
			return nil, fmt.Errorf("%w: turns %s leave nothing to commit", ErrNotSplit, turns)
		}
		from = s.tree
		if s.message, err = message(ctx, w, f, k, turns, len(split) == 1); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// splits checks the user's sets of turns.
func (k *unfinished) splits(split []ledger.Ranges) error {
	var all ledger.Ranges
	for _, turns := range split {
		for _, t := range k.turns {
			if turns.Has(t.number) && all.Has(t.number) {
				return fmt.Errorf("%w: turn %d is in two commits", ErrNotSplit, t.number)
			}
		}
		all = all.With(turns)
	}
	numbers := k.numbers()
	for _, part := range all {
		for _, n := range []int{part.First, part.Last} {
			if !numbers.Has(n) {
				return fmt.Errorf("%w: there is no turn %d to commit, only %s", ErrNotSplit, n, numbers)
			}
		}
	}
	var left []int
	for _, t := range k.turns {
		if t.changed && !t.committed && !t.omitted() && !all.Has(t.number) {
			left = append(left, t.number)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: turns %s changed something, and are in no commit", ErrNotSplit, ledger.RangesOf(left...))
	}
	return nil
}

// apply merges the turns' changes into a tree, consecutive turns at once.
func apply(ctx context.Context, g *git.Repo, objects *git.Objects, k *unfinished, turns ledger.Ranges, to object.Hash, only map[string]bool) (object.Hash, error) {
	if k.mixed {
		return k.graft(objects, turns, to, only)
	}
	for i := 0; i < len(k.turns); i++ {
		if !turns.Has(k.turns[i].number) {
			continue
		}
		first := i
		for i+1 < len(k.turns) && turns.Has(k.turns[i+1].number) {
			i++
		}
		base, err := objects.TreeOf(k.turns[first].base)
		if err != nil {
			return to, err
		}
		theirs, err := objects.TreeOf(k.turns[i].code)
		if err != nil {
			return to, err
		}
		merged, err := gitdiff.MergeTrees(ctx, g, objects, base, to, theirs)
		if err != nil {
			return to, err
		}
		if len(merged.Conflicts) > 0 {
			var paths []string
			for _, c := range merged.Conflicts {
				paths = append(paths, c.Path)
			}
			slices.Sort(paths)
			return to, fmt.Errorf("%w: turns %s can't be taken without others that changed the same in %s", ErrNotSplit, turns, some(slices.Compact(paths)))
		}
		if to, err = within(objects, to, merged.Tree, only); err != nil {
			return to, err
		}
	}
	return to, objects.Flush()
}

// within returns a tree with only these of its changes; all if only is nil.
func within(objects *git.Objects, from, to object.Hash, only map[string]bool) (object.Hash, error) {
	if only == nil {
		return to, nil
	}
	found, _, err := gitdiff.Differences(objects, from, []object.Hash{to}, maxDiffering)
	if err != nil {
		return to, err
	}
	changes := make(map[string]object.Entry)
	for _, d := range found {
		if only[d.Path] {
			changes[d.Path] = d.New
		}
	}
	return objects.EditTree(from, changes)
}
