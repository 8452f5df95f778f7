package recorder

import (
	"slices"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
	"gitagent/internal/owners"
	"gitagent/turns"
)

// keepSteps makes commits of the steps with work that is gone, each on the one
// before.
func (r *recording) keepSteps(t *turns.Turn, base object.Hash, steps []*journal.Entry, lost []owners.Loss, own *share) error {
	var on []object.Hash
	if t.Base != t.Code { // else an event that keeps both would look like that of a restore
		on = append(on, t.Base)
	}
	for _, l := range lost {
		i := l.State
		if i >= len(steps) || !r.complete(base, steps[i].Tree) {
			continue
		}
		call := ""
		if steps[i].Session == r.Session {
			call = turns.LastCall(steps[i].Calls)
		}
		commit, err := r.tx.CommitTree(steps[i].Tree, on, ledger.StepMessage(r.id, t.Turn, i+1, r.Session, call))
		if err != nil {
			return err
		}
		on, own.record.Last = []object.Hash{commit}, commit
		own.record.Kept = append(own.record.Kept, i+1)
	}
	if !own.record.Last.IsZero() {
		own.keep = append(own.keep, own.record.Last)
	}
	return nil
}

// tellGone notes what was destroyed after a kept step, but not what the turn's
// session took back by editing, or removed by the name of a file that it had made
// in the turn: that is how work is done.
func (r *recording) tellGone(t *turns.Turn, base object.Hash, steps []*journal.Entry, lost []owners.Loss, kept []int) error {
	for _, l := range lost {
		n := l.State + 1
		if !slices.Contains(kept, n) || n < len(steps) && edited(steps[n], r.Session) {
			continue
		}
		gone := Gone{Step: &turns.State{In: r.id, Turn: t, Step: n}}
		for _, path := range l.Paths {
			was, err := r.tx.Objects.Lookup(steps[n-1].Tree, path)
			if err != nil {
				return err
			}
			before, err := r.tx.Objects.Lookup(base, path)
			if err != nil {
				return err
			}
			tidied := before == (object.Entry{}) && n < len(steps) && steps[n].Session == r.Session && !steps[n].Git && slices.Contains(steps[n].Named, path)
			if was != before && was != (object.Entry{}) && !tidied {
				gone.Paths = append(gone.Paths, path)
			}
		}
		if len(gone.Paths) > 0 {
			r.result.Gone = append(r.result.Gone, gone)
		}
	}
	return nil
}

// edited reports whether a step came after editing tools of a session alone.
func edited(e *journal.Entry, session string) bool {
	return e.Session == session && len(e.Calls) > 0 && !slices.ContainsFunc(e.Calls, func(c journal.Call) bool { return c.Path == "" })
}

// complete reports whether all of a step's objects are here. Nothing kept them
// until now.
func (r *recording) complete(base, tree object.Hash) bool {
	found, ok, err := gitdiff.Differences(r.tx.Objects, base, []object.Hash{tree}, maxSeparated)
	return ok && err == nil && !slices.ContainsFunc(found, func(d gitdiff.Difference) bool {
		return d.New.Mode.IsFile() && r.tx.Objects.Has(d.New.Hash) != nil
	})
}
