package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// shownResult is how many lines of a tool's result are printed.
const shownResult = 5

// PrintConversation prints turns, folded unless full; see [turns.Render].
func PrintConversation(c *cli.Context, w *workspace.Workspace, id record.ID, numbers []int, full bool) error {
	dates, err := Dates(c, w)
	if err != nil {
		return err
	}
	now := time.Now()
	roll := &turns.Writers{Workspace: w}
	lost := make(map[string]bool) // sessions whose home is not known: that is told once
	return turns.Render(c.Context, w.Repo, id, numbers, transcript.Form{
		Results: shownResult, Full: full,
		When:    func(at time.Time) string { return dates.Long(now, at) },
		Columns: cmdline.Columns(c.App.Writer), Colour: cmdline.Colour(c.App.Writer),
	}, func(t *turns.Turn) (*turns.Elsewhere, error) {
		if lost[t.Session] {
			return nil, turns.ErrAway
		}
		h, err := Home(c.Context, roll, t)
		lost[t.Session] = errors.Is(err, turns.ErrAway) || errors.Is(err, turns.ErrForeign) || errors.Is(err, errElsewhere)
		if err != nil {
			cmdline.Warn(fmt.Errorf("the conversation of turn %s is %w", t.After(), err))
		}
		return h, err
	}, c.App.Writer)
}
