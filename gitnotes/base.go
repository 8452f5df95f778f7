package gitnotes

import (
	"errors"
	"slices"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
)

// mergeBase returns the best common ancestor of two commits, the newest if
// there are several, and the zero hash if there is none.
func mergeBase(s Store, a, b object.Hash) (object.Hash, error) {
	bases, err := commonAncestors(s, a, b)
	if err != nil {
		return object.Hash{}, err
	}
	// After a wrong clock one may be an ancestor of another.
	for _, base := range bases {
		redundant := false
		for _, other := range bases {
			if other == base || redundant {
				continue
			}
			common, err := commonAncestors(s, base, other)
			if err != nil {
				return object.Hash{}, err
			}
			redundant = slices.Contains(common, base)
		}
		if !redundant {
			return base, nil
		}
	}
	return object.Hash{}, nil
}

const (
	fromA    = 1 << iota
	fromB    // from both, a common ancestor
	obsolete // from a better common ancestor
	fromBoth = fromA | fromB
)

// commonAncestors returns the best common ancestors of a and b, newest first,
// and perhaps ancestors of these where clocks went backwards. It walks both
// histories at once, from the newest commit to the oldest, and stops when only
// ancestors of common ancestors are left: commits that are older than the
// answer are not loaded, as long as the clocks were right.
func commonAncestors(s Store, a, b object.Hash) ([]object.Hash, error) {
	type commit struct {
		hash object.Hash
		*object.Commit
	}
	marks := make(map[object.Hash]int)
	var queue []commit // newest first
	reach := func(hash object.Hash, mark int) error {
		if marks[hash]&mark == mark {
			return nil
		}
		c, err := readCommit(s, hash)
		if err != nil {
			return err
		}
		marks[hash] |= mark
		i := sort.Search(len(queue), func(i int) bool { return queue[i].Committer.When.Before(c.Committer.When) })
		queue = slices.Insert(queue, i, commit{hash, c})
		return nil
	}
	if err := errors.Join(reach(a, fromA), reach(b, fromB)); err != nil {
		return nil, err
	}
	var common []object.Hash
	for slices.ContainsFunc(queue, func(c commit) bool { return marks[c.hash]&obsolete == 0 }) {
		c := queue[0]
		queue = queue[1:]
		mark := marks[c.hash]
		if mark&fromBoth == fromBoth {
			if mark&obsolete == 0 && !slices.Contains(common, c.hash) {
				common = append(common, c.hash)
			}
			mark |= obsolete
		}
		for _, parent := range c.Parents {
			// History ends at a missing parent, as in a shallow clone.
			if err := reach(parent, mark); err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
				return nil, err
			}
		}
	}
	return common, nil
}
