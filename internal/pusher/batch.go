package pusher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// maxTogether bounds the missions of one connection, whose names are arguments.
const maxTogether = 200

// maxRefused is the number of rejections in a row after which PushAll stops.
const maxRefused = 3

// PushAll pushes the given missions, or all that the remote lacks if ids is
// nil, in few connections: missions that nobody continued there go together,
// the others as in [Push]. It returns those that are there now; the
// error is about the others and wraps what Push's does.
func PushAll(ctx context.Context, r *remote.Remote, ids []record.ID) ([]*Pushed, error) {
	if r.Level == "" {
		return nil, fmt.Errorf("push to %s: %w", r, remote.ErrNoConsent)
	}
	return besides(ctx, r, ofMissions(r, ids), func() ([]*Pushed, error) { return pushAll(ctx, r, ids) })
}

func pushAll(ctx context.Context, r *remote.Remote, ids []record.ID) ([]*Pushed, error) {
	var done []*Pushed
	alone := ids
	if len(ids) != 1 {
		var err error
		if done, alone, err = together(ctx, r, ids); err != nil {
			return done, fmt.Errorf("push to %s: %w", r, err)
		}
	}
	var problems []error
	refused := 0
	for _, id := range alone {
		p, err := pushOne(ctx, r, id)
		switch {
		case err == nil:
			done, refused = append(done, p), 0
			continue
		case errors.Is(err, git.ErrNotFound): // it was removed meanwhile
			done = append(done, &Pushed{Mission: id, As: id})
			continue
		}
		problems = append(problems, err)
		if refused++; refused == maxRefused || !errors.Is(err, ErrRejected) {
			break // the next one would fail, too
		}
	}
	return done, errors.Join(problems...)
}

// together pushes what needs one look at the remote's refs, and returns the
// missions that remain to be pushed one by one.
func together(ctx context.Context, r *remote.Remote, ids []record.ID) (done []*Pushed, alone []record.ID, err error) {
	held, err := r.LockPush(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	defer held.Release()
	there, err := r.Refs(ctx, r.Source)
	if err == nil {
		there, err = upToDate(ctx, r, there)
	}
	if err != nil {
		return nil, nil, err
	}
	refs, err := r.Local(ctx, "") // as they are without what others have purged
	if err != nil {
		return nil, nil, err
	}
	all, theirs := r.ByMission(refs), r.Missions(there)
	if err := archivedThere(ctx, r, there, theirs, all); err != nil {
		return nil, nil, err
	}
	if ids == nil {
		ids = slices.Sorted(maps.Keys(all))
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	tips := make(map[record.ID]object.Hash)
	for _, id := range ids {
		tips[id] = all[id].Ledger
	}
	wait, err := waiting(ctx, r, tips)
	if err != nil {
		return nil, nil, err
	}
	var group []parcel
	known := r.Learned()
	for _, id := range ids {
		ours := all[id]
		p := &Pushed{Mission: id, As: known.Name(id), sent: ours, Held: wait[id]}
		o := parcel{p, remote.Tips{}}
		o.lacks(r.Level, ours, theirs[p.As])
		switch {
		case p.Held, o.needs.Zero(), ofTheirs(ctx, r, objects, id, ours, theirs) != "":
			done = append(done, p)
		case r.Level == remote.All && !r.Extends(ctx, objects, ours.Ledger, theirs[p.As].Ledger): // it has what we lack
			alone = append(alone, id)
		default:
			group = append(group, o)
		}
	}
	for batch := range slices.Chunk(group, maxTogether) {
		err := sendGroup(ctx, r, batch)
		if err != nil && !errors.Is(err, ErrRejected) {
			return done, nil, err
		}
		for _, o := range batch {
			if err == nil {
				done = append(done, o.Pushed)
			} else {
				alone = append(alone, o.Mission)
			}
		}
	}
	return done, alone, nil
}

type parcel struct {
	*Pushed
	needs remote.Tips // its refs that the remote lacks
}

func (o *parcel) lacks(level remote.Consent, ours, theirs remote.Tips) {
	add := func(to *object.Hash, our, their object.Hash) {
		if our != their {
			*to = our
		}
	}
	add(&o.needs.Branch, ours.Branch, theirs.Branch)
	if level == remote.All {
		add(&o.needs.Ledger, ours.Ledger, theirs.Ledger)
		add(&o.needs.Notes, ours.Notes, theirs.Notes)
	}
}

// ofTheirs returns the original name of a mission that diverged, if the mission
// here is the remote's own chain of it, which it has under that name; else "".
func ofTheirs(ctx context.Context, r *remote.Remote, objects *git.Objects, id record.ID, ours remote.Tips, theirs map[record.ID]remote.Tips) record.ID {
	if len(id) != 12 || ours.Ledger.IsZero() {
		return ""
	}
	l, err := ledger.At(objects, id, ours.Ledger)
	if err != nil || l.Mission.Began == id || !r.Extends(ctx, objects, theirs[l.Mission.Began].Ledger, ours.Ledger) {
		return ""
	}
	return l.Mission.Began
}

// sendGroup pushes the records of missions together, then their branches.
func sendGroup(ctx context.Context, r *remote.Remote, group []parcel) error {
	var records, branches []string
	add := func(specs *[]string, hash object.Hash, ref string) {
		if !hash.IsZero() {
			*specs = append(*specs, spec(r, hash, ref))
		}
	}
	for _, o := range group {
		add(&records, o.needs.Ledger, o.As.Ref())
		add(&records, o.needs.Notes, o.As.NotesRef())
		add(&branches, o.needs.Branch, r.Workspace.Branch(o.As))
	}
	var rep pushReport
	var err error
	if len(records) > 0 {
		if rep, err = send(ctx, r, records, false); err == nil && !rep.any { // it had what it had not listed
			err = warnHidden(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	anew := rep.any
	if len(branches) > 0 {
		if rep, err = send(ctx, r, branches, true); err != nil && !errors.Is(err, ErrRejected) {
			return err
		}
	}
	for _, o := range group {
		o.Sent = anew || rep.any
		if rep.rejected[r.Workspace.Branch(o.As)] {
			o.Branch = err
		}
	}
	return nil
}
