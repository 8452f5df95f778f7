package purge

import (
	"context"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// readArchive reads the archived missions whose objects are here; others are
// purged where they are. After a fetch some may also have refs.
func (p *Plan) readArchive() error {
	tip, err := ledger.ArchiveTip(p.refs)
	if err == nil {
		p.archive, err = ledger.OpenArchive(p.objects, tip)
	}
	if err != nil {
		return err
	}
	return p.readEntries()
}

func (p *Plan) readEntries() error {
	p.archived, p.besides = make(map[record.ID]ledger.ArchiveEntry), make(map[record.ID]ledger.ArchiveEntry)
	for e, err := range p.archive.All() {
		if err != nil {
			return err
		}
		if e.Gone() || p.objects.Has(e.Ledger) != nil {
			continue
		}
		if id := e.ID; p.refs[id.Ref()].IsZero() {
			p.archived[id] = e
		} else {
			p.besides[id] = e
		}
	}
	return nil
}

// archiveMoves returns the moves of the archive's refs. Archived missions are
// rewritten like others, and a purged one leaves no trace there.
func (p *Plan) archiveMoves(ctx context.Context) ([]git.Update, error) {
	changes := make(map[record.ID]ledger.ArchiveEntry)
	all := maps.Clone(p.archived)
	maps.Copy(all, p.besides)
	for id, e := range all {
		is := e
		is.Ledger, is.Branch = p.rewrite.Successor(e.Ledger), p.rewrite.Successor(e.Branch)
		if slices.Contains(p.Target.Missions, id) || is.Ledger.IsZero() {
			changes[e.ID] = ledger.ArchiveEntry{}
			continue
		}
		if is.Ledger != e.Ledger { // the title may be of a turn that goes
			if l, err := ledger.At(p.objects, id, is.Ledger); err == nil {
				is.Title = ledger.ArchiveTitle(l.Mission.Title)
			}
		}
		is.Title = string(p.Target.Finder.Replace([]byte(is.Title)))
		if !e.Notes.IsZero() {
			notes, err := p.rewrite.Notes(ctx, id, e.Notes)
			if err != nil {
				return nil, err
			}
			is.Notes = notes
		}
		if name, ok := p.renamed[id]; ok {
			changes[e.ID] = ledger.ArchiveEntry{}
			is.ID = name
		}
		if is != e {
			changes[is.ID] = is
		}
	}
	if len(changes) == 0 && p.archive.Tip == p.refs[ledger.ArchiveRef] {
		return nil, nil
	}
	for id := range changes {
		p.inArchive = append(p.inArchive, id)
	}
	index, err := p.archive.With(changes)
	if err != nil {
		return nil, err
	}
	return index.Moves(p.refs)
}

// spoiled reports whether a remote's archive, as seen last, may have what goes.
func (p *Plan) spoiled(ref string) bool {
	if len(p.rewrite.Replaced()) > 0 || len(p.Target.Missions) > 0 {
		return true
	}
	seen, err := ledger.OpenArchive(p.objects, p.refs[ref])
	if err != nil {
		return false // it has nothing of an index
	}
	for e := range seen.All() {
		if len(p.Target.Finder.Spans([]byte(e.Title))) > 0 {
			return true
		}
	}
	return false
}
