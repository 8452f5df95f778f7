package purgerewrite

import (
	"encoding/json"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Two clones may have purged the same commits, each in a way of its own. What
// one of them lacks of the other tells what was purged there.

// LacksTurns returns the turns of a ledger of which nothing is left, unlike in
// another one.
func LacksTurns(objects *git.Objects, event, other object.Hash) ([]record.TurnID, error) {
	is, err := objects.At(event, "turns")
	if err != nil {
		return nil, err
	}
	there, err := objects.At(other, "turns")
	if err != nil || is.Hash.IsZero() || there.Hash.IsZero() {
		return nil, err
	}
	return lacksTurns(objects, is.Hash, there.Hash)
}

func lacksTurns(objects *git.Objects, tree, other object.Hash) (list []record.TurnID, err error) {
	if tree == other {
		return nil, nil
	}
	is, err := objects.Tree(tree, ledger.MaxTree)
	if err != nil {
		return nil, err
	}
	there, err := objects.Tree(other, ledger.MaxTree)
	if err != nil {
		return nil, err
	}
	for name, e := range is {
		to, has := there[name]
		if !has || to == e {
			continue
		}
		if e.Mode == filemode.Dir {
			below, err := lacksTurns(objects, e.Hash, to.Hash)
			if err != nil {
				return nil, err
			}
			list = append(list, below...)
			continue
		}
		content, err := objects.Blob(e.Hash, ledger.MaxHandoff)
		if err != nil {
			return nil, err
		}
		was, err := objects.Blob(to.Hash, ledger.MaxHandoff)
		if err != nil {
			return nil, err
		}
		var s shape
		if blankRecord(content) && !blankRecord(was) && json.Unmarshal(content, &s) == nil {
			list = append(list, record.TurnID{Mission: s.Mission, Turn: s.Turn})
		}
	}
	return list, nil
}

// LacksPaths returns the files that a state lacks, unlike another one, unless
// its whole turn was purged.
func LacksPaths(objects *git.Objects, state, other object.Hash) ([]string, error) {
	is, err := objects.Commit(state)
	if err != nil {
		return nil, err
	}
	there, err := objects.Commit(other)
	if err != nil || is.Message != there.Message && is.Message == blankMessage(there.Message) {
		return nil, err
	}
	return lacksPaths(objects, is.Tree, there.Tree)
}

// lacksPaths compares a tree, or none, with another one.
func lacksPaths(objects *git.Objects, tree, other object.Hash) (list []string, err error) {
	if tree == other {
		return nil, nil
	}
	is := make(map[string]object.Hash) // by mode and name
	if !tree.IsZero() {
		entries, err := rawTree(objects, tree)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			is[string(e.Head)] = e.Hash
		}
	}
	there, err := rawTree(objects, other)
	if err != nil {
		return nil, err
	}
	for _, e := range there {
		hash, has := is[string(e.Head)]
		if e.Kind() != filemode.Dir {
			if !has {
				list = append(list, e.Name)
			}
			continue
		}
		below, err := lacksPaths(objects, hash, e.Hash)
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			list = append(list, e.Name+"/"+name)
		}
	}
	return list, nil
}

func rawTree(objects *git.Objects, tree object.Hash) ([]object.RawEntry, error) {
	content, err := objects.Read(plumbing.TreeObject, tree, git.MaxTree)
	if err != nil {
		return nil, err
	}
	return object.ParseRawTree(tree.Format(), content)
}
