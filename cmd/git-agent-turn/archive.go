package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/bisect"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// archiveAge is the default age from which missions are archived.
const archiveAge = "90d"

func archiveCommand() *cli.Command {
	return &cli.Command{
		Name:      "archive",
		Usage:     "keep old missions without a ref for each",
		UsageText: "git agent-turn archive [--older-than <age> | --out] [--dry-run] [<mission>...]",
		Description: "Every ref costs each fetch and push of the repository. An archived mission has none: it is found by its id, " +
			"and listed with missions --archived. A session that goes on with it takes it out. " +
			"An age is a number and a unit: 90d, 12w, 6h.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "whose last turn is older than `<age>`", DefaultText: archiveAge},
			&cli.BoolFlag{Name: "out", Usage: "take the named missions out of the archive"},
			command.DryRunFlag(),
		},
		BashComplete: func(c *cli.Context) {
			if c.Bool("out") {
				command.CompleteArchived(c)
			} else {
				command.CompleteMissions(c)
			}
		},
		Action: archiveMissions,
	}
}

func archiveMissions(c *cli.Context) error {
	named := c.Args().Slice()
	switch {
	case len(named) > 0 && c.IsSet("older-than"):
		return cmdline.Usagef("archive takes --older-than or missions, not both")
	case c.Bool("out") && (len(named) == 0 || c.Bool("dry-run")):
		return cmdline.Usagef("archive --out needs missions, and has no --dry-run")
	}
	age, err := config.ParseAge(cmp.Or(c.String("older-than"), archiveAge))
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	var ids []record.ID
	for _, name := range named {
		id, err := command.Named(c.Context, w.Repo, name)
		if err == nil {
			if _, err = ledger.Tip(c.Context, w.Repo, id); err != nil {
				err = cmdline.Hint(fmt.Errorf("mission %s: %w", id, err), "list the missions with: git agent-turn missions")
			}
		}
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if c.Bool("out") {
		apart, err := missionstore.Unarchive(c.Context, w, ids)
		for _, id := range slices.Sorted(maps.Keys(apart)) {
			cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: ", fmt.Sprintf("mission %s was begun again since it was archived; what was archived is mission %s now", id, apart[id]))
		}
		if err != nil {
			return command.Missing(err)
		}
		_, err = fmt.Fprintf(c.App.Writer, "%s out of the archive\n", cmdline.Plural(len(ids), "mission"))
		return err
	}
	if !c.Bool("dry-run") {
		bisect.ClearDead(w)
	}
	var unread error
	if len(named) == 0 {
		if ids, unread = oldMissions(c, w, age); unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
			return unread
		}
	}
	used, err := inUse(c, w)
	if err != nil {
		return err
	}
	done, err := missionstore.Archive(c.Context, w, ids, used, c.Bool("dry-run"))
	if err != nil {
		return err
	}
	for _, l := range done.Left {
		cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", fmt.Sprintf("mission %s stays: %s", l.ID, cmdline.OneLine(l.Why)))
	}
	for _, id := range ids {
		left := func(l missionstore.NotArchived) bool { return l.ID == id }
		if len(named) > 0 && !slices.Contains(done.Done, id) && !slices.ContainsFunc(done.Left, left) {
			cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", fmt.Sprintf("mission %s is archived already", id))
		}
	}
	verb := "archived"
	if c.Bool("dry-run") {
		verb = "would archive"
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s %s; %s fewer\n", verb, cmdline.Plural(len(done.Done), "mission"), cmdline.Plural(done.Refs, "ref"))
	return cmp.Or(err, unread)
}

// inUse returns why missions are in use: a session's, or waiting to be pushed.
func inUse(c *cli.Context, w *workspace.Workspace) (map[record.ID]string, error) {
	used := make(map[record.ID]string)
	names, err := remote.Names(c.Context, w.Repo)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r, err := remote.Open(c.Context, w, name)
		if err != nil {
			continue // nothing is pushed there
		}
		for _, r := range r.Each() {
			waiting, err := r.Pending()
			if err != nil {
				return nil, err
			}
			for _, id := range waiting {
				used[id] = "it has not been pushed to " + r.String() + " yet"
			}
		}
	}
	live, err := command.Live(c.Context, w, time.Now())
	for _, l := range live {
		used[l.Mission] = "a session records to it"
	}
	return used, err
}

// oldMissions returns the missions in which nothing has happened for age.
func oldMissions(c *cli.Context, w *workspace.Workspace, age time.Duration) (ids []record.ID, unread error) {
	lines, unread := turns.Missions(c.Context, w.Repo)
	before := time.Now().Add(-age)
	for _, m := range lines {
		if isOlder(m, before) {
			ids = append(ids, m.ID)
		}
	}
	return ids, unread
}

// An archivedJSON is a line of missions --archived --json.
type archivedJSON struct {
	ID    string    `json:"id"`
	Title string    `json:"title,omitempty"`
	Last  time.Time `json:"last"` // event
	Turns int       `json:"turns"`
}

// archived lists the archive's index: a partial clone may lack the missions.
func archived(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	entries, unread := ledger.ListArchived(c.Context, w.Repo)
	if unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
		return unread
	}
	if len(entries) == 0 && unread == nil {
		return cmdline.Hint(cmdline.NotFoundf("no mission is archived"), "archive those that are older than "+archiveAge+" with: git agent-turn archive")
	}
	if command.ByAgent(c.Context) { // anyone who may push may have written them
		for i := range entries {
			entries[i].Title = ""
		}
	}
	slices.SortFunc(entries, func(a, b ledger.ArchiveEntry) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.ID, b.ID)) })
	if c.Bool("json") {
		for _, e := range entries {
			if err := cmdline.PrintJSON(c.App.Writer, archivedJSON{string(e.ID), e.Title, e.Time(), e.Turns}); err != nil {
				return err
			}
		}
		return unread
	}
	table := cmdline.NewTable(
		cmdline.Column{Name: "MISSION", Style: cmdline.Yellow, Key: true, Min: 12, Path: true},
		cmdline.Column{Name: "WHEN", Right: true, Style: cmdline.Dim, Min: 10},
		cmdline.Column{Name: "TURNS", Right: true, Min: 6, Spare: true},
		cmdline.Column{Name: "TITLE", Min: 30},
	)
	now := time.Now()
	dates, err := command.Dates(c, w)
	if err != nil {
		return err
	}
	for _, e := range entries {
		table.Row(string(e.ID), dates.Short(now, e.Time()), strconv.Itoa(e.Turns), e.Title)
	}
	return cmp.Or(table.Print(c.App.Writer), unread)
}
