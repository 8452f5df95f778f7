package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ofForks reads the last turn of each fork, the newest first.
func ofForks(w *workspace.Workspace) reader {
	return func(ctx context.Context, f func(*turns.Turn) error) error {
		lines, unread := turns.Missions(ctx, w.Repo)
		if unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
			return unread
		}
		objects := w.Repo.Objects(ctx)
		defer objects.Close()
		for _, line := range lines {
			if _, err := turns.PointOf(line.Mission); err != nil || line.Last == nil {
				continue
			}
			l, err := ledger.At(objects, line.ID, line.Tip)
			if err != nil {
				return err
			}
			t, err := turns.Last(l)
			if t == nil {
				return err
			}
			if err := f(t); err != nil {
				return err
			}
		}
		return unread
	}
}

// several shows the finder for several missions, each named by a turn.
func (f *finder) several(ctx context.Context, read reader) ([]record.ID, error) {
	if !terminal.HasScreen() {
		return nil, cmdline.Hint(cmdline.Usagef("choosing forks needs a terminal"),
			"name them, or the turn that they are forks of: git agent-fork compare <turn>; list them with: git agent-turn missions --tree")
	}
	var chosen []record.ID
	err := f.show(ctx, read, func(ctx context.Context, screen tcell.Screen) error {
		l := &picker{f: f, screen: screen, label: fmt.Sprintf("Tab: mark, Enter: %s", f.verb), many: true}
		marked, err := l.run(ctx)
		slices.Sort(marked)
		for _, i := range marked {
			chosen = append(chosen, f.turn(i).In())
		}
		return err
	})
	return chosen, err
}
