package handoffstore

import (
	"context"
	"errors"
	"slices"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/trust"
	"gitagent/turns"
)

// Trusted reports whether a handoff may be told to an agent and restored: it
// is, with all its files, in the trusted part of its mission's ledger.
func (s *Store) Trusted(ctx context.Context, f *Found) (bool, error) {
	trusted, _, err := s.standing(ctx, f)
	return trusted, err
}

// standing also reports whether this clone wrote or accepted the ledger. If
// not, there is only a signature, and it could be about another repository.
func (s *Store) standing(ctx context.Context, f *Found) (trusted, here bool, err error) {
	tree, err := f.tree()
	if err != nil {
		return false, false, err
	}
	standing, err := s.TrustLevel(ctx, f.objects, f.In, f.Ledger.Tip)
	if err != nil || standing.Commit.IsZero() {
		return false, false, err
	}
	l, err := ledger.At(f.objects, f.In, standing.Commit)
	if err != nil {
		return false, false, err
	}
	e, err := l.Entry(f.path(""))
	return e.Hash == tree, standing.Here, err
}

// By names who made a handoff, see [trust.Writers].
func (s *Store) By(ctx context.Context, f *Found) (string, error) {
	w, err := s.Writers(ctx, f.objects, f.In, f.Ledger.Tip)
	if err != nil {
		return "", err
	}
	return w.Handoff(f.Number), nil
}

// LogOf returns the terminal log that a handoff names, or "". It trusts only
// handoffs made by this user on this machine: a record may name any file.
func (s *Store) LogOf(ctx context.Context, f *Found) (string, error) {
	if f.Log == "" {
		return "", nil
	}
	by, err := s.By(ctx, f)
	if err != nil || !trust.Ours(by) {
		return "", err
	}
	return f.Log, nil
}

// about reports whether any of the commits is HEAD or an ancestor of it, so
// that what names them is about this line of history.
func (s *Store) about(ctx context.Context, commits ...object.Hash) (bool, error) {
	head, err := s.Repo.Resolve(ctx, "HEAD")
	if errors.Is(err, git.ErrNotFound) {
		return false, nil
	}
	if err != nil || slices.Contains(commits, head) {
		return err == nil, err
	}
	for _, c := range commits {
		if c.IsZero() {
			continue
		}
		if before, err := s.Repo.IsAncestor(ctx, c, head); err == nil && before {
			return true, nil // an error says that the commit is not here
		}
	}
	return false, nil
}

// aboutHere reports whether a ledger's last turn may come back as our own
// words: the ledger is wholly trusted and about this repository.
func (s *Store) aboutHere(ctx context.Context, objects *git.Objects, l *ledger.Ledger, t *turns.Turn) (bool, error) {
	standing, err := s.TrustLevel(ctx, objects, l.ID, l.Tip)
	if err != nil || !standing.Whole || standing.Here {
		return err == nil && standing.Whole, err
	}
	return s.about(ctx, t.Code, t.Head)
}
