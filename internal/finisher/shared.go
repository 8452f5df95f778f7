package finisher

import (
	"context"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/workspace"
)

// decideShared decides where the turns' own changes begin where others worked
// in them, too: what may be others' work is taken only if the user says so.
func (k *unfinished) decideShared(ctx context.Context, w *workspace.Workspace, f Finishing) error {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	unsure := make(map[string]bool)
	for _, t := range k.turns {
		if t.own == t.sure || t.committed {
			continue
		}
		paths, err := differingCommits(objects, t.own, t.sure)
		if err != nil {
			return err
		}
		for _, path := range paths {
			unsure[path] = true
		}
	}
	if len(unsure) > 0 && f.Shared != nil {
		if take, err := f.Shared(slices.Sorted(maps.Keys(unsure))); take || err != nil {
			return err
		}
	}
	for i := range k.turns {
		k.turns[i].own = k.turns[i].sure
	}
	return nil
}

func differingCommits(objects *git.Objects, a, b object.Hash) ([]string, error) {
	from, err := objects.TreeOf(a)
	if err != nil {
		return nil, err
	}
	to, err := objects.TreeOf(b)
	if err != nil {
		return nil, err
	}
	return differing(objects, from, to)
}

// unmix gives the mixed paths what the turns themselves made of HEAD's files.
// What others did there stays in the worktree.
func (k *unfinished) unmix(ctx context.Context, w *workspace.Workspace, g *git.Repo, p *pick) error {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	own, err := apply(ctx, g, objects, k, k.numbers(), p.head, p.mixed)
	if err != nil {
		return err
	}
	found, _, err := gitdiff.Differences(objects, p.head, []object.Hash{own}, maxDiffering)
	if err != nil {
		return err
	}
	changes := make(map[string]object.Entry)
	for path := range p.mixed {
		if changes[path], err = objects.Lookup(p.head, path); err != nil {
			return err
		}
		delete(p.paths, path)
	}
	for _, d := range found {
		changes[d.Path], p.paths[d.Path] = d.New, true
	}
	if p.tree, err = objects.EditTree(p.tree, changes); err != nil {
		return err
	}
	return objects.Flush()
}
