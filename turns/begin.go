package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/transaction"
)

// A Beginning is a new attached mission.
type Beginning struct {
	ID       ledger.ID
	Title    string
	From     plumbing.Hash // its first commit
	Worktree string        // to be made for it; empty for the present one
	Session  string        // the session that will record to it, if known
	At       time.Time
}

// Begin makes an attached mission: ledger and branch in one transaction, then the checkout, which
// keeps uncommitted changes as `git switch` does. If the checkout fails, ledger and branch are
// removed again.
func (r *Recorder) Begin(ctx context.Context, b Beginning) (*ledger.Mission, error) {
	branch := r.Branch(b.ID)
	m := &ledger.Mission{
		Title: ledger.Head(firstLine(b.Title), maxPrompt), Created: b.At.UTC().Truncate(time.Millisecond),
		Base: b.From.String(), Branch: branch,
	}
	m.AddSession(b.Session)
	p := plant{id: b.ID, from: b.From, branch: branch, worktree: b.Worktree, here: b.Worktree == ""}
	_, err := r.plant(ctx, p, b.At, func(tx *transaction.Tx) error {
		tx.Begin(m)
		return tx.Append("start "+string(b.ID), nil, b.From)
	})
	if err != nil {
		return nil, fmt.Errorf("start mission %s: %w", b.ID, err)
	}
	if b.Session == "" {
		return m, nil
	}
	return m, r.Store.Update(ctx, b.Session, func(st *session.State) error {
		st.Mission, st.Seen = string(b.ID), b.At
		return nil
	})
}

// switchTo checks out the branch. If it fails, HEAD stays or goes back where it was: when a hook of
// the user's fails, git has switched already.
func switchTo(ctx context.Context, repo *git.Repo, branch string) error {
	before, err := repo.Head(ctx)
	if err != nil {
		return err
	}
	_, err = repo.Output(ctx, nil, "switch", "--quiet", strings.TrimPrefix(branch, "refs/heads/"))
	if err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if now, e := repo.HeadRef(ctx); e != nil || now != branch {
		return errors.Join(err, e)
	}
	back := []string{"-c", "core.hooksPath=/dev/null", "switch", "--quiet"}
	if before.Branch == "" {
		back = append(back, "--detach", before.Commit.String())
	} else {
		back = append(back, strings.TrimPrefix(before.Branch, "refs/heads/"))
	}
	_, e := repo.Output(ctx, nil, back...)
	return errors.Join(err, e)
}
