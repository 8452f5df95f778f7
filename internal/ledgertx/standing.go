package ledgertx

import (
	"context"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// stand finds where the mission stands, if that is not where its ref is: the
// event takes it back there.
func (tx *Tx) stand(ctx context.Context) error {
	tip := tx.tips[tx.ID.Ref()]
	left, err := tx.Trust.Left(tx.ID)
	if tx.left = left.At; err != nil || left.At.IsZero() || left.At == tip {
		return err
	}
	s, err := tx.Standing(ctx, tx.held, tx.ID)
	if err != nil {
		tx.Say(err.Error(), "") // it goes on from where it is
		return nil
	}
	if s.Moves == nil {
		if !s.At.IsZero() { // what a writer that died was about to write was never left anywhere
			tx.left = s.At
		}
		s.Tell()
		return nil
	}
	if s.Moves[0].Old != tip {
		return fmt.Errorf("%s: %w", tx.ID.Ref(), git.ErrConflict)
	}
	tx.back, tx.moves, tx.told = s.At, append(tx.moves, s.Moves[1:]...), s.Tell
	return nil
}

// keep returns the move of what keeps the event.
func (tx *Tx) keep(ctx context.Context) ([]git.Update, error) {
	before := tx.tips[tx.keeper.Ref()]
	if tx.pointed = !before.IsZero(); !tx.pointed {
		before, tx.pointed = tx.keeper.At(ctx)
	}
	tx.keeper.Mend()
	var err error
	if tx.keeping, err = ledger.KeepingAlso(tx.Objects, tx.Ledger.Tip, before); err != nil || !tx.keeper.Together() {
		return nil, err
	}
	return tx.keeper.Updates(tx.keeping, tx.pointed), nil
}
