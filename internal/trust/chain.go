package trust

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// A chain reads the commits of a ledger that can be events, newest first.
type chain struct {
	*ledger.Chain
	objects *git.Objects
	gap     bool // one was not here, and may come later
}

const (
	// maxLooked is more than a mission can have events.
	maxLooked = 4_000_000
	// maxCommit is the size in bytes of the largest possible event.
	maxCommit = 64 << 10
)

func newChain(ctx context.Context, repo *git.Repo, objects *git.Objects) *chain {
	return &chain{Chain: ledger.NewChain(ctx, repo, objects, maxCommit, maxLooked), objects: objects}
}

// read returns the content of a commit, nil if it is not here or can't be an
// event of a ledger.
func (c *chain) read(at git.Hash) ([]byte, error) {
	content, err := c.Read(at)
	missing := errors.Is(err, plumbing.ErrObjectNotFound)
	if c.gap = c.gap || missing; missing || errors.Is(err, git.ErrTooLarge) {
		return nil, nil
	}
	return content, err
}

// headAlone reports whether a tree holds mission.json and nothing else.
func (c *chain) headAlone(tree git.Hash) bool {
	entries, err := c.objects.Tree(tree, ledger.MaxTree)
	return err == nil && len(entries) == 1 && !entries["mission.json"].Hash.IsZero()
}
