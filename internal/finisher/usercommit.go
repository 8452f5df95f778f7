package finisher

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// locking runs a git that locks the user's index, HEAD and its branch. The next
// event removes the locks that it left if killed together with this process.
//
// Git and the user's hooks inherit the lock with that note. While a hook's
// background process keeps it, nothing more is noted.
func locking(ctx context.Context, w *workspace.Workspace, g *git.Repo, do func(g *git.Repo) error) error {
	held, err := w.Store.TryLock("user-git-" + filepath.Base(w.Repo.GitDir))
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
	head, err := w.Repo.Head(ctx)
	if err != nil {
		return err
	}
	var updates []git.Update
	if head.Branch != "" {
		updates = []git.Update{{Ref: head.Branch, New: head.Commit}}
	}
	note := statedir.Note{Words: w.Repo.LockedBy(updates)}
	index := filepath.Join(w.Repo.GitDir, "index")
	if _, err := os.Lstat(index + ".lock"); err != nil { // else it is another process's
		note.Words = append(note.Words, index)
	}
	return g.Locking(ctx, held, note, do)
}

// staging runs a git that changes the user's index.
func staging(ctx context.Context, w *workspace.Workspace, g *git.Repo, stdin string, args ...string) error {
	return locking(ctx, w, g, func(g *git.Repo) error {
		_, err := g.Output(ctx, strings.NewReader(stdin), args...)
		return err
	})
}
