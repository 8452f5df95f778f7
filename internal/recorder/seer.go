package recorder

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A seer makes commits of worktrees' states.
type seer struct {
	*workspace.Workspace
	objects *git.Objects
	conf    git.Config
	mission record.ID
	session string
	at      time.Time
}

// see notes the state of a worktree and, at the first time, where it began: at
// the commit that it was made with, if that was in the turn, else as it is.
func (s *seer) see(ctx context.Context, repo *git.Repo, e *session.Beside, known *session.Known) error {
	held, err := s.Store.LockWorktree(ctx, repo.GitDir)
	if err != nil {
		return err
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	began := time.Now()
	snap, err := snapshot.Take(ctx, repo, s.objects, snapshot.Options{Policy: s.Policy(), Config: func() (git.Config, error) { return s.conf, nil }})
	if err != nil {
		return err
	}
	e.At, e.Cost = began.UnixMilli(), max(1, time.Since(began).Milliseconds())
	if s.objects.Has(e.Base) != nil { // a purge or a git gc has taken it
		e.Base = object.Hash{}
	}
	e.Name, e.Branch = nameOf(repo), valid(strings.TrimPrefix(snap.Head.Branch, "refs/heads/"))
	if e.Code, err = s.commit(snap.Head.Commit, snap.Tree, e.Code); err != nil || !e.Base.IsZero() {
		return err
	}
	// A sub-agent outlives the turn that called it, and may be seen late.
	its := e.Agent != "" && strings.Contains(e.Name, e.Agent)
	if made := madeWith(repo); (its || !time.Unix(0, e.Made).Before(since(known).Add(-tick))) && !made.IsZero() && s.objects.Has(made) == nil {
		e.Base = made
		return nil
	}
	e.Base, err = s.found(repo, snap, since(known))
	return err
}

// since returns when the session's running turn began, or the last one.
func since(known *session.Known) time.Time {
	switch {
	case known.Open != nil:
		return known.Open.Started
	case known.Last != nil:
		return known.Last.Started
	}
	return time.Time{}
}

// found returns the commit of a state that a worktree had at a time, as far as
// what is there tells: HEAD then, and the files that were written before.
func (s *seer) found(repo *git.Repo, snap *snapshot.Snapshot, at time.Time) (object.Hash, error) {
	head, err := headAt(s.objects, repo, snap.Head.Commit, object.Hash{}, at)
	if err != nil {
		return head, err
	}
	tree, err := s.objects.TreeOf(head)
	if err == nil && head.IsZero() {
		tree, err = s.objects.EmptyTree()
	}
	if err == nil {
		tree, _, err = touchedBefore(s.objects, repo, tree, snap.Tree, at)
	}
	if err != nil {
		return head, err
	}
	return s.commit(head, tree, object.Hash{})
}

// commit returns HEAD or the commit before if they have the state, else a new one.
func (s *seer) commit(head, state, before object.Hash) (object.Hash, error) {
	var parents []object.Hash
	if !head.IsZero() {
		if tree, err := s.objects.TreeOf(head); err != nil || tree == state {
			return head, err
		}
		parents = append(parents, head)
	}
	if tree, err := s.objects.TreeOf(before); err == nil && !before.IsZero() && tree == state {
		if of, err := s.objects.Parents(before); err == nil && slices.Equal(of, parents) {
			return before, nil
		}
	}
	message := "a worktree of the session\n"
	if s.mission != "" {
		message = ledger.CodeMessage("a worktree of the session", s.mission, 0, s.session)
	}
	return s.objects.CommitTree(state, parents, s.conf.Author(s.at), s.conf.Committer(s.at), message)
}

// madeAt returns when a linked worktree was made, in nanoseconds, or zero.
func madeAt(gitDir string) int64 {
	info, err := os.Stat(filepath.Join(gitDir, "commondir")) // written once, and the main worktree has none
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// madeWith returns the commit that a linked worktree was made with, as the first
// line of its reflog says; zero if that is not known.
func madeWith(repo *git.Repo) object.Hash {
	b, err := os.ReadFile(filepath.Join(repo.GitDir, "logs", "HEAD"))
	fields := strings.Fields(string(b[:min(len(b), 200)]))
	if err != nil || repo.GitDir == repo.CommonDir || len(fields) < 2 {
		return object.Hash{}
	}
	return object.NewHash(fields[1])
}

// nameOf returns the name of a worktree's directory, as states are named by it.
func nameOf(repo *git.Repo) string {
	name := strings.Map(func(r rune) rune {
		if turns.IsWorktreeName(string(r)) {
			return r
		}
		return '-'
	}, filepath.Base(repo.Top))
	name = strings.ReplaceAll(name, "..", "--") // else it is a range
	return name[:min(len(name), record.MaxWorktreeName)]
}
