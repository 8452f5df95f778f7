package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
)

// A Restored is what a restore has done.
type Restored struct {
	Present git.Hex        // the commit that holds what was there before; zero in a dry run
	Changes []git.FileStat // what changed, or would
}

// Restore makes the worktree what it was at the end of a turn. The present state is recorded first, as a code commit
// that the ledger of the turn's mission keeps. HEAD, the branch and the index stay as they are.
//
// No path is overwritten or deleted that is ignored, was left out of the
// snapshot, or is not in the state that was just recorded: then nothing changes, and the error
// is git's. With dry nothing changes in any case.
func (r *Recorder) Restore(ctx context.Context, s Signal, t *Turn, dry bool) (*Restored, error) {
	store := session.Open(r.Repo.CommonDir)
	unlock, err := r.lock(ctx, store, "hand-"+r.worktree())
	if err != nil {
		return nil, err
	}
	defer unlock()
	for attempt := 1; ; attempt++ {
		done, err := r.restore(ctx, s, t, dry)
		if err == nil || !errors.Is(err, git.ErrConflict) || attempt == maxAttempts {
			if err != nil {
				err = fmt.Errorf("restore turn %s: %w", t.ID(), err)
			}
			return done, err
		}
	}
}

func (r *Recorder) restore(ctx context.Context, s Signal, t *Turn, dry bool) (*Restored, error) {
	rec := &recording{Recorder: r, Signal: s, id: t.Mission, state: new(session.State)}
	rec.Event = "restore"
	rec.begin(ctx)
	defer rec.end()
	var err error
	rec.snap, err = snapshot.Take(ctx, r.Repo, rec.objects, snapshot.Options{
		Policy: r.policy(), Config: rec.config, Publish: true, Now: s.At,
	})
	if err != nil {
		return nil, err
	}
	tree, err := rec.objects.TreeOf(t.Code.Hash())
	if err != nil {
		return nil, err
	}
	done := new(Restored)
	if done.Changes, err = r.Repo.DiffTrees(ctx, rec.snap.Tree, tree); err != nil {
		return nil, err
	}
	if dry {
		return done, rec.snap.CheckOut(ctx, tree, true)
	}
	if rec.tips, err = rec.refs(); err != nil {
		return nil, err
	}
	if rec.ledger, err = ledger.At(rec.objects, t.Mission, rec.tips[t.Mission.Ref()]); err != nil {
		return nil, err
	}
	if rec.notes, err = gitnotes.Open(rec.objects, rec.tips[t.Mission.NotesRef()]); err != nil {
		return nil, err
	}
	base, err := rec.headOrRoot()
	if err != nil {
		return nil, err
	}
	subject := fmt.Sprintf("before restoring turn %d", t.Turn)
	present, fresh, err := rec.code(ctx, start{base: base, head: rec.snap.Head.Commit}, func() string { return rec.message(subject, 0) })
	if err != nil {
		return nil, err
	}
	if fresh {
		if err := rec.append(subject, nil, present); err != nil {
			return nil, err
		}
		if err := rec.commit(ctx); err != nil {
			return nil, err
		}
	}
	done.Present = git.Hex(present)
	return done, rec.snap.CheckOut(ctx, tree, false)
}
