package turns

import (
	"context"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// rewriteRef is git's variable with the notes that it copies to what `git commit --amend` and `git rebase` make
// of a commit. It may have many values; the user's own are left as they are.
const rewriteRef = "notes.rewriteRef"

// followRewrites lets git copy the mission's notes when it rewrites commits. If the configuration is locked, they
// don't follow, and that is all.
func (r *Recorder) followRewrites(ctx context.Context, id ledger.ID) {
	ref := id.NotesRef()
	if _, err := r.Repo.Output(ctx, nil, "config", "--local", "--fixed-value", "--replace-all", rewriteRef, ref, ref); err != nil {
		r.Store.Log(time.Now(), "notes of mission "+string(id)+" don't follow a rebase: "+err.Error())
	}
}

// leaveRewrites takes that back, for a mission that is removed or finished. What stays does no harm.
func (r *Recorder) leaveRewrites(ctx context.Context, id ledger.ID) {
	_, err := r.Repo.Output(ctx, nil, "config", "--local", "--fixed-value", "--unset-all", rewriteRef, id.NotesRef())
	const none = 5 // git's status where there is no such value
	if err != nil && git.Status(err) != none {
		r.Store.Log(time.Now(), rewriteRef+" still names the notes of mission "+string(id)+": "+err.Error())
	}
}
