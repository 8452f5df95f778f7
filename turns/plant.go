package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// A plant is a new mission that gets its refs, and a worktree of its own if one is named.
type plant struct {
	id       ledger.ID
	tip      plumbing.Hash // of the ledger
	from     plumbing.Hash // commit that the branch begins at
	branch   string        // full name
	worktree string        // empty for none
	progress io.Writer     // git's, of the checkout; nil for none
}

// plant makes it, or does nothing. The function that it returns takes all of it back; its error says what is left.
func (r *Recorder) plant(ctx context.Context, p plant) (undo func() error, err error) {
	if p.worktree != "" {
		// What is there already is not ours to be removed when a later step fails.
		if entries, err := os.ReadDir(p.worktree); len(entries) > 0 {
			return nil, fmt.Errorf("the directory %s is not empty", p.worktree)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	refs := []git.Update{{Ref: p.id.Ref(), New: p.tip}, {Ref: p.branch, New: p.from}}
	if err := r.Repo.UpdateRefs(ctx, "agent mission "+string(p.id), refs); err != nil {
		return nil, err
	}
	undo = func() error { return r.uproot(context.WithoutCancel(ctx), p) }
	if p.worktree == "" {
		return undo, nil
	}
	if err := r.addWorktree(ctx, p); err != nil {
		return nil, errors.Join(err, undo())
	}
	return undo, nil
}

// uproot removes the worktree first, which git leaves behind when a hook of the user's fails: a branch that is
// checked out has to stay.
func (r *Recorder) uproot(ctx context.Context, p plant) error {
	if p.worktree != "" && there(filepath.Join(p.worktree, ".git")) {
		if _, err := r.Repo.Output(ctx, nil, "worktree", "remove", "--force", "--", p.worktree); err != nil {
			return fmt.Errorf("what is left: the mission %s, its branch and the worktree %s; remove them with git agent-turn remove --force %s: %w",
				p.id, p.worktree, p.id, err)
		}
	}
	refs := []git.Update{{Ref: p.id.Ref(), Old: p.tip}, {Ref: p.branch, Old: p.from}}
	if err := r.Repo.UpdateRefs(ctx, "agent mission "+string(p.id)+": undone", refs); err != nil {
		return fmt.Errorf("what is left: the mission %s and its branch; remove them with git agent-turn remove %s: %w", p.id, p.id, err)
	}
	return nil
}

func (r *Recorder) addWorktree(ctx context.Context, p plant) error {
	name := strings.TrimPrefix(p.branch, "refs/heads/")
	if p.progress != nil {
		return r.Repo.Run(ctx, nil, io.Discard, p.progress, "worktree", "add", "--", p.worktree, name)
	}
	_, err := r.Repo.Output(ctx, nil, "worktree", "add", "--quiet", "--", p.worktree, name)
	return err
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
