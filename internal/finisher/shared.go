package finisher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/workspace"
	"gitagent/turns"
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

// othersHere returns what turns of other sessions in this worktree have changed
// themselves since the mission began with what is to be finished.
func othersHere(ctx context.Context, w *workspace.Workspace, k *unfinished) (map[string]bool, error) {
	paths := make(map[string]bool)
	if len(k.turns) == 0 {
		return paths, nil
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	for _, s := range w.Store.All() {
		if s.Mission == "" || s.Mission == k.mission.ID || s.Worktree != w.Repo.GitDir {
			continue
		}
		err := turns.Each(ctx, w.Repo, s.Mission, func(t *turns.Turn) error {
			if t.At.Before(k.turns[0].started) {
				return errEarlier
			}
			own := t.Change()
			changed, err := differingCommits(objects, own.From, own.To)
			for _, path := range changed {
				paths[path] = true
			}
			return err
		})
		if err != nil && !errors.Is(err, errEarlier) && !errors.Is(err, git.ErrNotFound) && !git.Lost(err) && !errors.As(err, new(*ledger.UnreadError)) {
			return nil, err
		}
	}
	return paths, nil
}

var errEarlier = errors.New("it ended before")

// graft applies the turns' own changes to a tree, where others worked in some of
// them. only is as for [within].
func (k *unfinished) graft(objects *git.Objects, numbers ledger.Ranges, to object.Hash, only map[string]bool) (object.Hash, error) {
	for _, t := range k.turns {
		if !numbers.Has(t.number) {
			continue
		}
		from, err := objects.TreeOf(t.own)
		if err != nil {
			return to, err
		}
		code, err := objects.TreeOf(t.code)
		if err != nil {
			return to, err
		}
		found, _, err := gitdiff.Differences(objects, from, []object.Hash{code}, maxDiffering)
		if err != nil {
			return to, err
		}
		changes := make(map[string]object.Entry)
		var stuck []string
		for _, d := range found {
			if only != nil && !only[d.Path] {
				continue
			}
			e, ok, err := graftFile(objects, to, d)
			if err != nil {
				return to, err
			}
			if changes[d.Path] = e; !ok {
				stuck = append(stuck, d.Path)
			}
		}
		if len(stuck) > 0 {
			return to, fmt.Errorf("%w: turn %d changed what others did, in %s", ErrNotSplit, t.number, some(stuck))
		}
		if to, err = objects.EditTree(to, changes); err != nil {
			return to, err
		}
	}
	return to, objects.Flush()
}

// maxGrafted is the most bytes of a file whose lines are taken apart.
const maxGrafted = 8 << 20

// graftFile applies a file's change to a tree. ok is false if others' work is in
// its way.
func graftFile(objects *git.Objects, tree object.Hash, d gitdiff.Difference) (e object.Entry, ok bool, err error) {
	ours, err := objects.Lookup(tree, d.Path)
	switch {
	case err != nil:
		return ours, false, err
	case ours == d.Old || ours == d.New:
		return d.New, true, nil
	}
	var texts [3][]byte
	for i, e := range []object.Entry{ours, d.Old, d.New} {
		if e.Mode == filemode.Empty {
			continue
		}
		if e.Mode != filemode.Regular && e.Mode != filemode.Executable {
			return ours, false, nil
		}
		if texts[i], err = objects.Blob(e.Hash, maxGrafted); errors.Is(err, git.ErrTooLarge) {
			return ours, false, nil
		}
		if err != nil || bytes.IndexByte(texts[i], 0) >= 0 {
			return ours, false, err
		}
	}
	made, ok := gitdiff.Graft(texts[0], texts[1], texts[2])
	switch {
	case !ok:
		return ours, false, nil
	case len(made) == 0 && d.New.Mode == filemode.Empty:
		return object.Entry{}, true, nil
	}
	e = ours
	if e.Mode == filemode.Empty || d.Old.Mode != d.New.Mode && d.New.Mode != filemode.Empty {
		e.Mode = d.New.Mode
	}
	e.Hash, err = objects.Write(plumbing.BlobObject, made)
	return e, true, err
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
