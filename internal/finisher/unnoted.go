package finisher

import (
	"context"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Unnoted returns missions that the user's commit finished, after conflicts for
// instance, without a note of it in the ledger.
func Unnoted(ctx context.Context, w *workspace.Workspace, lines []turns.MissionLine) map[record.ID]*record.Finish {
	entries, err := w.Store.Dir().ReadDir("finishing")
	if err != nil || len(entries) == 0 {
		return nil // usually there are none
	}
	found := make(map[record.ID]*record.Finish)
	for _, l := range lines {
		b := readBegun(w.Store, l.ID)
		if b == nil || b.Turn != l.Turns {
			continue
		}
		list, err := w.Repo.Worktrees(ctx)
		if err != nil {
			return found
		}
		for _, at := range list {
			repo, err := git.Find(at.Path)
			if err != nil || repo.GitDir != b.Worktree || at.Head.IsZero() {
				continue
			}
			if c, have, err := trailers(ctx, repo, l.ID, at.Head.String(), b.Head.String()); err == nil && have.Has(l.Turns) {
				found[l.ID] = &record.Finish{Commit: c, Turn: b.Turn, At: l.Newest(), Tip: b.Tip}
			}
		}
	}
	return found
}
