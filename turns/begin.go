package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

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
	undo, err := r.plant(ctx, plant{id: b.ID, tip: tip, from: b.From, branch: branch, worktree: b.Worktree})
	if err == nil && b.Worktree == "" {
		if err = r.switchTo(ctx, branch); err != nil {
			err = errors.Join(err, undo())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start mission %s: %w", b.ID, err)
	}
	if b.Session == "" {
		return m, nil
	}
	store := session.Open(r.Repo.CommonDir)
	st := store.Load(b.Session)
	st.Mission, st.Seen = string(b.ID), b.At
	return m, store.Save(st)
}

// switchTo checks the branch out, or stays where HEAD is: where a hook of the user's fails, git has switched already.
func (r *Recorder) switchTo(ctx context.Context, branch string) error {
	before, err := r.Repo.Head(ctx)
	if err != nil {
		return err
	}
	_, err = r.Repo.Output(ctx, nil, "switch", "--quiet", strings.TrimPrefix(branch, "refs/heads/"))
	if err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if now, e := r.Repo.HeadRef(ctx); e != nil || now != branch {
		return errors.Join(err, e)
	}
	back := []string{"-c", "core.hooksPath=/dev/null", "switch", "--quiet"}
	if before.Branch == "" {
		back = append(back, "--detach", before.Commit.String())
	} else {
		back = append(back, strings.TrimPrefix(before.Branch, "refs/heads/"))
	}
	_, e := r.Repo.Output(ctx, nil, back...)
	return errors.Join(err, e)
}
