package turns

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// A Conversations reads the stored conversations of a mission's turns.
type Conversations struct {
	objects *git.Objects
	ledger  *ledger.Ledger
	most    int64

	stream *git.Objects // sends what is ahead, in that order
	ahead  []git.Wanted
	next   func() (*git.Object, bool)
	stop   func()
}

// OpenConversations opens those of a mission, each of at most most bytes, to be
// closed by the caller. It is fastest if the segments of list are read in that
// order: git then sends one after the other, without being asked for each.
func OpenConversations(ctx context.Context, repo *git.Repo, id record.ID, list []*Turn, most int64) (*Conversations, error) {
	tip, err := tipOf(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	c := &Conversations{objects: repo.Objects(ctx), stream: repo.Objects(ctx), most: most}
	c.next, c.stop = iter.Pull(c.sent)
	if c.ledger, err = ledger.At(c.objects, id, tip); err != nil {
		c.Close()
		return nil, err
	}
	for _, t := range list {
		if path, err := segmentPath(t); err == nil {
			if hash, err := c.ledger.File(path); err == nil {
				c.ahead = append(c.ahead, git.Wanted{Hash: hash, Most: min(most, ledger.MaxSegment)})
			}
		}
	}
	return c, nil
}

// Close ends the reading.
func (c *Conversations) Close() {
	c.stop()
	c.stream.Close()
	c.objects.Close()
}

// sent yields what is ahead, or nil for what can't be read.
func (c *Conversations) sent(yield func(*git.Object) bool) {
	_ = c.stream.Each(c.ahead, func(_ int, obj *git.Object, _ error) error {
		if !yield(obj) {
			return errHalted
		}
		return nil
	})
}

// Segment returns a turn's redacted lines of the client's file. If there are
// none, or too many, the error says why.
func (c *Conversations) Segment(t *Turn) ([]byte, error) {
	path, err := segmentPath(t)
	if err != nil {
		return nil, err
	}
	if hash, err := c.ledger.File(path); err == nil && len(c.ahead) > 0 && hash == c.ahead[0].Hash {
		obj, _ := c.next()
		if c.ahead = c.ahead[1:]; obj != nil && obj.Type == plumbing.BlobObject {
			return obj.Content, nil
		}
	}
	return c.ledger.ReadUpTo(path, c.most) // which says what is wrong with it
}

// Subagent returns a turn's lines of a subagent, like Segment.
func (c *Conversations) Subagent(t *Turn, id string) ([]byte, error) {
	s, err := t.Side(id)
	if err != nil {
		return nil, err
	}
	if s.Missing != "" {
		return nil, fmt.Errorf("sub-agent %s of turn %s: not stored (%s): %w", id, t.After(), s.Missing, git.ErrNotFound)
	}
	return c.ledger.ReadUpTo(SubagentPath(t.Turn, id), c.most)
}
