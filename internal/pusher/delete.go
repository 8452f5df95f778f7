package pusher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// maxWithdrawn bounds the refs deleted in one connection: they are arguments,
// and git compares each with every ref of the remote.
const maxWithdrawn = 500

// A Deletion is what is to be deleted at a remote.
type Deletion struct {
	Missions []record.ID // under their names here, in order
	refs     map[record.ID]map[string]object.Hash
	Ahead    []record.ID // missions that have something there which is not here, and stay
}

// Refs returns how many refs are to be deleted.
func (w *Deletion) Refs() (n int) {
	for _, refs := range w.refs {
		n += len(refs)
	}
	return n
}

// Deletable finds which missions the remote has. It leaves out what is not
// there, and lists in Ahead what has gone on there.
func Deletable(ctx context.Context, r *remote.Remote, ids []record.ID) (*Deletion, error) {
	if r.Level == "" {
		return nil, fmt.Errorf("remove missions at %s: %w", r, remote.ErrNoConsent)
	}
	there, err := r.Refs(ctx, r.Source)
	if err != nil {
		return nil, err
	}
	theirs := r.Missions(there)
	refs, err := r.Local(ctx, "")
	if err != nil {
		return nil, err
	}
	ours := r.ByMission(refs)
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	known := r.Learned()
	w := &Deletion{refs: make(map[record.ID]map[string]object.Hash)}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		as := known.Name(id)
		if theirs[as].Zero() {
			as = cmp.Or(ofTheirs(ctx, r, objects, id, ours[id], theirs), as)
		}
		t := theirs[as]
		switch {
		case t.Zero():
		case !r.Extends(ctx, objects, ours[id].Ledger, t.Ledger), !hasBranch(ctx, r, objects, ours[id], t.Branch):
			w.Ahead = append(w.Ahead, id)
		default:
			w.Missions = append(w.Missions, id)
			w.refs[id] = missionRefs(r, as, t)
		}
	}
	return w, nil
}

// hasBranch reports whether our branch or ledger has all of the branch there.
func hasBranch(ctx context.Context, r *remote.Remote, objects *git.Objects, ours remote.Tips, theirs object.Hash) bool {
	return r.Extends(ctx, objects, ours.Branch, theirs) || r.Extends(ctx, objects, ours.Ledger, theirs)
}

func missionRefs(r *remote.Remote, id record.ID, t remote.Tips) map[string]object.Hash {
	refs := map[string]object.Hash{id.Ref(): t.Ledger, id.NotesRef(): t.Notes, r.Workspace.Branch(id): t.Branch}
	maps.DeleteFunc(refs, func(_ string, hash object.Hash) bool { return hash.IsZero() })
	return refs
}

// Delete deletes the missions that have not changed since [Deletable],
// and returns those that are gone. It can be killed and repeated.
func Delete(ctx context.Context, r *remote.Remote, w *Deletion) (gone []record.ID, err error) {
	held, err := r.LockPush(ctx, "")
	if err != nil {
		return nil, err
	}
	defer held.Release()
	stayed, err := deleteRefs(ctx, r, slices.Collect(func(yield func(map[string]object.Hash) bool) {
		for _, id := range w.Missions {
			if !yield(w.refs[id]) {
				return
			}
		}
	}))
	if err == nil {
		err = unkeep(ctx, r, new(Replaced))
	}
	for _, id := range w.Missions {
		whole := true
		for ref := range w.refs[id] {
			whole = whole && !stayed[ref]
		}
		if whole {
			gone = append(gone, id)
		}
	}
	if err != nil {
		err = fmt.Errorf("remove missions at %s: %w", r, err)
	}
	return gone, err
}

// deleteRefs deletes refs, given by mission with their expected values, and
// returns those that stay. Branches go first: what belongs to a kept one stays.
// Ledgers and notes go in one transaction, so the host rewrites packed refs
// once; if one has moved, its batch goes one by one.
func deleteRefs(ctx context.Context, r *remote.Remote, missions []map[string]object.Hash) (stayed map[string]bool, err error) {
	stayed = make(map[string]bool)
	expected := make(map[string]object.Hash)
	for _, refs := range missions {
		for ref, hash := range refs {
			stayed[ref], expected[ref] = true, hash
		}
	}
	var problems []error
	for _, branches := range []bool{true, false} {
		var some []string
		for _, refs := range missions {
			if !branches && slices.ContainsFunc(slices.Collect(maps.Keys(refs)), func(ref string) bool { return stayed[ref] && isBranch(ref) }) {
				continue
			}
			for _, ref := range slices.Sorted(maps.Keys(refs)) {
				if isBranch(ref) == branches {
					some = append(some, ref)
				}
			}
		}
		for batch := range slices.Chunk(some, maxWithdrawn) {
			rejected, err := deleteBatch(ctx, r, batch, expected)
			problems = append(problems, err)
			if err != nil && !errors.Is(err, ErrRejected) {
				return stayed, errors.Join(problems...)
			}
			for _, ref := range batch {
				stayed[ref] = rejected[ref]
			}
		}
	}
	return stayed, errors.Join(problems...)
}

func isBranch(ref string) bool { return strings.HasPrefix(ref, "refs/heads/") }

// deleteBatch deletes refs in one connection, or two if they can't go together.
func deleteBatch(ctx context.Context, r *remote.Remote, refs []string, expected map[string]object.Hash) (rejected map[string]bool, err error) {
	var args []string
	for _, ref := range refs {
		args = append(args, fmt.Sprintf("--force-with-lease=%s:%s", ref, expected[ref]))
	}
	target := []string{"--end-of-options", r.Target}
	for _, ref := range refs {
		target = append(target, ":"+ref)
	}
	attempt := func(extra ...string) (pushReport, bool, error) {
		out, reached, err := r.Reach(ctx, "push", slices.Concat(args, extra, target)...)
		return parseReport(out), reached, err
	}
	if r.Learned().Atomic() {
		_, reached, err := attempt("--atomic")
		if err == nil || !reached || ctx.Err() != nil {
			return nil, err
		}
	}
	rep, _, err := attempt()
	if len(rep.rejected) > 0 {
		err = fmt.Errorf("%w: %w", ErrRejected, err)
	}
	return rep.rejected, err
}
