package main

import (
	"bufio"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
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
	all, unread := handoffs(c, s) // the readable ones are printed
	table := cmdline.NewTable(
		cmdline.Column{Right: !c.Bool("all"), Style: cmdline.Yellow},
		cmdline.Column{Right: true, Style: cmdline.Dim},
		cmdline.Column{},
		cmdline.Column{Right: true},
		cmdline.Column{Style: cmdline.Cyan},
		cmdline.Column{},
	)
	lines, now := bufio.NewWriter(c.App.Writer), time.Now()
	for _, h := range all {
		if c.Bool("json") {
			if err := cmdline.PrintLine(lines, h.Handoff, h.by); err != nil {
				return err
			}
			continue
		}
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
		table.Row(name, cmdline.Age(now, h.At), string(h.ExitType), "turn "+strconv.Itoa(h.LastTurn), uncommitted, what)
	}
	return errors.Join(lines.Flush(), table.Print(c.App.Writer), unread)
}

// about says in a few words what a handoff is about.
func about(h *handoffstore.Handoff) string {
	switch {
	case h.Doc != "":
		return "document " + h.Source
	case h.Summary != "" && !h.Written.IsZero():
		return h.Summary
	}
	return h.LastPrompt
}

// A listed handoff is one with who made it.
type listed struct {
	*handoffstore.Handoff
	by string
}

// handoffs returns those of a mission, or of all, newest first. The error names the unreadable ones.
func handoffs(c *cli.Context, s *handoffstore.Store) ([]listed, error) {
	missions, err := ledger.List(c.Context, s.Repo)
	if err != nil {
		return nil, err
	}
	if !c.Bool("all") {
		id, err := mission(c, s)
		if err != nil {
			return nil, err
		}
		if id == "" {
			return nil, target.NoMission()
		}
		tip, ok := missions[id]
		if !ok {
			return nil, cmdline.Hint(cmdline.NotFoundf("mission %s: %w", id, git.ErrNotFound), "list the missions with: git agent-turn missions")
		}
		missions = map[ledger.ID]plumbing.Hash{id: tip}
	}
	objects := s.Repo.Objects(c.Context)
	defer objects.Close()
	var all []listed
	var errs []error
	for id, tip := range missions {
		some, err := handoffstore.List(c.Context, s.Repo, id)
		errs = append(errs, err)
		if len(some) == 0 {
			continue
		}
		writers, err := s.Writers(c.Context, objects, id, tip)
		if err != nil {
			return nil, err
		}
		for _, h := range some {
			if h.Mission == id || !c.Bool("all") { // with --all, list it only where it was made, not in forks
				all = append(all, listed{h, writers.Handoff(h.Number)})
			}
		}
	}
	slices.Reverse(all)
	if c.Bool("all") {
		slices.SortStableFunc(all, func(a, b listed) int { return b.At.Compare(a.At) })
	}
	return all, errors.Join(errs...)
}
