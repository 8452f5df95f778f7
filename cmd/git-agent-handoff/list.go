package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
)

func list(c *cli.Context) error {
	if c.Bool("all") && c.IsSet("mission") {
		return cmdline.Usagef("--all and --mission exclude each other")
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	dates, err := command.Dates(c, s.Workspace)
	if err != nil {
		return err
	}
	all, unread := handoffs(c, s) // the readable ones are printed
	if c.Bool("json") {
		lines := bufio.NewWriter(c.App.Writer)
		for _, h := range all {
			if err := cmdline.PrintLine(lines, h.Handoff, h.by); err != nil {
				return err
			}
		}
		return errors.Join(lines.Flush(), unread)
	}
	folded := 0
	if cmdline.Columns(c.App.Writer) > 0 && !c.Bool("ends") {
		all, folded = fold(all)
	}
	table := cmdline.NewTable(
		cmdline.Column{Name: "HANDOFF", Right: !c.Bool("all"), Style: cmdline.Yellow, Key: true},
		cmdline.Column{Name: "WHEN", Right: true, Style: cmdline.Dim},
		cmdline.Column{Name: "END"},
		cmdline.Column{Name: "AFTER", Right: true},
		cmdline.Column{Name: "UNCOMMITTED", Style: cmdline.Cyan, Min: 8, Spare: true},
		cmdline.Column{Name: "ABOUT", Min: 20},
	)
	now := time.Now()
	for _, h := range all {
		name := strconv.Itoa(h.Number)
		if c.Bool("all") {
			name = h.ID().String()
		}
		uncommitted := ""
		if h.Files > 0 {
			uncommitted = cmdline.Plural(h.Files, "file")
		}
		what := cmdline.OneLine(about(h.Handoff))
		if h.by != trust.Clone {
			what = "[" + h.by + "] " + what
		}
		table.Row(name, dates.Short(now, h.At), string(h.ExitType), "turn "+strconv.Itoa(h.LastTurn), uncommitted, what)
	}
	if err := table.Print(c.App.Writer); err != nil {
		return err
	}
	if folded > 0 {
		_, err = fmt.Fprintf(c.App.Writer, "%s for which nothing was written, with --ends\n", cmdline.Plural(folded, "more clean end"))
	}
	return errors.Join(err, unread)
}

// fold leaves out clean ends without a written text, except each mission's last
// handoff, which its next session is told.
func fold(all []listed) (kept []listed, folded int) {
	last := make(map[record.ID]int)
	for _, h := range all {
		last[h.Mission] = max(last[h.Mission], h.Number)
	}
	for _, h := range all {
		if h.ExitType == record.Clean && h.Doc == "" && h.Written.IsZero() && h.Number != last[h.Mission] {
			folded++
		} else {
			kept = append(kept, h)
		}
	}
	return kept, folded
}

func about(h *handoffstore.Handoff) string {
	switch {
	case h.Doc != "":
		return "document " + h.Source
	case h.Summary != "" && !h.Written.IsZero():
		return h.Summary
	}
	return h.LastPrompt
}

type listed struct {
	*handoffstore.Handoff
	by string
}

// handoffs returns the handoffs of a mission or of all, the newest first. The
// error names the unreadable ones.
func handoffs(c *cli.Context, s *handoffstore.Store) ([]listed, error) {
	var missions map[record.ID]object.Hash
	if c.Bool("all") {
		var err error
		if missions, err = ledger.List(c.Context, s.Repo); err != nil {
			return nil, err
		}
		if command.ByAgent(c.Context) {
			if missions, _, err = s.Part(c.Context, missions); err != nil {
				return nil, err
			}
		}
	} else {
		id, err := mission(c, s)
		if err != nil {
			return nil, err
		}
		if id == "" {
			return nil, command.NoMission(c.Context, s.Workspace)
		}
		tip, err := ledger.Tip(c.Context, s.Repo, id)
		if errors.Is(err, git.ErrNotFound) {
			return nil, cmdline.Hint(cmdline.NotFoundf("mission %s: %w", id, err), "list the missions with: git agent-turn missions")
		}
		if err != nil {
			return nil, err
		}
		missions = map[record.ID]object.Hash{id: tip}
	}
	objects := s.Repo.Objects(c.Context)
	defer objects.Close()
	var all []listed
	var errs []error
	err := handoffstore.Each(c.Context, s.Repo, missions, func(id record.ID, some []*handoffstore.Handoff, unread error) error {
		errs = append(errs, unread)
		if len(some) == 0 {
			return nil
		}
		writers, err := s.Writers(c.Context, objects, id, missions[id])
		if err != nil {
			return err
		}
		for _, h := range some {
			if h.Mission == id || !c.Bool("all") { // with --all, a handoff is not repeated in forks
				all = append(all, listed{h, writers.Handoff(h.Number)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	if c.Bool("all") {
		slices.SortStableFunc(all, func(a, b listed) int { return b.At.Compare(a.At) })
	}
	return all, errors.Join(errs...)
}
