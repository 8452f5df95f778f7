package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// chooseMission decides which mission the signal belongs to, if it does not say so itself:
//
//  1. the one that this session already records to, unless HEAD is on the branch of another one;
//  2. the one whose branch HEAD is on, or will be on when the rebase under way is done;
//  3. the one that the environment or a flag names, if its ledger exists here;
//  4. the session's own.
func (r *recording) chooseMission(ctx context.Context) error {
	head, err := r.Repo.HeadRef(ctx)
	if err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	branch := head
	if branch == "" {
		branch = r.Repo.RebasedBranch()
	}
	of, has := ledger.OfBranch(branch, r.Capture.BranchPrefix)
	switch {
	case r.Signal.Mission != "":
		r.id = r.Signal.Mission
	case has:
		r.id = of
	case r.state.Mission != "":
		r.id = ledger.ID(r.state.Mission)
	default:
		if err := r.chooseOwn(ctx); err != nil {
			return err
		}
	}
	r.onBranch = has && of == r.id && head != ""
	r.moves = r.onBranch && !r.stay && r.Repo.Operation() == ""
	return nil
}

// chooseOwn handles a session that is new here, on a branch of the user's.
func (r *recording) chooseOwn(ctx context.Context) error {
	if asked, err := ledger.ParseID(r.Asked); err == nil {
		refs, err := r.Repo.Refs(ctx, asked.Ref())
		if err != nil {
			return err
		}
		if _, ok := refs[asked.Ref()]; ok {
			r.id = asked
			return nil
		}
	}
	if r.Session == "" {
		return errors.New("there is neither a session nor a mission to record to")
	}
	short, err := ledger.OfSession(r.Session, 8)
	if err != nil {
		return err
	}
	r.id = short
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, r.Repo, objects, short)
	if errors.Is(err, git.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range l.Mission.Sessions {
		if s == r.Session {
			return nil
		}
	}
	r.id, err = ledger.OfSession(r.Session, 12) // another session's id ends in the same 8 digits
	return err
}
