package trust

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// A chain reads the commits of a ledger, newest first.
type chain struct {
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	ahead   map[git.Hash][]byte // contents that were read together
	looked  int                 // commits that were read
	gap     bool                // one was not here, and may come later
}

const (
	// oneByOne is how many commits are read singly. Longer chains, seen mostly
	// by forks and primes, are read in batches, in a fifth of the time.
	oneByOne = 32
	batch    = 20_000
	// maxLooked is more than the events of any mission.
	maxLooked = 4_000_000
	// maxCommit is the size in bytes of the largest possible event.
	maxCommit = 64 << 10
)

// read returns the content of a commit, nil if it is not here or can't be an event of a ledger.
func (c *chain) read(at git.Hash) ([]byte, error) {
	content, ok := c.ahead[at]
	if ok {
		return content, nil
	}
	if c.looked++; c.looked > maxLooked {
		return nil, fmt.Errorf("its ledger has more than %d events", maxLooked)
	}
	content, err := c.objects.Read(plumbing.CommitObject, at, maxCommit)
	if errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, git.ErrTooLarge) {
		c.gap = c.gap || !errors.Is(err, git.ErrTooLarge)
		return nil, nil
	}
	if err == nil && c.looked > oneByOne {
		err = c.readAhead(at)
		c.looked += len(c.ahead)
	}
	return content, err
}

func (c *chain) readAhead(from git.Hash) error {
	hashes, err := c.repo.FirstParents(c.ctx, from, batch)
	if err != nil {
		return err
	}
	c.ahead = make(map[git.Hash][]byte, len(hashes))
	wanted := make([]git.Wanted, len(hashes))
	for i, hash := range hashes {
		wanted[i] = git.Wanted{Hash: git.NewHash(hash), Most: maxCommit}
	}
	return c.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err == nil && obj.Type == plumbing.CommitObject {
			c.ahead[obj.Hash] = obj.Content
		}
		return nil
	})
}

// headAlone reports whether a tree holds mission.json and nothing else.
func (c *chain) headAlone(tree git.Hash) bool {
	entries, err := c.objects.Tree(tree, ledger.MaxTree)
	return err == nil && len(entries) == 1 && !entries["mission.json"].Hash.IsZero()
}
