package handoffstore

import (
	"context"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// together is how many missions are read in one go.
const together = 256

// Each calls f for missions, given with the tips of their ledgers and in order
// of their ids, with what [List] returns of each. An error of f ends it.
//
// What some hundred of them share is read once, as forks have the handoffs of
// their sources. f must not change a handoff.
func Each(ctx context.Context, repo *git.Repo, tips map[record.ID]object.Hash, f func(id record.ID, list []*Handoff, err error) error) error {
	objects := repo.Objects(ctx)
	defer objects.Close()
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(tips)), together) {
		s := &shelves{all: make(map[object.Hash]*shelf), one: make(map[object.Hash]*stored)} // no more is held at once
		some := make([]glimpse, len(ids))
		for i, id := range ids {
			some[i] = glimpse{shelves: s, id: id}
			s.Want(tips[id], plumbing.CommitObject, git.MaxCommit, some[i].commit)
		}
		if err := s.Run(objects); err != nil {
			return err
		}
		for i := range some {
			list, whole := some[i].list()
			var err error
			if !whole { // and this says why
				list, err = List(ctx, repo, ids[i])
			}
			if err := f(ids[i], list, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// A shelves is the handoffs of many missions, by the hashes of what holds them.
type shelves struct {
	git.Reads
	all map[object.Hash]*shelf
	one map[object.Hash]*stored
}

// A shelf is a ledger's directory of handoffs.
type shelf struct {
	numbers []ledger.Numbered // the last first
	err     error
}

// A stored handoff is read from its directory.
type stored struct {
	handoff *Handoff // nil if the directory has no record
	err     error
}

// A glimpse is what is read of one mission.
type glimpse struct {
	*shelves
	id    record.ID
	read  bool // what a ledger must have
	shelf *shelf
}

func (g *glimpse) commit(content []byte, err error) {
	if err != nil {
		return
	}
	if c, err := object.ParseCommit(content); err == nil {
		g.Want(c.Tree, plumbing.TreeObject, ledger.MaxTree, g.top)
	}
}

func (g *glimpse) top(content []byte, err error) {
	entries, err := g.Tree(content, err)
	head, ok := ledger.FileIn(entries, ledger.HeadFile)
	if err != nil || !ok {
		return
	}
	g.Want(head, plumbing.BlobObject, ledger.MaxHead, func(content []byte, err error) {
		if err == nil {
			_, err = record.ParseHead(g.id, string(content), g.Format())
		}
		g.read = err == nil
	})
	g.shelf = new(shelf)
	if dir := entries["handoffs"]; dir.Mode == filemode.Dir {
		g.shelf = g.shelfAt(dir.Hash)
	}
}

// shelfAt returns a directory of handoffs, which is filled once it is read.
func (s *shelves) shelfAt(dir object.Hash) *shelf {
	at, asked := s.all[dir]
	if asked {
		return at
	}
	at = new(shelf)
	s.all[dir] = at
	s.Want(dir, plumbing.TreeObject, ledger.MaxTree, func(content []byte, err error) {
		var entries map[string]object.Entry
		if entries, at.err = s.Tree(content, err); at.err != nil {
			return
		}
		at.numbers = ledger.NewestHandoffs(entries)
		for _, n := range at.numbers {
			s.ask(n)
		}
	})
	return at
}

func (s *shelves) ask(n ledger.Numbered) {
	if s.one[n.Hash] != nil {
		return
	}
	h := new(stored)
	s.one[n.Hash] = h
	s.Want(n.Hash, plumbing.TreeObject, ledger.MaxTree, func(content []byte, err error) {
		var entries map[string]object.Entry
		entries, h.err = s.Tree(content, err)
		blob, ok := ledger.FileIn(entries, recordFile)
		if !ok {
			return
		}
		s.Want(blob, plumbing.BlobObject, ledger.MaxHandoff, func(content []byte, err error) {
			if h.err = err; err == nil {
				h.handoff, h.err = parseAs(content, s.Format(), n.Number)
			}
		})
	})
}

// list returns a mission's handoffs in order. whole is false if any of it could
// not be read.
func (g *glimpse) list() (list []*Handoff, whole bool) {
	if !g.read || g.shelf.err != nil {
		return nil, false
	}
	for _, n := range slices.Backward(g.shelf.numbers) {
		h := g.one[n.Hash]
		switch {
		case h.err != nil || h.handoff != nil && h.handoff.Number != n.Number:
			return nil, false
		case h.handoff != nil:
			list = append(list, h.handoff)
		}
	}
	return list, true
}
