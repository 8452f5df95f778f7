package bisect

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Chain makes commits of the states, each on the one before, and returns the
// first and the last. The subject says what a state is, for people to read.
// States that can't be tried are left out; the message of the next one names
// them.
func (b *Bisection) Chain(ctx context.Context, w *workspace.Workspace, subject func(*turns.State) string) (good, bad object.Hash, err error) {
	config, err := w.Repo.Config(ctx)
	if err != nil {
		return good, bad, err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	var parents []object.Hash
	var passed []string
	for i, s := range b.States {
		if b.Verdicts[i] == Unknown {
			passed = append(passed, s.String())
			continue
		}
		message := subject(s) + "\n"
		if len(passed) > 0 {
			message += fmt.Sprintf("\nWhere the code was before that is not known: %s\n", strings.Join(passed, ", "))
			passed = nil
		}
		commit, err := objects.CommitTree(b.trees[i], parents, config.Author(s.At), config.Committer(s.At), message)
		if err != nil {
			return good, bad, err
		}
		if len(parents) == 0 {
			good = commit
		}
		parents, bad = []object.Hash{commit}, commit
	}
	return good, bad, objects.Flush()
}

// Start starts git's own bisect between two commits of a chain, and lets the
// worktree stay.
func (t *TryTree) Start(ctx context.Context, good, bad object.Hash, talk io.Writer) error {
	if err := t.Set(ctx, bad); err != nil {
		return err
	}
	if err := t.repo.Run(ctx, nil, talk, talk, "bisect", "start", bad.String(), good.String(), "--"); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(t.admin, "index."+mark))
	if _, err := t.w.Repo.Output(ctx, nil, "worktree", "unlock", "--", t.Top); err != nil {
		return err
	}
	t.release()
	return nil
}
