package turns

import (
	"context"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/lock"
)

// locking runs a git that locks the user's index, HEAD and its branch. The next
// event removes the locks that it left if killed together with this process.
//
// Git and the user's hooks inherit the lock with that note. While a hook's
// background process keeps it, nothing more is noted.
func (r *Recorder) locking(ctx context.Context, g *git.Repo, do func(g *git.Repo) error) error {
	held, err := r.Store.TryLock("user-git-" + filepath.Base(r.Repo.GitDir))
	if err != nil {
		return err
	}
	if held == nil {
		return do(g)
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	head, err := r.Repo.Head(ctx)
	if err != nil {
		return err
	}
	var updates []git.Update
	if head.Branch != "" {
		updates = []git.Update{{Ref: head.Branch, New: head.Commit}}
	}
	note := lock.Note{Words: r.Repo.LockedBy(updates)}
	if index := filepath.Join(r.Repo.GitDir, "index"); !pathExists(index + ".lock") { // else it is another process's
		note.Words = append(note.Words, index)
	}
	return g.Locking(ctx, held, note, do)
}

// staging runs a git that changes the user's index.
func (r *Recorder) staging(ctx context.Context, g *git.Repo, stdin string, args ...string) error {
	return r.locking(ctx, g, func(g *git.Repo) error {
		_, err := g.Output(ctx, strings.NewReader(stdin), args...)
		return err
	})
}
