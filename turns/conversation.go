package turns

import (
	"context"
	"fmt"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// Transcript returns the turn's segment of the conversation. If there is none, the error says why.
func Transcript(ctx context.Context, repo *git.Repo, t *Turn) ([]byte, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, repo, objects, t.mission())
	if err != nil {
		return nil, err
	}
	return segment(l, t)
}

// Conversation returns the conversation up to and including the turn: its segments in order, byte
// for byte as the client wrote them except where redacted. If one is missing, the error says which
// and why.
func Conversation(ctx context.Context, repo *git.Repo, t *Turn) ([][]byte, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, repo, objects, t.mission())
	if err != nil {
		return nil, err
	}
	var segments [][]byte
	for {
		data, err := segment(l, t)
		if err != nil {
			return nil, err
		}
		segments = append(segments, data)
		after := t.Transcript.After
		if after == 0 {
			slices.Reverse(segments)
			return segments, nil
		}
		if after >= t.Turn {
			return nil, fmt.Errorf("conversation of turn %s: it follows turn %d", t.ID(), after) // a chain never goes forward
		}
		if t, err = readTurn(l, after); err != nil {
			return nil, err
		}
	}
}

func segment(l *ledger.Ledger, t *Turn) ([]byte, error) {
	switch {
	case t.Transcript == nil:
		return nil, fmt.Errorf("transcript of turn %s: the client kept none: %w", t.ID(), git.ErrNotFound)
	case t.Transcript.Missing != "":
		return nil, fmt.Errorf("transcript of turn %s: not stored (%s): %w", t.ID(), t.Transcript.Missing, git.ErrNotFound)
	}
	// The path is computed, not taken from the record: a record may come from a stranger.
	return l.Read(ledger.TurnPath("transcript", t.Turn, ".jsonl"))
}
