package finisher

import (
	"context"
	"fmt"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/workspace"
)

// dropOffBranch marks the turns that this finish cannot include: they ended
// while HEAD was on another branch, and neither the mission's branch nor HEAD
// has their changes. If only such turns come last, the mission ends before them
// this time. trees are the merge's result or, if it conflicts, both sides.
func dropOffBranch(ctx context.Context, w *workspace.Workspace, g *git.Repo, k *unfinished, trees ...object.Hash) error {
	if err := dropped(ctx, w, k); err != nil {
		return err
	}
	apart, err := apart(ctx, w, k)
	if err != nil || len(apart) == 0 {
		return err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	for i := range k.turns {
		t := &k.turns[i]
		if apart[i] {
			brought, err := brings(ctx, g, objects, t, trees)
			if err != nil {
				return fmt.Errorf("look for the work of turn %d: %w", t.number, err)
			}
			t.elsewhere = !brought
		}
	}
	k.endBefore()
	return nil
}

// endBefore ends the mission before its last turns if they are elsewhere.
func (k *unfinished) endBefore() {
	end, last := -1, -1 // the first that is left out after the last that is not, and the last left out
	for i, t := range k.turns {
		switch {
		case t.dropped:
		case t.elsewhere && end < 0:
			end, last = i, i
		case t.elsewhere:
			last = i
		case t.changed:
			end = -1
		}
	}
	if end < 0 {
		return
	}
	on := k.turns[last].branch
	if on == "" {
		on = "no branch"
	}
	k.missing = fmt.Errorf("turn %d was %w, on %s", k.turns[last].number, ErrElsewhere, on)
	k.end(k.turns[end].number-1, k.tip)
}

// leftOut returns the omitted turns of an attached mission.
func (k *unfinished) leftOut() ledger.Ranges {
	var list []int
	for _, t := range k.turns {
		if k.attached && t.omitted() {
			list = append(list, t.number)
		}
	}
	return ledger.RangesOf(list...)
}

// dropped marks turns that the mission's branch lost to a reset.
func dropped(ctx context.Context, w *workspace.Workspace, k *unfinished) error {
	if k.branch == "" {
		return nil
	}
	of := make(map[string]*worked)
	var in strings.Builder
	for i := range k.turns {
		if t := &k.turns[i]; t.changed && !t.committed && "refs/heads/"+t.branch == k.branch {
			of[t.code.String()] = t
			in.WriteString(w.Repo.Format().Text(t.code) + "\n")
		}
	}
	if len(of) == 0 {
		return nil
	}
	in.WriteString("^" + k.tip.String() + "\n")
	out, err := w.Repo.Output(ctx, strings.NewReader(in.String()), "rev-list", "--ancestry-path", "--stdin")
	for line := range strings.Lines(string(out)) {
		if t := of[strings.TrimSpace(line)]; t != nil {
			t.dropped = true
		}
	}
	return err
}

// apart returns the indices of changed turns made on another branch whose
// commits neither the branch nor HEAD has. Those made on it were rebased.
func apart(ctx context.Context, w *workspace.Workspace, k *unfinished) (map[int]bool, error) {
	apart := make(map[int]bool)
	if k.branch == "" {
		return nil, nil // the tip is the last turn's commit
	}
	of := make(map[string][]int)
	var in strings.Builder
	for i, t := range k.turns {
		if t.changed && !t.committed && "refs/heads/"+t.branch != k.branch {
			of[t.code.String()] = append(of[t.code.String()], i)
			in.WriteString(w.Repo.Format().Text(t.code) + "\n")
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	in.WriteString("^" + k.tip.String() + "\n^" + k.head.Commit.String() + "\n")
	out, err := w.Repo.Output(ctx, strings.NewReader(in.String()), "rev-list", "--stdin")
	for line := range strings.Lines(string(out)) {
		for _, i := range of[strings.TrimSpace(line)] {
			apart[i] = true
		}
	}
	return apart, err
}

func brings(ctx context.Context, g *git.Repo, objects *git.Objects, t *worked, trees []object.Hash) (bool, error) {
	base, err := objects.TreeOf(t.base)
	if err != nil {
		return false, err
	}
	code, err := objects.TreeOf(t.code)
	if err != nil {
		return false, err
	}
	for _, tree := range trees {
		merged, err := gitdiff.MergeTrees(ctx, g, objects, base, tree, code)
		if err != nil {
			return false, err
		}
		if len(merged.Conflicts) == 0 && merged.Tree == tree {
			return true, nil
		}
	}
	return false, nil
}
