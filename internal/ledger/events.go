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
	"gitagent/internal/git/object"
)

// A CommitEvent is an event of a ledger, read from its commit.
type CommitEvent struct {
	Hash   object.Hash
	Before object.Hash   // the previous event; zero for the first one
	Keeps  []object.Hash // the commits it keeps reachable
	At     time.Time     // in seconds

	Tree    object.Hash // not set by [Links]
	Subject string      // not set by [Links]
}

func (c *CommitEvent) parents(hashes []object.Hash) {
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
	ahead   map[object.Hash][]byte // contents that were read in a batch
	looked  int
}

const (
	// oneByOne commits are read singly, as many as a fork or prime mostly
	// needs. A longer chain is read in batches, in a fifth of the time.
	oneByOne = 32
	batch    = 20_000
	// maxAhead bounds the bytes held of a batch; the rest is read again.
	maxAhead = 64 << 20
)

// NewChain returns a Chain of at most most commits of at most size bytes.
func NewChain(ctx context.Context, repo *git.Repo, objects *git.Objects, size int64, most int) *Chain {
	return &Chain{ctx: ctx, repo: repo, objects: objects, size: size, most: most}
}

// Looked returns how many commits were read.
func (c *Chain) Looked() int { return c.looked }

// Read returns the content of a commit. It also goes past the boundary of a
// shallow clone, where a ledger's first parents mostly exist.
func (c *Chain) Read(at object.Hash) ([]byte, error) {
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

var errEnough = errors.New("enough")

func (c *Chain) readAhead(from object.Hash) error {
	out, err := c.repo.Output(c.ctx, nil, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(min(batch, c.most-c.looked+1)), from.String(), "--")
	if err != nil {
		return err
	}
	var wanted []git.Wanted
	for hash := range strings.FieldsSeq(string(out)) {
		wanted = append(wanted, git.Wanted{Hash: object.NewHash(hash), Most: c.size})
	}
	c.ahead = make(map[object.Hash][]byte, len(wanted))
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

// Events yields at most most events of a ledger, from tip to the first. An
// unreadable one is an error, and ends it.
func Events(ctx context.Context, repo *git.Repo, objects *git.Objects, tip object.Hash, most int) iter.Seq2[*CommitEvent, error] {
	return func(yield func(*CommitEvent, error) bool) {
		chain := NewChain(ctx, repo, objects, git.MaxCommit, most)
		at := tip
		for n := 0; n < most && !at.IsZero(); n++ {
			content, err := chain.Read(at)
			var parsed *object.Commit
			if err == nil {
				parsed, err = object.ParseCommit(content)
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

// Links yields the events of these ledgers, each once and before its
// predecessor, up to a shallow clone's boundary. It opens no commit.
func Links(ctx context.Context, repo *git.Repo, tips ...object.Hash) iter.Seq2[*CommitEvent, error] {
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
			at, hashes, err := object.ParseRevision(line)
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
