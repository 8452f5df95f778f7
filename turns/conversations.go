package turns

import (
	"context"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// A Conversations reads the stored conversations of a mission's turns.
type Conversations struct {
	objects *git.Objects
	ledger  *ledger.Ledger
}

// OpenConversations opens those of a mission, to be closed by the caller.
func OpenConversations(ctx context.Context, repo *git.Repo, id record.ID) (*Conversations, error) {
	tip, err := tipOf(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	c := &Conversations{objects: repo.Objects(ctx)}
	if c.ledger, err = ledger.At(c.objects, id, tip); err != nil {
		c.objects.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the reading.
func (c *Conversations) Close() { c.objects.Close() }

// Segment returns a turn's redacted lines of the client's file. If there are
// none, or more than most bytes, the error says why.
func (c *Conversations) Segment(t *Turn, most int64) ([]byte, error) {
	path, err := segmentPath(t)
	if err != nil {
		return nil, err
	}
	return c.ledger.ReadUpTo(path, most)
}

// Subagent returns a turn's lines of a subagent, like Segment.
func (c *Conversations) Subagent(t *Turn, id string, most int64) ([]byte, error) {
	s, err := t.Side(id)
	if err != nil {
		return nil, err
	}
	if s.Missing != "" {
		return nil, fmt.Errorf("sub-agent %s of turn %s: not stored (%s): %w", id, t.After(), s.Missing, git.ErrNotFound)
	}
	return c.ledger.ReadUpTo(SubagentPath(t.Turn, id), most)
}
