package missionstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ErrLost reports that no branch has the commit that finished a mission.
var ErrLost = errors.New("in no branch")

// RemoveFinished removes a finished mission's worktree and branch, whose
// commits the ledger keeps. The error wraps [ErrInUse] if the worktree can't be
// removed or has changes, and [ErrLost] if no branch has the finish's commit.
func RemoveFinished(ctx context.Context, w *workspace.Workspace, id record.ID, is record.Finish) (*Removed, error) {
	lost, err := turns.Lost(ctx, w.Repo, is.Commit)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("mission %s is finished in %.12s: %w", id, is.Commit, ErrLost)
	}
	if err != nil {
		return nil, err
	}
	branch := w.Branch(id)
	refs, err := w.Repo.Refs(ctx, branch)
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
	gone, err := leaving(ctx, w, id, branch)
	if err == nil {
		err = removeBranch(ctx, w, gone, tip, "finished")
	}
	if err != nil {
		return nil, err
	}
	return gone, nil
}
