package ledgertx

import (
	"bytes"
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
// unless the configuration stays locked. [Run] does it once there are notes:
// git warns of a ref that is not there whenever it rewrites a commit.
func FollowRewrites(ctx context.Context, w *workspace.Workspace, id record.ID) {
	ref := id.NotesRef()
	if err := configuring(ctx, w, "--replace-all", rewriteRef, ref, ref); err != nil {
		w.Store.Log(time.Now(), "notes of mission "+string(id)+" don't follow a rebase: "+err.Error())
	}
}

// LeaveRewrites undoes FollowRewrites. It costs nothing where that was not done.
func LeaveRewrites(ctx context.Context, w *workspace.Workspace, id record.ID) {
	if now, err := os.ReadFile(filepath.Join(w.Repo.CommonDir, "config")); err == nil && !bytes.Contains(now, []byte(id.NotesRef())) {
		return
	}
	err := configuring(ctx, w, "--unset-all", rewriteRef, id.NotesRef())
	const none = 5 // git's status where there is no such value
	if err != nil && git.Status(err) != none {
		w.Store.Log(time.Now(), rewriteRef+" still names the notes of mission "+string(id)+": "+err.Error())
	}
}

// configuring runs git config. The next one removes the lock that a git killed
// together with this process left.
func configuring(ctx context.Context, w *workspace.Workspace, args ...string) error {
	held, err := w.Store.Lock(ctx, "config")
	if err != nil {
		return err
	}
	defer held.Release()
	do := func(g *git.Repo) error {
		return g.Configure(ctx, append([]string{"--local", "--fixed-value"}, args...)...)
	}
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	path := filepath.Join(w.Repo.CommonDir, "config")
	if _, err := os.Lstat(path + ".lock"); err == nil { // another process's
		return do(w.Repo)
	}
	return w.Repo.Locking(ctx, held, statedir.Note{Words: []string{path}}, do)
}
