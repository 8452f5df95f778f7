package turns

import (
	"context"
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// readTurn reads one record of a ledger. If there is none, the error wraps [git.ErrNotFound].
func readTurn(l *ledger.Ledger, number int) (*Turn, error) {
	data, err := l.Read(ledger.TurnPath("turns", number, ".json"))
	if err != nil {
		return nil, err
	}
	return parseAt(data, l.ID, number)
}

// parseAt decodes the record stored under a turn's number in a mission's ledger.
func parseAt(data []byte, in ledger.ID, number int) (*Turn, error) {
	t, err := Parse(data)
	if err == nil && t.Turn != number {
		err = fmt.Errorf("the record has number %d", t.Turn)
	}
	if err != nil {
		return nil, fmt.Errorf("read turn %s: %w", ledger.TurnID{Mission: in, Turn: number}, err)
	}
	t.in = in
	return t, nil
}

// Last returns the record of a ledger's last turn, or nil if it has none.
func Last(l *ledger.Ledger) (*Turn, error) {
	number, err := l.LastTurn()
	if err != nil || number == 0 {
		return nil, err
	}
	return readTurn(l, number)
}

// Read returns the record of a turn, or of the last one if number is 0. If there is none, the error
// wraps [git.ErrNotFound].
func Read(ctx context.Context, repo *git.Repo, id ledger.ID, number int) (*Turn, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, repo, objects, id)
	if err != nil {
		return nil, err
	}
	last, err := l.LastTurn()
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = last
	}
	t, err := readTurn(l, number)
	if errors.Is(err, git.ErrNotFound) {
		return nil, missingTurn(l, number, last)
	}
	return t, err
}
