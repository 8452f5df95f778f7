package purgerewrite

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// A codeState is a commit that holds a state and may be rewritten.
type codeState struct {
	at      Place
	when    time.Time
	tree    object.Hash
	parents []object.Hash
	left    []string // what its successor leaves out
}

// IsOurs reports whether a commit with that message holds the state of a turn:
// it has our trailer, and not that of a person's commit of several turns.
func IsOurs(message string) bool {
	_, ours := ledger.ReadCodeMessage(message)
	return ours && !strings.Contains(message, "\n"+ledger.TrailerTurns+": ")
}

// findStates reads the commits that ledgers keep or name, and takes ours.
func (r *Rewrite) findStates(ctx context.Context, kept map[object.Hash]bool) error {
	var list []object.Hash
	for hash := range kept {
		if _, known := r.done[hash]; !known {
			list = append(list, hash)
		}
	}
	for hash := range r.Theirs {
		if _, known := r.done[hash]; !known && !kept[hash] {
			list = append(list, hash)
		}
	}
	slices.SortFunc(list, object.Hash.Compare)
	return r.each(ctx, list, git.MaxCommit, func(hash object.Hash, content []byte) error {
		c, err := object.ParseCommit(content)
		if err != nil {
			return nil // a tag, a blob: an untrusted record can name anything
		}
		id, _ := ledger.ReadCodeMessage(c.Message)
		if IsOurs(c.Message) {
			r.ours[hash] = true
		} else if !r.Theirs[hash] {
			return nil
		}
		r.states[hash] = &codeState{at: Place{Mission: id.Mission, Turn: id.Turn, Kind: Code}, when: c.Committer.When, tree: c.Tree, parents: c.Parents}
		return nil
	})
}

// inOrder returns the commits that may be rewritten, parents first, else the
// oldest first: what several have is then found in the turn it came with.
func (r *Rewrite) inOrder() []object.Hash {
	var order []object.Hash
	seen := make(map[object.Hash]bool, len(r.states))
	roots := make([]object.Hash, 0, len(r.states))
	for hash := range r.states {
		roots = append(roots, hash)
	}
	slices.SortFunc(roots, func(a, b object.Hash) int {
		x, y := r.states[a], r.states[b]
		named := func(s *codeState) int { return cmp.Compare(0, s.at.Turn) } // states between turns go after turns
		return cmp.Or(x.when.Compare(y.when), named(x)-named(y), strings.Compare(string(x.at.Mission), string(y.at.Mission)), x.at.Turn-y.at.Turn, a.Compare(b))
	})
	type visit struct {
		hash object.Hash
		next int // of the parents
	}
	for _, root := range roots {
		if seen[root] {
			continue
		}
		seen[root] = true
		stack := []visit{{hash: root}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			parents := r.states[top.hash].parents
			if top.next == len(parents) {
				order = append(order, top.hash)
				stack = stack[:len(stack)-1]
				continue
			}
			parent := parents[top.next]
			top.next++
			if r.states[parent] != nil && !seen[parent] {
				seen[parent] = true
				stack = append(stack, visit{hash: parent})
			}
		}
	}
	return order
}

func (r *Rewrite) code(ctx context.Context) error {
	order := r.inOrder()
	if len(r.Target.Paths.Specs) > 0 {
		if err := r.findPaths(ctx, order); err != nil {
			return err
		}
	}
	if r.Seen != nil { // what leads to nothing has no ancestor that changes
		order = slices.DeleteFunc(order, r.clean)
	}
	for part := range slices.Chunk(order, together) {
		if err := r.prefetch(ctx, slices.DeleteFunc(slices.Clone(part), func(hash object.Hash) bool { return r.stays(hash, r.states[hash].tree) })); err != nil {
			return err
		}
		for _, hash := range part {
			if err := r.codeCommit(ctx, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Rewrite) findPaths(ctx context.Context, order []object.Hash) error {
	var trees []object.Hash
	err := r.each(ctx, order, git.MaxCommit, func(_ object.Hash, content []byte) error {
		c, err := object.ParseCommit(content)
		if err == nil {
			trees = append(trees, c.Tree)
		}
		return err
	})
	if err != nil {
		return err
	}
	only := r.Target.Paths
	if only.Dir != "" {
		only.Dir = filepath.Join(r.Repo.Top, only.Dir)
	}
	found, err := gitdiff.Matching(ctx, r.Repo, trees, only)
	r.paths = new(paths)
	for file := range found {
		r.paths.add(file)
	}
	return err
}

func (r *Rewrite) codeCommit(ctx context.Context, hash object.Hash) error {
	at := r.states[hash].at
	if state := r.states[hash]; r.stays(hash, state.tree) && slices.Equal(r.mapped(state.parents), state.parents) {
		return nil
	}
	content, err := r.read(plumbing.CommitObject, hash, git.MaxCommit)
	if err != nil {
		return r.unread(ctx, at, err)
	}
	old, ok := object.ParseRaw(content)
	if !ok {
		return r.unread(ctx, at, errCommit)
	}
	c := *old
	c.Parents = r.mapped(old.Parents)
	whole := r.ours[hash] && r.Target.turn(record.TurnID{Mission: at.Mission, Turn: at.Turn})
	if whole {
		c.Message = blankMessage(old.Message)
		if c.Tree, err = r.treeOf(c.Parents); c.Tree != old.Tree || c.Message != old.Message {
			r.find(at, Redacted, 1)
		}
	} else {
		c.Message = r.cleanMessage(at, old.Message)
		only := r.paths
		if more := r.Lacks[hash]; len(more) > 0 {
			only = new(paths)
			for _, path := range more {
				only.add(path)
			}
		}
		var tree pruned
		tree, err = r.tree(ctx, at, old.Tree, only)
		if r.states[hash].left = tree.left; err == nil {
			c.Tree = tree.hash
		}
		if err == nil && c.Tree.IsZero() {
			c.Tree, err = r.Objects.EmptyTree()
		}
	}
	if err != nil {
		return err
	}
	c.Author, c.Committer = r.cleanWho(at, old.Author), r.cleanWho(at, old.Committer)
	return r.replace(hash, old, &c, nil)
}

// treeOf returns the tree of the first, rewritten parent, or the empty one.
func (r *Rewrite) treeOf(parents []object.Hash) (object.Hash, error) {
	if len(parents) == 0 {
		return r.Objects.EmptyTree()
	}
	return r.Objects.TreeOf(parents[0])
}

// blankMessage returns a turn's commit message without its prompt.
func blankMessage(message string) string {
	subject, _, _ := strings.Cut(message, "\n")
	subject, _, _ = strings.Cut(subject, ": ")
	if i := strings.LastIndex(message, "\n\nAgent-Mission: "); i >= 0 {
		return subject + message[i:]
	}
	return subject + "\n"
}

func (r *Rewrite) mapped(parents []object.Hash) (list []object.Hash) {
	for _, parent := range parents {
		if to := r.Successor(parent); !to.IsZero() && (!slices.Contains(list, to) || to == parent) {
			list = append(list, to)
		}
	}
	return list
}
