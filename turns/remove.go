package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// ErrInUse reports a mission whose worktree can't be removed: it has changes, git refuses, or it is the one that the command runs in.
var ErrInUse = errors.New("its worktree is in use")

// A Removed says what a removal has done, or would do.
type Removed struct {
	ID       ledger.ID
	Branch   string      // short name; empty if it had none
	Worktree string      // empty if it had none
	Bytes    int64       // on the disk, that git frees when it collects garbage
	Forks    []ledger.ID // missions that keep what they have inherited
}

// Remove removes a mission: its worktree, if that is clean or force is set, then branch, notes and ledger in one transaction.
// What a fork has inherited stays. With dry nothing is changed.
// A worktree that is in the way gives an error wrapping [ErrInUse].
func (r *Recorder) Remove(ctx context.Context, id ledger.ID, force, dry bool) (*Removed, error) {
	branch := id.Branch(r.Capture.BranchPrefix)
	refs, err := r.Repo.Refs(ctx, id.Ref(), id.NotesRef(), branch)
	if err != nil {
		return nil, err
	}
	if _, ok := refs[id.Ref()]; !ok {
		return nil, missingMission(ctx, r.Repo, string(id))
	}
	done := &Removed{ID: id}
	if _, ok := refs[branch]; ok {
		done.Branch = strings.TrimPrefix(branch, "refs/heads/")
	}
	if done.Worktree, err = r.removable(ctx, id, branch, force); err != nil {
		return nil, err
	}
	if done.Bytes, err = r.freed(ctx, refs); err != nil {
		return nil, err
	}
	if done.Forks, err = r.forksOf(ctx, id); err != nil {
		return nil, err
	}
	if dry {
		return done, nil
	}
	if done.Worktree != "" {
		args := []string{"worktree", "remove", "--", done.Worktree}
		if force {
			args = []string{"worktree", "remove", "--force", "--", done.Worktree}
		}
		if _, err := r.Repo.Output(ctx, nil, args...); err != nil { // it is locked, or has submodules
			return nil, fmt.Errorf("remove mission %s: %w: %w", id, ErrInUse, err)
		}
	}
	var updates []git.Update
	for ref, old := range refs {
		updates = append(updates, git.Update{Ref: ref, Old: old})
	}
	if err := r.Repo.UpdateRefs(ctx, "agent mission "+string(id)+": removed", updates); err != nil {
		return nil, fmt.Errorf("remove mission %s: %w", id, err)
	}
	return done, session.Open(r.Repo.CommonDir).Forget(string(id))
}

// removable returns the linked worktree that the mission's branch is checked out in, "" if there is none.
func (r *Recorder) removable(ctx context.Context, id ledger.ID, branch string, force bool) (string, error) {
	list, err := r.Repo.Worktrees(ctx)
	if err != nil {
		return "", err
	}
	for i, w := range list {
		if w.Branch != branch {
			continue
		}
		if i == 0 || w.Path == r.Repo.Top {
			return "", fmt.Errorf("mission %s is checked out in %s: %w", id, w.Path, ErrInUse)
		}
		there, err := git.Find(w.Path)
		if errors.Is(err, git.ErrNotFound) {
			return w.Path, nil // the directory is gone; git forgets the worktree
		}
		if err != nil {
			return "", err
		}
		changes, err := there.Output(ctx, nil, "status", "--porcelain=v2", "-z", "-uall")
		if err != nil {
			return "", err
		}
		if len(changes) > 0 && !force {
			return "", fmt.Errorf("mission %s has changes in %s that are not committed: %w", id, w.Path, ErrInUse)
		}
		return w.Path, nil
	}
	return "", nil
}

// freed is the size of what nothing else refers to.
func (r *Recorder) freed(ctx context.Context, refs map[string]plumbing.Hash) (int64, error) {
	args := []string{"rev-list", "--objects", "--disk-usage"}
	for _, h := range refs {
		args = append(args, h.String())
	}
	args = append(args, "--not")
	for ref := range refs {
		args = append(args, "--exclude="+ref)
	}
	out, err := r.Repo.Output(ctx, nil, append(args, "--all", "HEAD")...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

func (r *Recorder) forksOf(ctx context.Context, id ledger.ID) ([]ledger.ID, error) {
	lines, err := Missions(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	var forks []ledger.ID
	for _, l := range lines {
		if l.ForkedFrom != nil && l.ForkedFrom.Mission == id {
			forks = append(forks, l.ID)
		}
	}
	slices.Sort(forks)
	return forks, nil
}
