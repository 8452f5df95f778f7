package ledgertx

import (
	"context"
	"fmt"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// open opens the mission up to where the user may rely on it, perhaps empty.
// The untrusted rest becomes its own mission: nothing may be added to it.
func (tx *Tx) open(ctx context.Context, tip object.Hash) error {
	if _, err := tx.Objects.Commit(tip); err != nil { // it is lost, so nobody can tell who wrote it
		return fmt.Errorf("read ledger of %s: %w", tx.ID, err)
	}
	s, err := tx.TrustLevel(ctx, tx.Objects, tx.ID, tip)
	if err != nil {
		return err
	}
	if !s.Commit.IsZero() {
		if tx.Ledger, err = ledger.At(tx.Objects, tx.ID, s.Commit); err != nil {
			return err
		}
	}
	if s.Whole {
		return nil
	}
	return tx.quarantine(ctx, tip, s.Untrusted)
}

// maxDiverged bounds the diverged chains followed; see package remote.
const maxDiverged = 16

// quarantine gives an untrusted chain a ref, named by its first untrusted
// commit or, if a diverged chain has that, the first that it lacks.
func (tx *Tx) quarantine(ctx context.Context, tip, first object.Hash) error {
	id := record.OfCommit(first)
	if id == tx.ID { // it was quarantined before, and is worked on
		id = record.OfCommit(tip)
	}
	for range maxDiverged {
		refs, err := tx.Repo.Refs(ctx, id.Ref())
		if err != nil {
			return err
		}
		there, taken := refs[id.Ref()]
		if tx.Quarantined = id; !taken || there == tip {
			tx.Move(id.Ref(), tip, there)
			return nil
		}
		switch kept, err := tx.Repo.IsAncestor(ctx, tip, there); {
		case err != nil:
			return err
		case kept:
			return nil
		}
		switch more, err := tx.Repo.IsAncestor(ctx, there, tip); {
		case err != nil:
			return err
		case more:
			tx.Move(id.Ref(), tip, there)
			return nil
		}
		if first, err = ledger.Diverged(ctx, tx.Repo, tip, there); err != nil {
			return err
		}
		id = record.OfCommit(first)
	}
	return fmt.Errorf("set the untrusted part of mission %s aside: it has more than %d sides", tx.ID, maxDiverged)
}
