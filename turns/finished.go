package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// ErrLost reports that no branch has the commit that finished a mission.
var ErrLost = errors.New("in no branch")

// Finished returns where the work is; nil if never, or no longer, finished.
func (l MissionLine) Finished() *record.Finish {
	at := l.Created
	if l.Last != nil {
		at = l.Last.At
	}
	if !l.Mission.Finished.Holds(l.Turns, at) {
		return nil
	}
	return l.Mission.Finished
}

// Lost returns which commits no branch, remote branch or tag has: they were
// amended, rebased or reset away. One git looks back as far as the oldest one.
func Lost(ctx context.Context, repo *git.Repo, commits ...git.Hash) (map[git.Hash]bool, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	lost := make(map[git.Hash]bool)
	asked := make(map[git.Hash]bool)
	var in strings.Builder
	for _, c := range commits {
		switch err := objects.Has(c); {
		case ledger.Missing(err):
			lost[c] = true
		case err != nil:
			return nil, err
		default:
			asked[c] = true
			in.WriteString(c.String() + "\n")
		}
	}
	if len(asked) == 0 {
		return lost, nil
	}
	out, err := repo.Output(ctx, strings.NewReader(in.String()), "rev-list", "--stdin", "--not", "--branches", "--remotes", "--tags")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if c := git.NewHash(strings.TrimSpace(line)); asked[c] {
			lost[c] = true
		}
	}
	return lost, nil
}

// Unnoted returns missions that the user's commit finished, after conflicts for
// instance, without a note of it in the ledger.
func Unnoted(ctx context.Context, w *workspace.Workspace, lines []MissionLine) map[record.ID]*record.Finish {
	entries, err := w.Store.Dir().ReadDir("finishing")
	if err != nil || len(entries) == 0 {
		return nil // usually there are none
	}
	found := make(map[record.ID]*record.Finish)
	for _, l := range lines {
		b := readBegun(w.Store, l.ID)
		if b == nil || b.Turn != l.Turns {
			continue
		}
		list, err := w.Repo.Worktrees(ctx)
		if err != nil {
			return found
		}
		for _, at := range list {
			repo, err := git.Find(at.Path)
			if err != nil || repo.GitDir != b.Worktree || at.Head.IsZero() {
				continue
			}
			if c, have, err := trailers(ctx, repo, l.ID, at.Head.String(), b.Head.String()); err == nil && have.Has(l.Turns) {
				found[l.ID] = &record.Finish{Commit: c, Turn: b.Turn, At: l.Newest(), Tip: b.Tip}
			}
		}
	}
	return found
}

// RemoveFinished removes a finished mission's worktree and branch, whose
// commits the ledger keeps. The error wraps [ErrInUse] if the worktree can't be
// removed or has changes, and [ErrLost] if no branch has the finish's commit.
func (r *Recorder) RemoveFinished(ctx context.Context, id record.ID, is record.Finish) (*Removed, error) {
	lost, err := Lost(ctx, r.Repo, is.Commit)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("mission %s is finished in %.12s: %w", id, is.Commit, ErrLost)
	}
	if err != nil {
		return nil, err
	}
	branch := r.Branch(id)
	refs, err := r.Repo.Refs(ctx, branch)
	if err != nil {
		return nil, err
	}
	tip, ok := refs[branch]
	if !ok {
		return &Removed{ID: id, Bytes: -1}, nil
	}
	if tip != is.Tip {
		return nil, fmt.Errorf("mission %s: branch %s has moved since it was finished", id, strings.TrimPrefix(branch, "refs/heads/"))
	}
	gone, err := r.leaving(ctx, id, branch)
	if err == nil {
		err = r.cut(ctx, gone, tip, "finished")
	}
	if err != nil {
		return nil, err
	}
	return gone, nil
}
