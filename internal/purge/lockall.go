package purge

import (
	"context"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// A holder has every mission and session locked.
type holder struct {
	purge *statedir.Lock
	all   []*statedir.Lock
}

// hold waits for other processes that record or purge, and removes locks of a
// dead purge's git.
func hold(ctx context.Context, w *workspace.Workspace) (*holder, error) {
	purge, err := w.Store.Lock(ctx, session.PurgeLock)
	if err != nil {
		return nil, err
	}
	h := &holder{purge: purge}
	if h.all, err = w.Store.LockAll(ctx); err == nil {
		err = git.DropLeft(ctx, purge)
	}
	if err != nil {
		h.release()
		return nil, fmt.Errorf("keep others from recording: %w", err)
	}
	return h, nil
}

func (h *holder) release() {
	for _, l := range h.all {
		l.Release()
	}
	if h.purge != nil {
		h.purge.Release()
	}
	*h = holder{}
}

// locking runs do, whose git locks files; hold removes what it leaves.
func (h *holder) locking(files []string, do func() error) error {
	return h.purge.With(statedir.Note{Words: files}, do)
}

func (h *holder) repo(r *git.Repo) *git.Repo {
	r = r.With(git.Holding(h.purge.File()))
	for _, l := range h.all {
		r = r.With(git.Holding(l.File()))
	}
	return r
}
