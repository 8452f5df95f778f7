package ledgertx

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// rewriteRef is git's variable with the notes refs that `git commit --amend`
// and `git rebase` copy. It may have many values; the user's stay as they are.
const rewriteRef = "notes.rewriteRef"

// FollowRewrites lets git copy the mission's notes when it rewrites commits,
// unless the configuration is locked.
func FollowRewrites(ctx context.Context, w *workspace.Workspace, id record.ID) {
	ref := id.NotesRef()
	if err := configuring(ctx, w, "--replace-all", rewriteRef, ref, ref); err != nil {
		w.Store.Log(time.Now(), "notes of mission "+string(id)+" don't follow a rebase: "+err.Error())
	}
}

// LeaveRewrites undoes FollowRewrites. A value that stays does no harm.
func LeaveRewrites(ctx context.Context, w *workspace.Workspace, id record.ID) {
	err := configuring(ctx, w, "--unset-all", rewriteRef, id.NotesRef())
	const none = 5 // git's status where there is no such value
	if err != nil && git.Status(err) != none {
		w.Store.Log(time.Now(), rewriteRef+" still names the notes of mission "+string(id)+": "+err.Error())
	}
}

// configuring runs git config. The next one removes the lock that a git killed
// together with this process left.
func configuring(ctx context.Context, w *workspace.Workspace, args ...string) error {
	held, err := w.Store.TryLock("config")
	if err != nil {
		return err
	}
	do := func(g *git.Repo) error {
		_, err := g.Output(ctx, nil, append([]string{"config", "--local", "--fixed-value"}, args...)...)
		return err
	}
	if held == nil {
		return do(w.Repo)
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	path := filepath.Join(w.Repo.CommonDir, "config")
	if _, err := os.Lstat(path + ".lock"); err == nil { // another process's
		return do(w.Repo)
	}
	return w.Repo.Locking(ctx, held, statedir.Note{Words: []string{path}}, do)
}
