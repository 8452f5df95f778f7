package ledgertx

import (
	"context"
	"fmt"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
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

// quarantine gives an untrusted chain a ref of its own.
func (tx *Tx) quarantine(ctx context.Context, tip, first object.Hash) error {
	id, moves, err := tx.Aside(ctx, tx.raw(), tx.ID, tip, first)
	tx.Quarantined, tx.moves = id, append(tx.moves, moves...)
	return err
}
