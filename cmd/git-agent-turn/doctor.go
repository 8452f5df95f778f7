package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
)

type severity string

const (
	problem severity = "problem" // turns are not recorded, or not as they should be
	warning severity = "warning"
	fine    severity = "ok"
)

type finding struct {
	Level  severity  `json:"level"`
	What   string    `json:"what"`
	At     time.Time `json:"at,omitzero"` // of a log entry
	Text   string    `json:"text"`
	Remedy string    `json:"remedy,omitempty"` // a command that works here and clears the finding

	Figures map[string]int64 `json:"figures,omitempty"` // the text's counts and bytes, for programs
}

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "check what recording needs, and say what is in the way",
		UsageText: "git agent-turn doctor [--verbose] [--json] [--remote <remote>]\n" +
			"git agent-turn doctor --repair [--dry-run] [--json]",
		Description: "Says what is wrong first, with the command that mends it; then versions, hooks, what the configuration changes, sizes, " +
			"and the last errors of hooks. The exit status is 1 if something keeps turns from being recorded.\n\n" +
			"With --repair it mends what is damaged, missing or stale, as far as that needs no guess, and lists what stays missing, " +
			"turn by turn; then the exit status is 1 if anything does.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "verbose", Usage: "list what the configuration leaves at its default, too"},
			command.RemoteFlag("remote", "only try what `<remote>` does with our refs, by pushing an empty one"),
			&cli.BoolFlag{Name: "repair", Usage: "mend what is damaged, missing or stale"},
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "with --repair, only say what it would do"},
			command.JSONFlag(),
		},
		Action: cmdline.NoArgs(command.Paged(doctor)),
	}
}

func doctor(c *cli.Context) error {
	if c.Bool("repair") || c.Bool("dry-run") {
		return doRepair(c)
	}
	x := &examination{ctx: c.Context, started: os.Getenv("GIT_EXEC_PATH")}
	if err := asHook(); err != nil {
		return err
	}
	repo, err := git.Open(c.Context)
	if err != nil && !errors.Is(err, git.ErrNotFound) && !errors.Is(err, git.ErrNoGit) {
		x.refused(err)
	}
	if c.IsSet("remote") {
		if err := x.probe(c.String("remote")); err != nil {
			return err
		}
		return report(c, x.found, cmdline.Dates{})
	}
	x.look(repo)
	x.versions()
	x.clients()
	x.repository()
	x.hooks()
	x.programs()
	x.config(c.Bool("verbose"))
	x.keys()
	x.temporary()
	x.places()
	if repo != nil {
		x.missions()
		x.trial()
		x.remotes()
		if text, remedy := displaysNotes(x.ctx, x.repo, x.conf); text != "" && x.records {
			x.warn("notes", text, remedy)
		}
		x.purge()
		x.sizes(x.set.Capture, time.Now())
		x.access()
		x.log()
	}
	dates, err := cmdline.ParseDates(x.conf.Get("log.date"), cmdline.Columns(c.App.Writer) > 0)
	if err != nil {
		x.warn("config", err.Error(), unset(x.ctx, x.repo, "log.date"))
	}
	return report(c, x.found, dates)
}

// report prints findings, the worst first. Problems make it an error.
func report(c *cli.Context, found []finding, dates cmdline.Dates) error {
	slices.SortStableFunc(found, func(a, b finding) int { return rank(a.Level) - rank(b.Level) })
	var err error
	if c.Bool("json") {
		for _, f := range found {
			if err = cmdline.PrintJSON(c.App.Writer, f); err != nil {
				return err
			}
		}
	} else if err = printFindings(c.App.Writer, found, dates); err != nil {
		return err
	}
	if problems := count(found, problem); problems > 0 {
		return fmt.Errorf("%s found", cmdline.Plural(problems, "problem"))
	}
	return nil
}

func rank(l severity) int { return slices.Index([]severity{problem, warning, fine}, l) }

func count(found []finding, l severity) int {
	n := 0
	for _, f := range found {
		if f.Level == l {
			n++
		}
	}
	return n
}

func printFindings(w io.Writer, found []finding, dates cmdline.Dates) error {
	problems, warnings := count(found, problem), count(found, warning)
	columns, colour := cmdline.Columns(w), cmdline.Colour(w)
	var b strings.Builder
	for i, f := range found {
		if i == problems+warnings {
			b.WriteString(summary(problems, warnings))
		}
		b.WriteString(f.lines(columns, colour, dates))
	}
	if len(found) == problems+warnings {
		b.WriteString(summary(problems, warnings))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func summary(problems, warnings int) string {
	text := cmdline.Plural(problems, "problem")
	if problems == 0 {
		text = "no problem"
	}
	if warnings > 0 {
		text += ", " + cmdline.Plural(warnings, "warning")
	}
	if problems+warnings > 0 {
		text = "\n" + text
	}
	return text + "\n\n"
}

const labelWidth = 13

// maxText is the width of a text on a terminal; a hook's error may be a page.
const maxText = 400

// lines formats a finding, on a terminal broken at words.
func (f finding) lines(columns int, colour bool, dates cmdline.Dates) string {
	text := cmdline.OneLine(f.Text)
	if columns > 0 {
		text = cmdline.Truncate(text, maxText)
	}
	if !f.At.IsZero() {
		text = dates.Long(time.Now(), f.At) + ": " + text
	}
	word := ""
	if f.Level != fine {
		word = string(f.Level) + ":"
		text = word + " " + text
	}
	lines := cmdline.Indent(fmt.Sprintf("%-*s", labelWidth, f.What), text, columns)
	if colour && word != "" {
		style := map[severity]cmdline.Style{problem: cmdline.Red, warning: cmdline.Yellow}[f.Level]
		lines = strings.Replace(lines, word, style.Paint(word), 1)
	}
	if f.Remedy != "" {
		lines += fmt.Sprintf("\n%-*sremedy: %s", labelWidth, "", cmdline.Escape(f.Remedy))
	}
	return lines + "\n"
}
