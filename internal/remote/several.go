package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// maxTogether is how many missions go in one connection: their names are arguments of a command.
const maxTogether = 200

// maxRefused is after how many missions in a row that the remote rejected, and none that it took, the rest is not tried.
const maxRefused = 3

// PushAll pushes missions, those given or all that the remote has not, in as few connections as it can: those that no one
// else has gone on with go together, and each of the others as [Remote.Push] does it. It returns those that are there
// now; the error is about the others, and wraps what that of Push does.
func (r *Remote) PushAll(ctx context.Context, ids []ledger.ID) ([]*Pushed, error) {
	if len(ids) == 1 {
		p, err := r.Push(ctx, ids[0])
		if missing(err) {
			return []*Pushed{{Mission: ids[0], As: ids[0]}}, nil // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		return []*Pushed{p}, nil
	}
	if r.Level == "" {
		return nil, fmt.Errorf("push to %s: %w", r.Name, ErrNoConsent)
	}
	done, alone, err := r.together(ctx, ids)
	if err != nil {
		return done, fmt.Errorf("push to %s: %w", r.Name, err)
	}
	var problems []error
	refused := 0
	for _, id := range alone {
		p, err := r.Push(ctx, id)
		switch {
		case err == nil:
			done, refused = append(done, p), 0
			continue
		case missing(err):
			done = append(done, &Pushed{Mission: id, As: id})
			continue
		}
		problems = append(problems, err)
		if refused++; refused == maxRefused || !errors.Is(err, ErrRejected) {
			break // the next one would fare no better
		}
	}
	return done, errors.Join(problems...)
}

// together pushes what needs no more than one look at the remote's refs, and returns what is left to be pushed alone.
func (r *Remote) together(ctx context.Context, ids []ledger.ID) (done []*Pushed, alone []ledger.ID, err error) {
	unlock, err := r.lock(ctx, "push")
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	theirs, err := r.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	refs, err := r.local(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	all := r.byMission(refs)
	if ids == nil {
		ids = slices.Sorted(maps.Keys(all))
	}
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	var group []*Pushed
	known := r.remember()
	for _, id := range ids {
		ours := all[id]
		p := &Pushed{Mission: id, As: id, sent: ours}
		if as, ok := known.As[id]; ok {
			p.As = as
		}
		their := theirs[p.As]
		switch {
		case ours.zero(), r.needs(ours, their).zero(), r.ofTheirs(ctx, objects, id, ours, theirs):
			done = append(done, p)
		case r.Level == All && !r.extends(ctx, objects, ours.ledger, their.ledger):
			alone = append(alone, id)
		default:
			group = append(group, p)
		}
	}
	for batch := range slices.Chunk(group, maxTogether) {
		if sent, err := r.sendGroup(ctx, batch, theirs); errors.Is(err, ErrRejected) {
			for _, p := range batch {
				alone = append(alone, p.Mission)
			}
		} else if err != nil {
			return done, nil, err
		} else {
			done = append(done, sent...)
		}
	}
	return done, alone, nil
}

// needs is what of ours the remote lacks, within the level.
func (r *Remote) needs(ours, theirs tips) tips {
	lacks := func(our, their plumbing.Hash) plumbing.Hash {
		if our == their {
			return plumbing.ZeroHash
		}
		return our
	}
	n := tips{branch: lacks(ours.branch, theirs.branch)}
	if r.Level == All {
		n.ledger, n.notes = lacks(ours.ledger, theirs.ledger), lacks(ours.notes, theirs.notes)
	}
	return n
}

// ofTheirs reports whether a mission here is the remote's own side of one that has gone on here, too:
// it has it under the name that the mission began with.
func (r *Remote) ofTheirs(ctx context.Context, objects *git.Objects, id ledger.ID, ours tips, theirs map[ledger.ID]tips) bool {
	if len(id) != 12 || ours.ledger.IsZero() {
		return false
	}
	l, err := ledger.At(objects, id, ours.ledger)
	if err != nil || l.Began == id {
		return false
	}
	return r.extends(ctx, objects, theirs[l.Began].ledger, ours.ledger)
}

// extends reports whether a is known here to have all of b.
func (r *Remote) extends(ctx context.Context, objects *git.Objects, a, b plumbing.Hash) bool {
	for _, hash := range []plumbing.Hash{a, b} {
		if !hash.IsZero() && objects.HasEncodedObject(hash) != nil {
			return false
		}
	}
	has, err := r.contains(ctx, a, b)
	return err == nil && has
}

// sendGroup pushes the records of several missions together, then their branches.
func (r *Remote) sendGroup(ctx context.Context, group []*Pushed, theirs map[ledger.ID]tips) ([]*Pushed, error) {
	var records, branches []string
	add := func(specs *[]string, hash plumbing.Hash, ref string) {
		if !hash.IsZero() {
			*specs = append(*specs, spec(hash, ref))
		}
	}
	for _, p := range group {
		n := r.needs(p.sent, theirs[p.As])
		add(&records, n.ledger, p.As.Ref())
		add(&records, n.notes, p.As.NotesRef())
		add(&branches, n.branch, p.As.Branch(r.prefix))
	}
	if len(records) > 0 {
		if _, err := r.send(ctx, records, false); err != nil {
			return nil, err
		}
	}
	var rep report
	var err error
	if len(branches) > 0 {
		if rep, err = r.send(ctx, branches, true); err != nil && !errors.Is(err, ErrRejected) {
			return nil, err
		}
	}
	for _, p := range group {
		p.Sent = true
		if rep.rejected[p.As.Branch(r.prefix)] {
			p.Branch = err
		}
	}
	return group, nil
}
