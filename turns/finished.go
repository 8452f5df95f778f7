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

// ErrLost reports that no branch has the commit that a mission was finished with.
var ErrLost = errors.New("in no branch")

// Finished returns where the mission's work is; nil if it was never finished, or has gone on since.
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

// Lost returns which of these commits no branch here, none of a remote, and no tag has: they were amended,
// rebased or reset away. One process tells, and looks no further back than the oldest of them.
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

// Unnoted returns the missions of these that were finished by a commit of the user's own, after conflicts for
// instance, of which nothing is recorded yet.
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

// RemoveFinished removes the worktree and the branch of a mission that was finished. Its ledger keeps the
// branch's commits. If the worktree has changes or can't be removed, the error wraps [ErrInUse]; if no
// branch has the commit that the mission was finished with, [ErrLost].
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
