package purgemap

import (
	"context"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// A line is a ledger, from its newest commit, with what it keeps.
type line struct {
	id      record.ID
	landed  bool
	besides bool // archived, of a mission that also has refs
	tip     object.Hash
	events  []object.Hash
	kept    []object.Hash
	keeps   map[object.Hash][]object.Hash // of them, what each event keeps
}

// archived returns the archived ledgers to which the map may apply. Without
// news only their tips are looked at, as the known map was applied before.
func (m *Matching) archived(ctx context.Context, news bool) (list []*line, err error) {
	refs, err := m.Repo.Refs(ctx, ledger.ArchiveRef)
	if err != nil || len(refs) == 0 || m.Map.Empty() {
		return nil, err
	}
	tip, err := ledger.ArchiveTip(refs)
	if err != nil {
		return nil, err
	}
	index, err := ledger.OpenArchive(m.Objects, tip)
	if err != nil {
		return nil, err
	}
	all := m.Map.classes(func(sshsig.Public) bool { return true })
	for e, err := range index.All() {
		if err != nil {
			return nil, err
		}
		if tip := e.Ledger; !e.Gone() && (news || all[mask(tip)] != nil) && m.Objects.Has(tip) == nil {
			list = append(list, &line{id: e.ID, tip: tip})
		}
	}
	return list, nil
}

// lines reads the ledgers here, the fetched, and those of There that are here.
func (m *Matching) lines(ctx context.Context, archived []*line) (list, there []*line, err error) {
	here, err := m.Repo.Refs(ctx, "refs/agent/missions/")
	if err != nil {
		return nil, nil, err
	}
	if m.Landing != "" {
		landed, err := m.Repo.Refs(ctx, m.Landing+"missions/")
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(here, landed)
	}
	for _, ref := range slices.Sorted(maps.Keys(here)) {
		id, err := record.ParseID(ref[strings.LastIndexByte(ref, '/')+1:])
		if err != nil {
			continue
		}
		list = append(list, &line{id: id, landed: ref != id.Ref(), tip: here[ref]})
	}
	for _, l := range archived {
		_, l.besides = here[l.id.Ref()]
		list = append(list, l)
	}
	for _, tip := range m.There {
		if m.Objects.Has(tip) == nil {
			there = append(there, &line{tip: tip})
		}
	}
	return list, there, m.walk(ctx, slices.Concat(list, there))
}

func (m *Matching) walk(ctx context.Context, list []*line) error {
	tips := make([]object.Hash, len(list))
	for i, l := range list {
		tips[i] = l.tip
	}
	events := make(map[object.Hash]*ledger.CommitEvent)
	for e, err := range ledger.Links(ctx, m.Repo, tips...) {
		if err != nil {
			return err
		}
		events[e.Hash] = e
	}
	for _, l := range list {
		l.keeps = make(map[object.Hash][]object.Hash)
		for e := events[l.tip]; e != nil; e = events[e.Before] {
			l.events, l.kept, l.keeps[e.Hash] = append(l.events, e.Hash), append(l.kept, e.Keeps...), e.Keeps
		}
	}
	return nil
}
