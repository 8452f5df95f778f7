package main

import (
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/turns"
)

func chooseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "max-count", Aliases: []string{"n"}, Usage: "at most `<k>`", DefaultText: "all"},
		&cli.StringFlag{Name: "since", Aliases: []string{"after"}, Usage: "not older than `<date>`"},
		&cli.StringFlag{Name: "until", Aliases: []string{"before"}, Usage: "not newer than `<date>`"},
		&cli.StringFlag{Name: "grep", Usage: "whose prompt or reply matches `<pattern>`"},
		&cli.BoolFlag{Name: "regexp-ignore-case", Aliases: []string{"i"}, Usage: "the pattern matches in any case"},
		cmdline.OneOf(&cli.StringFlag{Name: "outcome", Usage: "that ended `<how>`: done, failed or interrupted"},
			string(record.Done), string(record.Failed), string(record.Interrupted)),
	}
}

// errEnough ends a walk over turns early.
var errEnough = errors.New("enough")

// A choice selects turns. The zero value selects all.
type choice struct {
	limited      bool // to left turns
	left         int
	since, until time.Time
	old          int // turns in a row that are older than since
	grep         *regexp.Regexp
	outcome      record.Outcome
	touch        *gitdiff.Touch // paths that the turns must have changed
}

// choose reads the command line's flags and paths. The caller must call close.
func choose(c *cli.Context, repo *git.Repo) (*choice, error) {
	f := &choice{limited: c.IsSet("max-count"), left: c.Int("max-count")}
	if c.NArg() == 1 && len(c.Args().First()) > 1 && c.Args().First()[0] == '-' { // git log -5
		n, err := strconv.Atoi(c.Args().First()[1:])
		if err != nil || f.limited {
			return nil, cmdline.Usagef("unexpected argument %q", c.Args().First())
		}
		f.limited, f.left = true, n
	} else if c.NArg() > 0 {
		return nil, cmdline.Hint(cmdline.Usagef("unexpected argument %q", c.Args().First()), "paths come after --")
	}
	if f.left < 0 {
		return nil, cmdline.Usagef("%d is no number of turns", f.left)
	}
	var err error
	for _, date := range []struct {
		flag string
		at   *time.Time
	}{{"since", &f.since}, {"until", &f.until}} {
		if c.IsSet(date.flag) {
			if *date.at, err = command.When(c.Context, repo, c.String(date.flag)); err != nil {
				return nil, err
			}
		}
	}
	if c.IsSet("outcome") {
		if f.outcome, err = record.ParseOutcome(c.String("outcome")); err != nil {
			return nil, cmdline.Usagef("%w", err)
		}
	}
	if c.IsSet("grep") {
		flags := "(?m)"
		if c.Bool("regexp-ignore-case") {
			flags = "(?mi)"
		}
		if f.grep, err = regexp.Compile(flags + c.String("grep")); err != nil {
			return nil, cmdline.Usagef("--grep: %w", err)
		}
	}
	if paths := cmdline.Paths(c); len(paths) > 0 {
		if f.touch, err = gitdiff.NewTouch(c.Context, repo, paths); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *choice) close() {
	if f.touch != nil {
		f.touch.Close()
	}
}

// byContent reports whether turns are chosen by more than their time.
func (f *choice) byContent() bool { return f.grep != nil || f.outcome != "" || f.touch != nil }

// at reports whether something at time t is wanted. The newest must come first;
// the error is errEnough when no more is wanted.
func (f *choice) at(t time.Time) (bool, error) {
	if f.limited && f.left == 0 {
		return false, errEnough
	}
	if !f.since.IsZero() && t.Before(f.since) {
		if f.old++; f.old == turns.MaxOld {
			return false, errEnough
		}
		return false, nil
	}
	f.old = 0
	return f.until.IsZero() || !t.After(f.until), nil
}

func (f *choice) takes(t *turns.Turn) (bool, error) {
	ok, err := f.at(t.At)
	if !ok || err != nil || f.outcome != "" && t.Outcome != f.outcome || f.grep != nil && !f.grep.MatchString(t.Prompt) && !f.grep.MatchString(t.Reply) {
		return false, err
	}
	if f.touch != nil {
		if t.Files == 0 || t.Base.IsZero() {
			return false, nil
		}
		own := t.Change()
		if ok, err = f.touch.Between(own.From, own.To); !ok || err != nil {
			return false, err
		}
	}
	f.left--
	return true, nil
}

func (f *choice) takesState(s *turns.State) (bool, error) {
	ok, err := f.at(s.At)
	if ok {
		f.left--
	}
	return ok, err
}
