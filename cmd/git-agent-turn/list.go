package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func listCommand() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list the turns of a mission, newest first",
		UsageText: "git agent-turn list [--mission <id> | --all [--archived]] [<flags>] [-- <path>...]",
		Flags: append([]cli.Flag{
			command.MissionFlag(),
			&cli.BoolFlag{Name: "all", Usage: "the turns of all missions, by time"},
			&cli.BoolFlag{Name: "archived", Usage: "with --all: those of archived missions too"},
			command.TrustedFlag(),
			&cli.BoolFlag{Name: "unreviewed", Usage: "only those after the last one that somebody has reviewed"},
			&cli.BoolFlag{Name: "tokens", Usage: "how many tokens each turn took, and all together"},
			&cli.BoolFlag{Name: "states", Usage: "also the states of the worktree that were saved between turns"},
			&cli.BoolFlag{Name: "steps", Usage: "also the states that were seen within each turn"},
			command.JSONFlag(),
		}, chooseFlags()...),
		Action: cmdline.WithPaths(command.Paged(list)),
	}
}

func list(c *cli.Context) error {
	debug.SetGCPercent(400) // the process is short-lived, and keeps no turn
	all := c.Bool("all")
	switch {
	case all && c.IsSet("mission"):
		return cmdline.Usagef("--all and --mission exclude each other")
	case all && c.Bool("unreviewed"):
		return cmdline.Usagef("--all and --unreviewed exclude each other")
	case c.Bool("archived") && !all:
		return cmdline.Usagef("--archived needs --all; an archived mission is found by its id")
	case all && c.Bool("states"):
		return cmdline.Usagef("--all and --states exclude each other")
	case c.Bool("tokens") && (c.Bool("states") || c.Bool("steps") || c.Bool("json")):
		return cmdline.Usagef("--tokens and --states, --steps or --json exclude each other") // a record in JSON has them
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	chosen, err := choose(c, w.Repo)
	if err != nil {
		return err
	}
	defer chosen.close()
	if c.Bool("states") && chosen.byContent() {
		return cmdline.Usagef("--states and --grep, --outcome or paths exclude each other")
	}
	var id record.ID
	if !all {
		if id, err = command.Mission(c.Context, w, c.String("mission"), c.App.ErrWriter); err != nil {
			return err
		}
		if id == "" {
			return command.NoMission(c.Context, w)
		}
		if c.Bool("trusted") {
			if err := command.Trusted(c.Context, w, id); err != nil {
				return err
			}
		}
	}
	l, err := newListing(c, w, id, chosen)
	if err != nil {
		return err
	}
	defer l.close()
	if c.Bool("unreviewed") {
		m, left, err := unreviewed(c.Context, w, id)
		switch {
		case errors.Is(err, git.ErrNotFound): // its first turn is running
		case err != nil:
			return err
		case left == 0 && m != nil:
			fmt.Fprintf(c.App.ErrWriter, "mission %s: all turns are reviewed\n", id)
		}
		l.after = m.Last()
	}
	defer func() { tellUntrusted(c, l.untrusted) }()
	return l.print()
}

// A listing prints turns while they are read.
type listing struct {
	c       *cli.Context
	w       *workspace.Workspace
	mission record.ID // empty for all
	after   int       // turns of greater numbers
	chosen  *choice
	now     time.Time
	dates   cmdline.Dates
	table   *cmdline.Table
	json    *bufio.Writer // nil for the table
	tokens  *tokenSum     // nil unless they are wanted
	roll    turns.Writers

	states map[int][]*turns.State // saved after each turn, the newest first; nil if not wanted
	newer  *turns.Turn            // the turn that was printed before
	some   bool                   // there is a turn, or a state to print
	unread ledger.ReadErrors

	untrusted []record.ID // missions that are left out
}

func newListing(c *cli.Context, w *workspace.Workspace, id record.ID, chosen *choice) (*listing, error) {
	l := &listing{c: c, w: w, mission: id, chosen: chosen, now: time.Now(), roll: turns.Writers{Workspace: w, Objects: w.Repo.Objects(c.Context)}}
	var err error
	if l.dates, err = command.Dates(c, w); err != nil {
		return nil, err
	}
	if c.Bool("json") {
		l.json = bufio.NewWriter(c.App.Writer)
	}
	name := cmdline.Column{Name: "TURN", Right: id != "", Style: cmdline.Yellow, Key: true, Min: 16}
	if c.Bool("tokens") {
		l.tokens, l.table = new(tokenSum), newTokenTable(name)
		return l, nil
	}
	l.table = cmdline.NewTable(
		name,
		cmdline.Column{Styles: lookOfMark},
		cmdline.Column{Name: "WHEN", Right: true, Style: cmdline.Dim, Min: 10},
		cmdline.Column{Name: "+", Right: true, Style: cmdline.Green, Min: 8},
		cmdline.Column{Name: "-", Right: true, Style: cmdline.Red, Min: 8},
		cmdline.Column{Style: cmdline.Dim},
		cmdline.Column{Name: "PROMPT", Min: 40},
		cmdline.Column{Name: "PATHS", Style: cmdline.Cyan, Min: 10, Spare: true, Path: true},
	)
	if c.Bool("states") {
		saved, err := turns.Saved(c.Context, w.Repo, id)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			return nil, err
		}
		l.states = make(map[int][]*turns.State)
		for _, s := range saved {
			after := 0
			if s.Turn != nil {
				after = s.Turn.Turn
			}
			l.states[after] = append(l.states[after], s)
		}
	}
	return l, nil
}

func (l *listing) close() { l.roll.Objects.Close() }

func (l *listing) print() error {
	err := l.running()
	if err != nil {
		return err
	}
	switch {
	case l.mission != "":
		err = turns.EachAfter(l.c.Context, l.w.Repo, l.mission, l.after, l.add)
	default:
		err = l.all()
	}
	if err == nil || errors.As(err, new(*ledger.UnreadError)) {
		l.unread.Add(err)
		err = l.between(nil)
	}
	switch {
	case errors.Is(err, errEnough):
	case command.Begins(l.c.Context, l.w, err) != "":
	case err != nil:
		return command.Missing(err)
	}
	if !l.some && l.mission != "" && l.after == 0 && l.unread.Err() == nil {
		fmt.Fprintf(l.c.App.ErrWriter, "mission %s has no turn yet\n", l.mission)
	}
	if l.json != nil {
		return cmp.Or(l.json.Flush(), l.unread.Err())
	}
	if l.tokens != nil {
		err = l.tokens.print(func(cells ...string) error { return l.table.Add(l.c.App.Writer, cells...) })
		if err != nil {
			return err
		}
	}
	return cmp.Or(l.table.Print(l.c.App.Writer), l.more(), l.unread.Err())
}

// running prints the running turns, which are not records.
func (l *listing) running() error {
	if l.json != nil || l.chosen.outcome != "" || l.chosen.touch != nil {
		return nil
	}
	live, err := command.Live(l.c.Context, l.w, l.now)
	if err != nil {
		return err
	}
	for _, s := range live {
		if s.Open == nil || l.mission != "" && s.Mission != l.mission {
			continue
		}
		t := &turns.Turn{Mission: s.Mission, Turn: s.Number, At: s.Open.Started, Prompt: s.Open.Prompt}
		switch ok, err := l.chosen.takes(t); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		case ok:
			cells := []string{"", "", "", cmdline.OneLine(t.Prompt), ""}
			if l.tokens != nil {
				cells = append(make([]string, 6), cmdline.OneLine(t.Prompt))
			}
			if err := l.row(l.name(t), markRunning, t.At, cells...); err != nil {
				return err
			}
		}
	}
	return nil
}

// add prints a turn if it is chosen.
func (l *listing) add(t *turns.Turn) error {
	l.some = true
	if err := l.between(t); err != nil {
		return err
	}
	ok, err := l.chosen.takes(t)
	switch {
	case errors.Is(err, errEnough):
		return err
	case err != nil: // its change can't be read
		l.unread.Add(fmt.Errorf("turn %s: %w", t.ID(), err))
		return l.c.Context.Err()
	case !ok:
		return nil
	}
	by, err := l.roll.By(l.c.Context, t)
	if err != nil {
		return err
	}
	if l.json != nil {
		return cmp.Or(cmdline.PrintLine(l.json, t, by), l.steps(t))
	}
	prompt := cmdline.OneLine(t.Prompt)
	switch {
	case t.Away():
		prompt = "(visit) " + prompt
	case t.CodeKnown() != nil:
		prompt = "(imported) " + prompt
	case t.Base.IsZero():
		prompt = "(base unknown) " + prompt
	}
	if by != trust.Clone {
		prompt = "[" + by + "] " + prompt
	}
	if l.tokens != nil {
		return l.row(l.name(t), markOf(t.Outcome), t.At, append(l.tokens.cells(t), prompt)...)
	}
	own := t.Change()
	return cmp.Or(
		l.row(l.name(t), markOf(t.Outcome), t.At, "+"+strconv.Itoa(own.Insertions), "-"+strconv.Itoa(own.Deletions), t.Checked(), prompt, changed(t, own)),
		l.steps(t),
	)
}

// steps prints the states that were seen within a turn, newest first.
func (l *listing) steps(t *turns.Turn) error {
	if !l.c.Bool("steps") {
		return nil
	}
	list, err := t.Steps(l.c.Context, l.w)
	if err != nil {
		l.unread.Add(fmt.Errorf("steps of turn %s: %w", t.ID(), err))
		return l.c.Context.Err()
	}
	for _, step := range slices.Backward(list) {
		r := stepRowOf(t, step)
		if l.json != nil {
			err = cmdline.PrintJSON(l.json, stepJSONOf(t, step))
		} else {
			name := fmt.Sprintf("%s.%d", l.name(t), step.Number)
			err = l.row(name, "", r.at, r.added, r.removed, "", r.tools+" ("+r.fate+")", r.paths)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// name returns a turn's name in the list: its number, or in full with --all.
func (l *listing) name(t *turns.Turn) string {
	if l.mission == "" {
		return record.TurnID{Mission: t.In(), Turn: t.Turn}.String()
	}
	return strconv.Itoa(t.Turn)
}

// changed returns the first path that a turn changed, and counts the others, also
// those in other worktrees. A question mark says that more may be its change.
func changed(t *turns.Turn, own *turns.Change) string {
	text := ""
	switch {
	case len(own.Paths) == 0:
	case own.Files > 1:
		text = fmt.Sprintf("%s +%d", own.Paths[0], own.Files-1)
	default:
		text = own.Paths[0]
	}
	if own.Unsure() {
		text = strings.TrimSpace(text + " ?")
	}
	if in := t.InWorktrees(); in != "" {
		text = strings.TrimPrefix(text+", "+in, ", ")
	}
	return text
}

// between prints the states between t, or nil, and the turn printed before.
func (l *listing) between(t *turns.Turn) error {
	after, newer := l.after, l.newer
	if l.newer = t; t != nil {
		after = t.Turn
	}
	for _, s := range l.states[after] {
		name := s.String()
		if newer != nil && newer.Base == s.Commit {
			name = strconv.Itoa(newer.Turn) + "^"
		}
		if err := l.state(s, name); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) state(s *turns.State, name string) error {
	if ok, err := l.chosen.takesState(s); !ok || err != nil {
		return err
	}
	if l.json != nil {
		return cmdline.PrintJSON(l.json, struct {
			Kind    string      `json:"kind"`
			Name    string      `json:"name"`
			Mission record.ID   `json:"mission"`
			Code    object.Hash `json:"code"`
			At      time.Time   `json:"at"`
			Why     string      `json:"why"`
		}{"state", s.String(), s.In, s.Commit, s.At.UTC(), s.Why})
	}
	return l.row(name, "", s.At, "", "", "", cmdline.OneLine(s.Why), "")
}

func (l *listing) row(name, mark string, at time.Time, cells ...string) error {
	l.some = true
	return l.table.Add(l.c.App.Writer, append([]string{name, mark, l.dates.Short(l.now, at)}, cells...)...)
}

// all lists all missions, perhaps with the archived ones, or only those that
// are all trusted.
func (l *listing) all() error {
	missions := ledger.List
	if l.c.Bool("archived") {
		missions = ledger.ListAll
	}
	tips, unread := missions(l.c.Context, l.w.Repo)
	if tips == nil {
		return unread
	}
	l.unread.Add(unread)
	if l.c.Bool("trusted") {
		var err error
		if tips, l.untrusted, err = l.w.Part(l.c.Context, tips); err != nil {
			return err
		}
	}
	return turns.EachOfMissions(l.c.Context, l.w, tips, l.add)
}

// more says on a terminal that there are other missions.
func (l *listing) more() error {
	if l.mission == "" || cmdline.Columns(l.c.App.Writer) == 0 {
		return nil
	}
	missions, err := ledger.List(l.c.Context, l.w.Repo)
	delete(missions, l.mission)
	if err != nil || len(missions) == 0 {
		return err
	}
	text := cmdline.Plural(len(missions), "more mission") + ": git agent-turn missions"
	if cmdline.Colour(l.c.App.Writer) {
		text = cmdline.Dim.Paint(text)
	}
	_, err = fmt.Fprintln(l.c.App.Writer, text)
	return err
}
