package fetcher

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/purgemap"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// A ReturnedError reports that a remote has again what was purged there, as
// after a backup was restored. Here it was purged as it came.
type ReturnedError struct {
	Remote   string
	Missions []record.ID
	Clean    time.Time // when the remote was last seen without it
	Replaced bool      // there, too
	Agreed   bool      // something may be sent to it
}

func (e *ReturnedError) Error() string {
	const most = 3
	var names []string
	for _, id := range e.Missions[:min(len(e.Missions), most)] {
		names = append(names, string(id))
	}
	if n := len(e.Missions) - most; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	what := "it stays there, as nothing may be sent to it"
	switch {
	case e.Replaced:
		what = "it was replaced there"
	case e.Agreed:
		what = "the next push replaces it there"
	}
	return fmt.Sprintf("%s has again what was purged, in mission %s: who can read it there could since %s, when it was last seen without; %s; ask its host to collect garbage",
		e.Remote, strings.Join(names, ", "), e.Clean.UTC().Format("2006-01-02 15:04 UTC"), what)
}

// returned returns the missions that a fetch has brought as they were before
// they were purged, though the remote had been seen without that: before and
// now are what was brought, before and after what was purged went. The map that
// is here stands for the one that the remote was seen with, if a purge since has
// deleted that.
func returned(ctx context.Context, r *remote.Remote, here *purgemap.Map, before, now map[record.ID]remote.Tips) (list []record.ID, err error) {
	known := r.Learned()
	if known.Clean.IsZero() {
		return nil, nil
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	m, err := purgemap.Read(objects, known.CleanMap)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		m = here
	}
	counts := r.Workspace.Trust.Keys().Trusts
	for id, t := range before {
		if now[id] != t && (m.Lists(t.Ledger, counts) || m.Lists(t.Branch, counts)) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list, nil
}

// Seen notes that a remote has our map, and nothing of what that purges.
func Seen(ctx context.Context, r *remote.Remote, known object.Hash) error {
	if known.IsZero() {
		return nil // nothing was ever purged
	}
	return r.Learn(ctx, func(m *remote.Learned) { m.Clean, m.CleanMap, m.Again = time.Now(), known, false })
}

// seen notes that a remote has nothing of what is purged, if it has our map.
func (f *fetch) seen(ctx context.Context, there map[string]object.Hash) error {
	known, err := f.Repo.Refs(ctx, purgemap.Ref)
	if err != nil || known[purgemap.Ref] != there[purgemap.Ref] {
		return err
	}
	return Seen(ctx, f.Remote, known[purgemap.Ref])
}

// again tells once that a remote has again what was purged, and has the next
// push replace that.
func (f *fetch) again(ctx context.Context, missions []record.ID) error {
	known := f.Learned()
	e := &ReturnedError{Remote: f.Name, Missions: missions, Clean: known.Clean, Agreed: len(f.Agreed()) > 0}
	if known.Again {
		return e
	}
	f.Say(e.Error())
	for _, r := range append(f.Each(), f.Remote) {
		if err := r.Learn(ctx, func(m *remote.Learned) { m.Again = true }); err != nil {
			return err
		}
	}
	return e
}
