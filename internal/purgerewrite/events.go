package purgerewrite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
)

var errCommit = errors.New("not a commit that can be written again")

type chain struct {
	Chain
	events []object.Hash // the oldest first
	trees  []object.Hash // of the events
	names  []record.ID   // missions that its records name
	begun  bool
}

// readChain reads a ledger's events, what they keep, and what its records name.
func (r *Rewrite) readChain(ctx context.Context, c Chain, kept map[object.Hash]bool) (*chain, error) {
	out := &chain{Chain: c}
	for e, err := range ledger.Events(ctx, r.Repo, r.Objects, c.Tip, math.MaxInt) {
		if git.Lost(err) || errors.Is(err, git.ErrTooLarge) {
			r.find(Place{Mission: c.ID, Kind: Record}, Unread, 1) // absent in a shallow clone
			break
		}
		if err != nil {
			return nil, err
		}
		out.events, out.trees = append(out.events, e.Hash), append(out.trees, e.Tree)
		for _, commit := range e.Keeps {
			kept[commit] = true
		}
	}
	slices.Reverse(out.events)
	slices.Reverse(out.trees)
	usable := slices.Index(out.events, c.Usable)
	for _, hash := range out.events[:usable+1] {
		r.usable[hash] = true
	}
	if len(c.ID) == 12 {
		for _, hash := range out.events {
			if strings.HasPrefix(hash.String(), string(c.ID)) {
				r.naming[c.ID] = hash
			}
		}
	}
	return out, r.readRecords(ctx, out, kept)
}

// readRecords reads the newest records of a ledger: the commits and missions
// that they name, and the prompts of purged turns.
func (r *Rewrite) readRecords(ctx context.Context, c *chain, kept map[object.Hash]bool) error {
	if len(c.events) == 0 {
		return nil
	}
	var blobs []object.Hash
	tree, err := r.Objects.TreeOf(c.events[len(c.events)-1])
	if err == nil {
		tree, err = r.top(tree)
	}
	if err != nil {
		return r.unread(ctx, Place{Mission: c.ID, Kind: Record}, err)
	}
	if err := r.recordsIn(ctx, c.ID, "", tree, &blobs); err != nil {
		return err
	}
	var turns []shape
	err = r.each(ctx, blobs, ledger.MaxHandoff, func(_ object.Hash, content []byte) error {
		if !json.Valid(content) {
			return nil
		}
		var s shape
		if json.Unmarshal(content, &s) == nil && s.Kind == record.KindTurn && r.Target.turn(record.TurnID{Mission: s.Mission, Turn: s.Turn}) {
			r.prompts = append(r.prompts, s.Prompt)
		}
		scrub.Tokens(content, func(v scrub.Token) {
			if v.Kind != '"' {
				return
			}
			text := string(content[v.From+1 : v.To-1])
			if hash, err := object.ParseHash(text); err == nil && !s.rule(v.Name()).Is(record.Users) {
				kept[hash] = true
			} else if id, err := record.ParseID(text); err == nil && len(id) == 12 && id != c.ID && !slices.Contains(c.names, id) {
				c.names = append(c.names, id)
			}
		})
		if s.Kind == record.KindTurn {
			turns = append(turns, s)
		}
		return nil
	})
	if err == nil && r.Filtered {
		err = r.dropped(c, turns)
	}
	return err
}

// dropped gives the commits of turns that a filter dropped, as nothing was left
// of what they changed, the commits that have the same files: those that the
// turns began with. The first of them have the parent of the first one that is
// left: the filter gave it the nearest that is.
func (r *Rewrite) dropped(c *chain, turns []shape) error {
	slices.SortFunc(turns, func(a, b shape) int { return a.Turn - b.Turn })
	var before, left object.Hash
	var first []object.Hash
	for _, s := range turns {
		for _, h := range []object.Hash{object.NewHash(s.Base), object.NewHash(s.Code)} {
			to, known := r.done[h]
			if !known {
				to = h
			}
			switch {
			case !to.IsZero() && r.Objects.Has(to) != nil: // lost before
			case !to.IsZero():
				before, left = to, cmp.Or(left, to)
			case known && before.IsZero():
				first = append(first, h)
			case known:
				r.done[h] = before
			}
		}
	}
	if len(first) == 0 {
		return nil
	}
	to, err := r.parent(c, left)
	for _, h := range first {
		r.done[h] = to
	}
	return err
}

// parent returns a commit's first parent. Before the first commit of all that is
// one without files, which the ledger will keep.
func (r *Rewrite) parent(c *chain, of object.Hash) (object.Hash, error) {
	if !of.IsZero() {
		commit, err := r.Objects.Commit(of)
		if err != nil {
			return object.Hash{}, err
		}
		if len(commit.Parents) > 0 {
			return commit.Parents[0], nil
		}
	}
	content, err := r.read(plumbing.CommitObject, c.events[0], git.MaxCommit)
	if err != nil {
		return object.Hash{}, err
	}
	root, ok := object.ParseRaw(content)
	if !ok {
		return object.Hash{}, errCommit
	}
	root.Parents, root.Others, root.Message = nil, nil, "before the first commit\n"
	if root.Tree, err = r.Objects.EmptyTree(); err != nil {
		return object.Hash{}, err
	}
	to, err := r.write(plumbing.CommitObject, root.Encode())
	r.roots[c.events[min(1, len(c.events)-1)]] = to // the first event has no parents
	return to, err
}

func (r *Rewrite) recordsIn(ctx context.Context, id record.ID, dir string, tree object.Hash, blobs *[]object.Hash) error {
	content, err := r.read(plumbing.TreeObject, tree, git.MaxTree)
	var list []object.RawEntry
	if err == nil {
		list, err = object.ParseRawTree(tree.Format(), content)
	}
	if err != nil {
		return r.unread(ctx, Place{Mission: id, Kind: Record}, err)
	}
	for _, e := range list {
		path := join(dir, e.Name)
		switch {
		case e.Kind() == isFile && isRecord(path):
			*blobs = append(*blobs, e.Hash)
		case e.Kind() == filemode.Dir && (path == "turns" || path == "handoffs" || dir == "turns" || dir == "handoffs"):
			if err := r.recordsIn(ctx, id, path, e.Hash, blobs); err != nil {
				return err
			}
		}
	}
	return nil
}

// chains rewrites a ledger, after those that its records name: ids may change.
func (r *Rewrite) chains(ctx context.Context, all map[record.ID]*chain, c *chain) error {
	if c.begun {
		return nil
	}
	c.begun = true
	for _, id := range c.names {
		if other := all[id]; other != nil {
			if err := r.chains(ctx, all, other); err != nil {
				return err
			}
		}
	}
	if r.untouched(c) {
		for _, hash := range c.events {
			r.events[hash] = true
		}
		return nil
	}
	for part := range slices.Chunk(c.events, together) {
		if err := r.prefetch(ctx, part); err != nil {
			return err
		}
		for _, hash := range part {
			if err := r.event(ctx, c, hash); err != nil {
				return fmt.Errorf("rewrite event %s of mission %s: %w", hash, c.ID, err)
			}
		}
	}
	return nil
}

// untouched reports whether a ledger stays as it is: nothing is found in it, and
// nothing was replaced that it could name.
func (r *Rewrite) untouched(c *chain) bool {
	if r.Seen == nil || len(r.done) > 0 {
		return false
	}
	for i, hash := range c.events {
		if !r.stays(hash, c.trees[i]) {
			return false
		}
	}
	return true
}

// event rewrites a commit of a ledger, whose first parent is rewritten already.
func (r *Rewrite) event(ctx context.Context, c *chain, hash object.Hash) error {
	if _, known := r.done[hash]; known || r.events[hash] {
		return nil
	}
	r.events[hash] = true
	at := Place{Mission: c.ID, Kind: Record}
	content, err := r.read(plumbing.CommitObject, hash, git.MaxCommit)
	if err != nil {
		return r.unread(ctx, at, err)
	}
	old, ok := object.ParseRaw(content)
	if !ok {
		return r.unread(ctx, at, errCommit)
	}
	next := *old
	next.Parents = r.mapped(old.Parents)
	if root, ok := r.roots[hash]; ok && len(next.Parents) > 0 {
		next.Parents = append(next.Parents, root)
	}
	top, err := r.top(old.Tree)
	if err != nil {
		return r.unread(ctx, at, err)
	}
	l, err := r.ledgerAt(ctx, c.ID, top)
	if err != nil {
		return err
	}
	at.Mission = l.began
	if next.Tree, err = l.rewrite(ctx); err != nil {
		return err
	}
	next.Author, next.Committer = r.cleanWho(at, old.Author), r.cleanWho(at, old.Committer)
	next.Message = r.cleanMessage(at, old.Message)
	of := l.began
	signed, ok := ledger.ParseSigned(content)
	if ok {
		of = signed.Of
	}
	if to, ok := r.renamed(of); ok {
		of = to
	}
	var sign func([]byte) []byte
	if r.usable[hash] {
		next.Others = nil
		sign = func(content []byte) []byte { return ledger.Sign(content, of, r.Key, r.Repo.Format()) }
	}
	if r.Filtered && !ok && sign != nil && r.Key != nil {
		return r.succeed(hash, &next, sign)
	}
	return r.replace(hash, old, &next, sign)
}

// top returns the tree that holds the files of a ledger, given a commit's.
func (r *Rewrite) top(tree object.Hash) (object.Hash, error) {
	for at := tree; r.Filtered; {
		entries, err := r.Objects.Tree(at, git.MaxTree)
		if err != nil {
			return tree, err
		}
		if entries["mission.json"].Mode.IsFile() {
			return at, nil
		}
		below := slices.Collect(maps.Values(entries))
		if len(below) != 1 || below[0].Mode != filemode.Dir {
			break
		}
		at = below[0].Hash
	}
	return tree, nil
}

// replace writes the successor of a commit, unless only headers would differ.
func (r *Rewrite) replace(hash object.Hash, old, next *object.Raw, sign func([]byte) []byte) error {
	if next.Tree == old.Tree && slices.Equal(next.Parents, old.Parents) && next.Author == old.Author &&
		next.Committer == old.Committer && next.Message == old.Message {
		return nil
	}
	return r.succeed(hash, next, sign)
}

func (r *Rewrite) succeed(hash object.Hash, next *object.Raw, sign func([]byte) []byte) error {
	unsigned(next)
	content := next.Encode()
	if sign != nil {
		content = sign(content)
	}
	to, err := r.write(plumbing.CommitObject, content)
	r.done[hash], r.replaced[hash] = to, to
	return err
}

func (r *Rewrite) renamed(id record.ID) (record.ID, bool) {
	commit, ok := r.naming[id]
	if !ok {
		return id, false
	}
	to := r.Successor(commit)
	if to == commit || to.IsZero() {
		return id, false
	}
	return record.OfCommit(to), true
}

// turnOf reads a turn's number from the name of a file or directory.
func turnOf(name string) int {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".jsonl")
	if n, err := strconv.Atoi(name); err == nil && len(name) == 6 && record.IsNumber(n) {
		return n
	}
	return 0
}
