package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// A Commit is an event of a ledger as its commit has it.
type CommitEvent struct {
	Hash   git.Hash
	Before git.Hash   // the event before it; zero for the first one
	Keeps  []git.Hash // the commits that it keeps reachable
	At     time.Time  // in seconds

	Tree    git.Hash // not of [Links]
	Subject string   // not of [Links]
}

// parents notes the parents of a commit.
func (c *CommitEvent) parents(hashes []git.Hash) {
	if len(hashes) > 0 {
		c.Before, c.Keeps = hashes[0], hashes[1:]
	}
}

// A Chain reads the commits of a ledger, the newest first.
type Chain struct {
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	size    int64
	most    int
	ahead   map[git.Hash][]byte // contents that were read together
	looked  int
}

const (
	// oneByOne is how many commits are read one by one. A long chain, of which
	// a fork or a prime sees most, is read in batches: that takes a fifth of
	// the time.
	oneByOne = 32
	batch    = 20_000
	// maxAhead is how many bytes of a batch are held: the next one has the
	// rest.
	maxAhead = 64 << 20
)

// NewChain returns a reader of commits that have at most size bytes each. It
// reads at most so many of them.
func NewChain(ctx context.Context, repo *git.Repo, objects *git.Objects, size int64, most int) *Chain {
	return &Chain{ctx: ctx, repo: repo, objects: objects, size: size, most: most}
}

// Looked is how many commits were read.
func (c *Chain) Looked() int { return c.looked }

// Read returns the content of a commit as it is stored, also where the clone is
// shallow. Then a ledger's first parents are mostly at hand.
func (c *Chain) Read(at git.Hash) ([]byte, error) {
	content, ok := c.ahead[at]
	if ok {
		return content, nil
	}
	if c.looked >= c.most {
		return nil, fmt.Errorf("its ledger has more than %d events", c.most)
	}
	c.looked++
	content, err := c.objects.Read(plumbing.CommitObject, at, c.size)
	if err == nil && c.looked > oneByOne {
		err = c.readAhead(at)
		c.looked += max(0, len(c.ahead)-1)
	}
	return content, err
}

// errEnough ends the reading of a batch.
var errEnough = errors.New("enough")

func (c *Chain) readAhead(from git.Hash) error {
	out, err := c.repo.Output(c.ctx, nil, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(min(batch, c.most-c.looked+1)), from.String(), "--")
	if err != nil {
		return err
	}
	var wanted []git.Wanted
	for hash := range strings.FieldsSeq(string(out)) {
		wanted = append(wanted, git.Wanted{Hash: git.NewHash(hash), Most: c.size})
	}
	c.ahead = make(map[git.Hash][]byte, len(wanted))
	held := 0
	err = c.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err == nil && obj.Type == plumbing.CommitObject {
			c.ahead[obj.Hash] = obj.Content
			held += len(obj.Content)
		}
		if held > maxAhead {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// Events yields the events of a ledger that ends at tip, the newest first, at
// most so many. One that can't be read is an error, the last thing that comes.
func Events(ctx context.Context, repo *git.Repo, objects *git.Objects, tip git.Hash, most int) iter.Seq2[*CommitEvent, error] {
	return func(yield func(*CommitEvent, error) bool) {
		chain := NewChain(ctx, repo, objects, git.MaxCommit, most)
		at := tip
		for n := 0; n < most && !at.IsZero(); n++ {
			content, err := chain.Read(at)
			var parsed *git.Commit
			if err == nil {
				parsed, err = git.ParseCommit(content)
			}
			if err != nil {
				yield(nil, fmt.Errorf("read event %s: %w", at, err))
				return
			}
			subject, _, _ := strings.Cut(parsed.Message, "\n")
			c := &CommitEvent{Hash: at, Tree: parsed.Tree, At: parsed.Committer.When.Local(), Subject: strings.Clone(subject)}
			c.parents(parsed.Parents)
			if !yield(c, nil) {
				return
			}
			at = c.Before
		}
	}
}

// Links yields the events of ledgers that end at these tips, each once and
// before the one before it, as git lists them: it opens no commit. Where the
// clone is shallow they end.
func Links(ctx context.Context, repo *git.Repo, tips ...git.Hash) iter.Seq2[*CommitEvent, error] {
	return func(yield func(*CommitEvent, error) bool) {
		if len(tips) == 0 {
			return
		}
		var in strings.Builder
		for _, tip := range tips {
			in.WriteString(repo.Format().Text(tip) + "\n")
		}
		out, err := repo.Output(ctx, strings.NewReader(in.String()), "rev-list", "--first-parent", "--parents", "--timestamp", "--stdin")
		if err != nil {
			yield(nil, err)
			return
		}
		for line := range strings.Lines(string(out)) {
			at, hashes, err := git.ParseRevision(line)
			if err != nil {
				yield(nil, err)
				return
			}
			c := &CommitEvent{Hash: hashes[0], At: at}
			if c.parents(hashes[1:]); !yield(c, nil) {
				return
			}
		}
	}
}
