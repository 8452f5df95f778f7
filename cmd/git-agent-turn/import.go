package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/hook"
	"gitagent/internal/missionstore"
	"gitagent/internal/recorder"
	"gitagent/turns"
)

func importCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "record the conversations that the agent's client has on disk from before",
		UsageText: "git agent-turn import [--withheld] [--dry-run] [--json]",
		Description: "Each conversation that began in a worktree of this repository becomes a mission. What the hooks have recorded is " +
			"left as it is, and what was imported before is not imported twice.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "withheld", Usage: "import also what was said while an exception held, or recording was off by git's configuration"},
			command.DryRunFlag(), command.JSONFlag(),
		},
		Action: cmdline.NoArgs(importSessions),
	}
}

func importSessions(c *cli.Context) error {
	w, err := command.Checkout(c.Context, "import the sessions of")
	if err != nil {
		return err
	}
	verdict, err := w.Recording(c.Context)
	if err != nil {
		return err
	}
	if verdict.Withholds() && !c.Bool("withheld") {
		return cmdline.Hint(errors.New("nothing is recorded here, "+w.Because(verdict)), "to import what was said here all the same: git agent-turn import --withheld")
	}
	table := cmdline.NewTable(
		cmdline.Column{Name: "MISSION", Style: cmdline.Yellow, Key: true},
		cmdline.Column{Name: "TURNS", Right: true},
		cmdline.Column{Name: "STATE", Style: cmdline.Cyan},
		cmdline.Column{Name: "TITLE"},
	)
	var sum importSum
	progress := cmdline.IsTerminal(os.Stderr)
	var written error // the pipe's reader may be gone
	i := recorder.ImportOptions{Getenv: os.Getenv, At: time.Now(), Dry: c.Bool("dry-run"), Withheld: c.Bool("withheld")}
	i.Report = func(n, of int, done recorder.Imported) {
		sum.add(done)
		if progress {
			fmt.Fprint(c.App.ErrWriter, "\r\x1b[K") // a row may go to the same terminal
		}
		if c.Bool("json") {
			written = cmp.Or(written, cmdline.PrintJSON(c.App.Writer, done))
		} else {
			written = cmp.Or(written, table.Add(c.App.Writer, importRow(done)...))
		}
		if progress && n < of {
			fmt.Fprintf(c.App.ErrWriter, "importing: %d of %d conversations", n, of)
		}
	}
	if !i.Dry {
		missionstore.ClearDead(c.Context, w)
	}
	err = recorder.Import(c.Context, w, i)
	if err = cmp.Or(written, err, table.Print(c.App.Writer)); err != nil {
		return err
	}
	cmdline.WriteMessage(c.App.ErrWriter, "", sum.text(i.Dry))
	if i.Dry {
		return nil
	}
	return hook.Housekeep(w)
}

// importRow returns a session's row: mission, turns, state, and title or why it
// was skipped.
func importRow(i recorder.Imported) []string {
	name, state, title := string(i.Mission), string(i.State), i.Title
	switch i.State {
	case recorder.Skipped:
		name, title = cmp.Or(name, i.Session), strings.TrimSuffix(i.Why+": "+i.Title, ": ")
	case recorder.Recorded:
		state = "recorded by hooks"
	case recorder.Grown:
		state = fmt.Sprintf("grown by %d", i.Added)
	}
	return []string{name, strconv.Itoa(i.Turns), cmdline.OneLine(state), cmdline.OneLine(title)}
}

type importSum struct {
	conversations, turns int // with something new
	known, skipped       int
}

func (s *importSum) add(i recorder.Imported) {
	switch {
	case i.State == recorder.Skipped:
		s.skipped++
	case i.Added > 0:
		s.conversations++
		s.turns += i.Added
	default:
		s.known++
	}
}

func (s *importSum) text(dry bool) string {
	if *s == (importSum{}) {
		return "no conversation of the agent's client began in this repository"
	}
	text := "nothing new to import"
	if s.turns > 0 {
		did := map[bool]string{false: "imported", true: "would import"}[dry]
		text = fmt.Sprintf("%s %s of %s", did, cmdline.Plural(s.turns, "turn"), cmdline.Plural(s.conversations, "conversation"))
	}
	if s.known > 0 {
		text += fmt.Sprintf(", %d recorded before", s.known)
	}
	if s.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", s.skipped)
	}
	if s.turns > 0 && !dry {
		text += "; see them with: git agent-turn missions"
	}
	return text
}

// known returns an error if it is unknown where the code was in a state.
func known(states ...*turns.State) error {
	for _, s := range states {
		switch err := s.Known(); {
		case errors.Is(err, turns.ErrBaseUnknown):
			return cmdline.Hintf(err, "what it left is there: git agent-turn show %[1]s; go on from it: git agent-fork %[1]s", s.Turn.After())
		case err != nil:
			return cmdline.Hintf(err, "its conversation is there: git agent-turn show %[1]s; go on from it, with the code as it is now: git agent-fork %[1]s", s.Turn.After())
		}
	}
	return nil
}
