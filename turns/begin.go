package turns

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// A Beginning is a new attached mission.
type Beginning struct {
	ID       ledger.ID
	Title    string
	From     plumbing.Hash // commit that it starts at
	Worktree string        // made for it; empty to use the present one
	Session  string        // session that will record to it, if that is known already
	At       time.Time
}

// Begin makes an attached mission: its ledger and its branch in one transaction, then the checkout, in which
// what is not committed comes along as with `git switch`. If the checkout fails, neither ledger nor branch stays.
func (r *Recorder) Begin(ctx context.Context, b Beginning) (*ledger.Mission, error) {
	branch := b.ID.Branch(r.Capture.BranchPrefix)
	m := &ledger.Mission{
		V: ledger.Version, ID: b.ID, Title: head(firstLine(b.Title), maxPrompt), Created: b.At.UTC().Truncate(time.Millisecond),
		Base: b.From.String(), Branch: branch,
	}
	m.AddSession(b.Session)
	config, err := r.Repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	if config.SHA256() {
		return nil, errors.New("the repository's object format is SHA-256, which git-agent can't write yet")
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	tip, err := ledger.New(objects, m).Append(ledger.Event{
		Subject: "start " + string(b.ID), Keep: []plumbing.Hash{b.From},
		Author: config.Author(b.At), Committer: config.Committer(b.At),
	})
	if err != nil {
		return nil, err
	}
	if err := objects.Flush(); err != nil {
		return nil, err
	}
	refs := []git.Update{{Ref: b.ID.Ref(), New: tip}, {Ref: branch, New: b.From}}
	if err := r.Repo.UpdateRefs(ctx, "agent mission "+string(b.ID), refs); err != nil {
		return nil, err
	}
	if err := r.checkOut(ctx, b, branch); err != nil {
		undo := []git.Update{{Ref: b.ID.Ref(), Old: tip}, {Ref: branch, Old: b.From}}
		return nil, errors.Join(err, r.Repo.UpdateRefs(context.WithoutCancel(ctx), "agent mission "+string(b.ID)+": undone", undo))
	}
	if b.Session == "" {
		return m, nil
	}
	store := session.Open(r.Repo.CommonDir)
	st := store.Load(b.Session)
	st.Mission, st.Seen = string(b.ID), b.At
	return m, store.Save(st)
}

func (r *Recorder) checkOut(ctx context.Context, b Beginning, branch string) error {
	name := branch[len("refs/heads/"):]
	var err error
	if b.Worktree != "" {
		_, err = r.Repo.Output(ctx, nil, "worktree", "add", "--quiet", "--", b.Worktree, name)
	} else {
		_, err = r.Repo.Output(ctx, nil, "switch", "--quiet", name)
	}
	if err != nil {
		return fmt.Errorf("check out %s: %w", name, err)
	}
	return nil
}
