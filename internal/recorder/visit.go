package recorder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/turns"
)

// A session visits a repository that it does not stand in when its tools act
// there. The visit's turn has the prompt and the reply of the turn at home, and
// what changed here; the conversation stays at home.

// arrive returns the start of a visit. Nothing of it is in the ledger before the
// turn ends, since most visits only read.
//
// If calls have run already, it is the state before them: HEAD as it was, with what
// was uncommitted in the journal's last state, and the files as they are now that
// were written before. A file that was removed before counts as the calls'.
func (r *recording) arrive(s start) (start, error) {
	message := ledger.CodeMessage(fmt.Sprintf("before turn %d", r.last+1), r.id, 0, r.Session)
	s.head, s.branch = r.head, r.branch
	var err error
	if r.Began.IsZero() {
		s.base, _, err = commit(r.tx, s, r.onBranch, message)
	} else {
		s, err = r.arriveLate(s, message)
	}
	if err != nil {
		return s, err
	}
	return s, r.tx.Objects.Flush()
}

func (r *recording) arriveLate(s start, message string) (start, error) {
	entries, err := journal.Read(r.Repo)
	if err != nil {
		r.warn("in which state the visit began is not known: %v", err)
	}
	left := lastLeft(entries, r.Began.UnixMilli())
	if left == nil {
		left = new(journal.Entry)
	}
	if s.head, err = headAt(r.tx.Objects, r.Repo, r.head, left.Head, r.Began); err != nil {
		return s, err
	}
	if s.base = s.head; s.head.IsZero() {
		empty, err := r.tx.Objects.EmptyTree()
		if err == nil {
			s.base, err = r.tx.CommitTree(empty, nil, message)
		}
		if err != nil {
			return s, err
		}
	}
	kept, err := r.tx.Objects.TreeOf(s.base)
	if err != nil {
		return s, err
	}
	tree, err := r.carried(left, kept)
	if err != nil {
		return s, err
	}
	if tree, _, err = touchedBefore(r.tx.Objects, r.Repo, tree, r.tx.Snap.Tree, r.Began); err != nil {
		return s, err
	}
	if tree != kept {
		s.base, err = r.tx.CommitTree(tree, []object.Hash{s.base}, message)
	}
	r.began, r.startHead = tree, s.head
	return s, err
}

// carried returns HEAD's tree with what a state had changed in its own HEAD's, but
// for files that were committed since.
func (r *recording) carried(left *journal.Entry, head object.Hash) (object.Hash, error) {
	if left.Tree.IsZero() || !r.complete(head, left.Tree) {
		return head, nil
	}
	from, err := r.tx.Objects.TreeOf(left.Head)
	if err == nil && left.Head.IsZero() {
		from, err = r.tx.Objects.EmptyTree()
	}
	if err != nil {
		return head, nil //nolint:nilerr // a HEAD that is gone says nothing
	}
	if from == head {
		return left.Tree, nil
	}
	dirty, ok, err := gitdiff.Differences(r.tx.Objects, from, []object.Hash{left.Tree}, maxSeparated)
	if err != nil || !ok {
		return head, err
	}
	changes := make(map[string]object.Entry)
	for _, d := range dirty {
		if e, err := r.tx.Objects.Lookup(head, d.Path); err == nil && e == d.Old {
			changes[d.Path] = d.New
		}
	}
	giveWay(changes)
	return r.tx.Objects.EditTree(head, changes)
}

// lastLeft returns the last state that was seen before the calls of a visit began,
// in ms, also one that the session itself left in a turn before. A look that was
// not over then may have seen what they did. It is nil if there is none.
func lastLeft(entries []*journal.Entry, began int64) *journal.Entry {
	for _, e := range slices.Backward(entries) {
		if !e.Tree.IsZero() && e.At+e.Took <= began {
			return e
		}
	}
	return nil
}

// headAt returns HEAD of a worktree as it was at a time, before commits that were
// made on it since; zero if that was none. known is a commit that it was at
// before. A reflog that is older says that there are none. Of a commit git knows
// the second, and when it was written as long as it is loose.
func headAt(objects *git.Objects, repo *git.Repo, head, known object.Hash, began time.Time) (object.Hash, error) {
	older := func(dir string, name ...string) bool {
		file, err := os.Stat(filepath.Join(append([]string{dir}, name...)...))
		return err == nil && file.ModTime().Before(began.Add(-tick))
	}
	if older(repo.GitDir, "logs", "HEAD") {
		return head, nil
	}
	at := head
	for range maxCommits {
		if at.IsZero() || at == known {
			return at, nil
		}
		c, err := objects.Commit(at)
		if err != nil {
			return at, err
		}
		name := at.String()
		if c.Committer.When.Unix() < began.Unix() || older(repo.CommonDir, "objects", name[:2], name[2:]) {
			return at, nil
		}
		if len(c.Parents) == 0 {
			return object.Hash{}, nil
		}
		at = c.Parents[0]
	}
	return head, nil
}

// unchanged reports whether the turn that ends has changed nothing: the
// worktree and HEAD are as they were, and no other worktree of the session may hold
// something. What it can't tell, [recording.onlyOthers] does.
func (r *recording) unchanged(ctx context.Context) (bool, error) {
	o := r.state.Open
	if o == nil {
		return false, nil
	}
	base, err := r.tx.Objects.TreeOf(o.Base)
	if err != nil || base != r.tx.Snap.Tree || o.Head != r.tx.Snap.Head.Commit {
		return false, nil //nolint:nilerr // a base that is gone says nothing
	}
	if slices.ContainsFunc(r.Store.LoadBeside(r.Session), func(e session.Beside) bool { return r.mayHold(ctx, e) }) {
		return false, nil
	}
	return true, nil
}

// mayHold reports whether another worktree of the session has changed, or is there
// to be looked at.
func (r *recording) mayHold(ctx context.Context, e session.Beside) bool {
	return e.GitDir != r.Repo.GitDir && (worktreeOf(ctx, r.Repo, e.GitDir) != nil || !e.Code.IsZero() && !r.alike(e.Base, e.Code))
}

// onlyOthers reports whether all that a turn's states differ in is others' work.
func (r *recording) onlyOthers(t *turns.Turn, s start) bool {
	switch {
	case len(t.Worktrees) > 0:
		return false
	case s.head == r.head && r.alike(t.Base, t.Code): // whatever calls were not told of
		return true
	case t.Own != nil:
		return len(t.Own.With) > 0 && t.Own.Files == 0 && (s.head == r.head || len(t.Own.Commits) == 0) && !slices.Contains(t.Own.Commits, t.Code)
	case r.during == nil || len(r.Untold) > 0 || !r.alike(t.Base, t.Code):
		return false
	}
	p := span{Span: *r.during, who: r.who(), to: r.seenAt(), head: s.head}
	return len(r.commits(p, p.claims())) == 0 // somebody else's commits moved HEAD
}
