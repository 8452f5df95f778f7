package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/review"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func reviewedCommand() *cli.Command {
	return &cli.Command{
		Name:      "reviewed",
		Usage:     "note that you have looked at all turns up to one",
		UsageText: "git agent-turn reviewed [--mission <id>] [<turn>]",
		Description: "Without a turn it is the last one. What came since is left to look at: see list --unreviewed and diff --unreviewed. " +
			"The note is signed with your key and travels with the mission; it counts for all who trust the key. " +
			"An earlier turn takes the note back to there.",
		Flags:        []cli.Flag{command.MissionFlag()},
		BashComplete: completeTurns,
		Action:       cmdline.OptionalArg("turn", reviewed),
	}
}

func reviewed(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	s, err := command.State(c.Context, w, c.String("mission"), c.Args().First(), c.App.ErrWriter)
	if err != nil {
		return err
	}
	if !s.Ended() || s.Worktree != "" {
		return cmdline.Hint(cmdline.Usagef("%s is not the end of a turn", s.Describe()), "name the turn up to which you have looked, as in: git agent-turn reviewed 12")
	}
	if s, _, err = command.Usable(c, w, s); err != nil {
		return err
	}
	before, _, err := unreviewed(c.Context, w, s.In)
	if err != nil {
		return err
	}
	m, err := review.Add(c.Context, w, s.Turn, time.Now())
	switch {
	case errors.Is(err, review.ErrNoKey):
		return cmdline.Hint(err, "make one with: git agent-turn init")
	case errors.Is(err, review.ErrArchived):
		return cmdline.Hintf(err, "take it out with: git agent-turn archive --out %s", s.In)
	case err != nil:
		return err
	}
	conf, err := w.Repo.Config(c.Context)
	if err == nil {
		_, err = remote.Background(c.Context, w, conf, s.In)
	}
	if err != nil {
		cmdline.Warn(fmt.Errorf("turn %s is marked, and not sent: %w", s, err))
	}
	after, left, err := unreviewed(c.Context, w, s.In)
	if err != nil {
		return err
	}
	to := c.App.Writer
	switch {
	case after.Last() > m.Turn: // by somebody else, or in what it was forked from
		fmt.Fprintf(to, "turn %s and all before it are reviewed; %s is, too, by %s\n", s, record.TurnID{Mission: s.In, Turn: after.Turn}, cmdline.Escape(after.Reviewer()))
	case before.Last() > m.Turn:
		fmt.Fprintf(to, "turn %s and all before it are reviewed, and no longer what came then: %s\n", s, cmdline.Plural(left, "turn"))
	default:
		fmt.Fprintf(to, "turn %s and all before it are reviewed; left: %s\n", s, cmdline.Plural(left, "turn"))
	}
	return nil
}

// unreviewed returns the mark that counts for a mission, or nil, and how many
// turns come after it.
func unreviewed(ctx context.Context, w *workspace.Workspace, id record.ID) (m *review.Mark, left int, err error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, w.Repo, objects, id)
	if err != nil {
		return nil, 0, err
	}
	return reviewOf(ctx, w, objects, l)
}

func reviewOf(ctx context.Context, w *workspace.Workspace, objects *git.Objects, l *ledger.Ledger) (m *review.Mark, left int, err error) {
	m = review.Of(ctx, w, objects, l)
	left, err = review.Left(l, m)
	return m, left, err
}

// unreviewedStates returns the states between which the turns lie that nobody
// has reviewed. ok is false if there is none; without any turn the error wraps
// [git.ErrNotFound].
func unreviewedStates(ctx context.Context, w *workspace.Workspace, id record.ID) (from, to *turns.State, ok bool, err error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, w.Repo, objects, id)
	if err != nil {
		return nil, nil, false, err
	}
	m, left, err := reviewOf(ctx, w, objects, l)
	if err != nil || left == 0 && m != nil {
		return nil, nil, false, err
	}
	number, err := l.LastTurn()
	if err != nil {
		return nil, nil, false, err
	}
	last, err := turns.ReadIn(l, number) // none is passed over: it is not reviewed
	if err != nil {
		return nil, nil, false, err
	}
	from, err = review.Since(l, m)
	return from, last.After(), err == nil, err
}

// A leftToReview is how much of a mission nobody has reviewed.
type leftToReview struct {
	mark                  *review.Mark // nil if nobody has reviewed anything
	turns                 int
	files                 int // that differ from the mark's turn to the last; 0 if unknown, or without a mark
	counted               bool
	insertions, deletions int // if counted
}

// maxCounted bounds the files whose lines are counted, which git has to read for it.
const maxCounted = 1000

// readLeft returns what is left to review up to the last turn; nil for nothing.
func readLeft(ctx context.Context, w *workspace.Workspace, objects *git.Objects, l *ledger.Ledger, last *turns.Turn) (*leftToReview, error) {
	m, left, err := reviewOf(ctx, w, objects, l)
	if err != nil || left == 0 {
		return nil, err
	}
	r := &leftToReview{mark: m, turns: left}
	if m == nil { // it may be all that there ever was
		return r, nil
	}
	from, err := review.Since(l, m)
	if err != nil || cmp.Or(from.Known(), last.CodeKnown()) != nil {
		return r, nil
	}
	stats, err := gitdiff.Names(ctx, w.Repo, from.Commit, last.Code)
	if r.counted = len(stats) <= maxCounted; r.counted && err == nil {
		stats, err = gitdiff.Shown(ctx, w.Repo, from.Commit, last.Code)
	}
	r.files = len(stats)
	for _, s := range stats {
		r.insertions, r.deletions = r.insertions+s.Insertions, r.deletions+s.Deletions
	}
	return r, err
}

func (r *leftToReview) text(now time.Time, dates cmdline.Dates) string {
	text := cmdline.Plural(r.turns, "turn") + " that nobody has reviewed"
	if r.files > 0 {
		text += ", " + cmdline.Plural(r.files, "file")
	}
	if r.files > 0 && r.counted {
		text += fmt.Sprintf(" (+%d -%d)", r.insertions, r.deletions)
	}
	if m := r.mark; m != nil {
		text += fmt.Sprintf("; turn %d was, %s, by %s", m.Turn, dates.Ago(now, m.At), m.Reviewer())
	}
	return text
}
