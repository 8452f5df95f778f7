// Package trust decides how much of a mission this user may rely on.
//
// Everything in a repository may come from anyone who can push to it. A ledger
// is a chain of commits, usable up to the newest commit that, like all before
// it, was written by this clone, accepted by a person with what precedes it, or
// signed by a trusted key. The rest is untrusted. Names and addresses in
// commits count for nothing.
//
// What this clone wrote and a person accepted is recorded in the git directory,
// where no fetch can change it ([known]). The keys are the user's, outside of
// every repository ([Keys]).
package trust

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
)

// A Trust is what a user trusts in a repository, safe for concurrent use.
type Trust struct {
	dir  *statedir.Dir // the local state, with the records
	keys func() *Keys
}

// New returns the trust of a repository by its local state; it needs keys once.
func New(dir *statedir.Dir, keys func() *Keys) *Trust {
	return &Trust{dir: dir, keys: sync.OnceValue(keys)}
}

// Keys returns the user's keys.
func (t *Trust) Keys() *Keys { return t.keys() }

// A Level is how much of a mission may be relied on.
type Level struct {
	// Commit is the newest commit of the ledger up to which everything may be
	// relied on. A turn or a handoff may be used if it stands in this commit's
	// tree, as it stands there. Zero for none.
	Commit object.Hash
	// Whole is true if nothing comes after Commit.
	Whole bool
	// Untrusted is the oldest commit after Commit; zero if there is none.
	Untrusted object.Hash
	// Here is true if Commit was written by this clone, or accepted in it. A
	// signature alone says that somebody wrote it, but not that it is about
	// this repository.
	Here bool
	By   string // writer of the newest commit: see [Clone]
	// Sure is false if something was not here that may come, as in a shallow clone.
	Sure bool
}

// Writers that are not in the list of keys.
const (
	Clone   = "this clone"
	Machine = "this machine" // its key, and another clone
	Unknown = "unknown"
)

// Of decides about a mission whose ledger ends at tip. For a chain that was
// decided about it costs a file, for a new event the event and 0.1 ms for its
// signature.
func (t *Trust) Of(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID, tip object.Hash) (Level, error) {
	r, err := t.load(id)
	if err != nil {
		return Level{}, err
	}
	w := &walk{id: id, record: r, keys: t.Keys, chain: newChain(ctx, repo, objects)}
	s, err := w.level(tip)
	if err != nil {
		return Level{}, fmt.Errorf("look who wrote mission %s: %w", id, err)
	}
	s.Sure = !w.chain.gap && !w.chain.unread
	if w.chain.Looked() > keepAfter && r.size < longRecord && !w.chain.gap {
		_ = t.add(id, s.line(tip, t.Keys().digest)) // or the next time takes as long again
	}
	return s, nil
}

// keepAfter is how many commits are checked each time rather than noted.
const keepAfter = 8

// Ours reports whether a writer is this user on this machine.
func Ours(by string) bool { return by == Clone || by == Machine }

// A walk reads a chain from its newest commit.
type walk struct {
	id     record.ID
	record *known
	keys   func() *Keys
	chain  *chain
}

// A beginning is the usable part of a chain.
type beginning struct {
	commit, foreign object.Hash
	here            bool
}

// level walks from tip to the root. The usable part ends at the first commit
// that counts, unless one below it does not count.
//
// The newest usable commit must have been written for the mission of this id,
// as somebody could put a signed ledger under another name. A side of a mission
// that went on in two clones has the first 12 digits of one of its commits as
// its id.
func (w *walk) level(tip object.Hash) (s Level, err error) {
	s.By = Unknown
	var named, any beginning // written for this mission, and for any
	side := false
	counts := func(b beginning, of record.ID) {
		if any.commit.IsZero() {
			any = b
		}
		if named.commit.IsZero() && of == w.id {
			named = b
		}
	}
	var above object.Hash // the commit after the one that is looked at
	at := tip
	for done := false; !done; {
		side = side || len(w.id) == 12 && strings.HasPrefix(at.String(), string(w.id))
		parent, here, of := object.Hash{}, true, w.id
		switch before, own := w.record.own[at]; {
		case w.record.accepted[at]:
		case own:
			parent = before
		default:
			if c, ok := w.record.checked[at]; ok && c.keys == w.keys().digest {
				if c.commit != at { // nothing after it can count either
					return c.beginning.level(s, tip), nil
				}
				here = c.here
				break
			}
			var ok bool
			if parent, of, ok, err = w.look(at); err != nil {
				return s, err
			}
			if here = false; !ok {
				named, any, of = beginning{}, beginning{}, ""
			}
		}
		if at == tip {
			s.By = w.writer(tip)
		}
		if of != "" {
			counts(beginning{at, above, here}, of)
		}
		if done = parent.IsZero(); !done {
			above, at = at, parent
		}
	}
	if side {
		named = any
	}
	if named.commit.IsZero() {
		named.foreign = at
	}
	return named.level(s, tip), nil
}

func (b beginning) level(s Level, tip object.Hash) Level {
	s.Commit, s.Untrusted, s.Here, s.Whole = b.commit, b.foreign, b.here, b.commit == tip
	if !s.Whole {
		s.By = Unknown
	}
	return s
}

// look reads a commit. ok says whether it counts: it has our form and a trusted
// key's signature, and if it is the first one, it holds the mission's head
// alone. A commit that is not here, as in a shallow clone, does not count, and
// nobody knows what came before.
func (w *walk) look(at object.Hash) (parent object.Hash, of record.ID, ok bool, err error) {
	content, err := w.chain.read(at)
	if err != nil || content == nil {
		return parent, "", false, err
	}
	s, formed := ledger.ParseSigned(content)
	if !formed {
		c, err := object.ParseCommit(content)
		if err == nil && len(c.Parents) > 0 {
			parent = c.Parents[0]
		}
		return parent, "", false, nil
	}
	ok = w.keys().Trusts(s.By) && s.Verify()
	if ok && s.Parent.IsZero() {
		ok = w.chain.headAlone(s.Tree)
	}
	return s.Parent, s.Of, ok, nil
}

// writer names who wrote a commit that counts.
func (w *walk) writer(at object.Hash) string {
	if _, own := w.record.own[at]; own {
		return Clone
	}
	content, _ := w.chain.read(at)
	if s, ok := ledger.ParseSigned(content); ok && s.Verify() {
		return w.keys().Name(s.By)
	}
	return Unknown
}

// A chain reads the commits of a ledger that can be events, newest first.
type chain struct {
	*ledger.Chain
	objects *git.Objects
	gap     bool // one was not here, and may come later
	unread  bool // a tree could not be read
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
func (c *chain) read(at object.Hash) ([]byte, error) {
	content, err := c.Read(at)
	missing := errors.Is(err, plumbing.ErrObjectNotFound)
	if c.gap = c.gap || missing; missing || errors.Is(err, git.ErrTooLarge) {
		return nil, nil
	}
	return content, err
}

// headAlone reports whether a tree holds mission.json and nothing else.
func (c *chain) headAlone(tree object.Hash) bool {
	entries, err := c.objects.Tree(tree, ledger.MaxTree)
	c.unread = c.unread || err != nil
	return err == nil && len(entries) == 1 && !entries["mission.json"].Hash.IsZero()
}
