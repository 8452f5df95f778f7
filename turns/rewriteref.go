package turns

import (
	"context"
	"path/filepath"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/lock"
	"gitagent/internal/record"
)

// rewriteRef is git's variable with the notes refs that `git commit --amend`
// and `git rebase` copy. It may have many values; the user's stay as they are.
const rewriteRef = "notes.rewriteRef"

// followRewrites lets git copy the mission's notes when it rewrites commits,
// unless the configuration is locked.
func (r *Recorder) followRewrites(ctx context.Context, id record.ID) {
	ref := id.NotesRef()
	if err := r.configuring(ctx, "--replace-all", rewriteRef, ref, ref); err != nil {
		r.Store.Log(time.Now(), "notes of mission "+string(id)+" don't follow a rebase: "+err.Error())
	}
}

// leaveRewrites undoes followRewrites. A value that stays does no harm.
func (r *Recorder) leaveRewrites(ctx context.Context, id record.ID) {
	err := r.configuring(ctx, "--unset-all", rewriteRef, id.NotesRef())
	const none = 5 // git's status where there is no such value
	if err != nil && git.Status(err) != none {
		r.Store.Log(time.Now(), rewriteRef+" still names the notes of mission "+string(id)+": "+err.Error())
	}
}

// configuring runs git config. The next one removes the lock that a git killed
// together with this process left.
func (r *Recorder) configuring(ctx context.Context, args ...string) error {
	held, err := r.Store.TryLock("config")
	if err != nil {
		return err
	}
	do := func(g *git.Repo) error {
		_, err := g.Output(ctx, nil, append([]string{"config", "--local", "--fixed-value"}, args...)...)
		return err
	}
	if held == nil {
		return do(r.Repo)
	}
	defer held.Release()
	if err := git.DropLeft(ctx, held); err != nil {
		return err
	}
	path := filepath.Join(r.Repo.CommonDir, "config")
	if pathExists(path + ".lock") { // another process's
		return do(r.Repo)
	}
	return r.Repo.Locking(ctx, held, lock.Note{Words: []string{path}}, do)
}
