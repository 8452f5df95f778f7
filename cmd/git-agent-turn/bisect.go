package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/bisect"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/copyignored"
	"gitagent/internal/git"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func bisectCommand() *cli.Command {
	return &cli.Command{
		Name:  "bisect",
		Usage: "find the turn that broke something, by halving",
		UsageText: "git agent-turn bisect --good <state> --bad <state> [--keep-ignored] [--json]\n" +
			"                      [--include <pattern>]... [--no-include] [-- <command> [<argument>...]]",
		Description: "The command is run in a throw-away worktree, at one state of the mission after the other: 0 is good, 1 to 124 is bad, " +
			"125 skips the state, anything else ends it. Without a command, git bisect is started in a worktree that stays.",
		Flags: append([]cli.Flag{
			command.MissionFlag(),
			stateFlag("good", "`<state>` was good still"),
			stateFlag("bad", "`<state>` is bad"),
			&cli.BoolFlag{Name: "keep-ignored", Usage: "what is ignored, as builds are, stays from one state to the next"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		}, command.IncludeFlags()...),
		BashComplete: cmdline.ProposeFiles,
		Action:       cmdline.WithPaths(runBisect),
	}
}

func stateFlag(name, usage string) cli.Flag {
	return &cmdline.CompletedFlag{DocGenerationFlag: &cli.StringFlag{Name: name, Usage: usage}, Values: command.CompleteTurns}
}

func runBisect(c *cli.Context) error {
	cmd := cmdline.Paths(c)
	switch {
	case c.String("good") == "" || c.String("bad") == "":
		return cmdline.Hint(cmdline.Usagef("bisect needs --good <state> and --bad <state>"), "list the turns with: git agent-turn list")
	case c.NArg() > 0: // some of its flags may have been taken for ours
		return cmdline.Hint(cmdline.Usagef("%q is in the place of a flag", c.Args().First()), "the command comes after --, with its flags")
	case len(cmd) == 0 && c.Bool("keep-ignored"):
		return cmdline.Usagef("--keep-ignored is for a command")
	case len(cmd) == 0 && c.Bool("json"):
		return cmdline.Usagef("--json is for a command")
	}
	if err := command.CheckPlanting(c, true); err != nil {
		return err
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	b, err := bisection(c, w)
	if err != nil {
		return err
	}
	files, err := command.Include(c, w, b.Foreign)
	if err != nil {
		return err
	}
	r := &bisecting{Bisection: b, c: c, w: w, command: cmd, include: files, caught: make(chan os.Signal, 8)}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.Context))
	defer cancel(nil)
	ends := make(chan os.Signal, 1)
	terminal.Catch(ends)
	terminal.Catch(r.caught)
	go func() {
		select {
		case s := <-ends:
			cancel(&endedError{s})
		case <-ctx.Done():
		}
	}()
	bisect.ClearDead(w)
	if err := c.Context.Err(); err != nil { // a signal came before we caught them
		return err
	}
	if len(cmd) == 0 {
		return r.ended(ctx, r.start(ctx))
	}
	f, err := r.run(ctx)
	err = r.ended(ctx, err)
	if f.bad > 0 {
		err = errors.Join(r.print(f), err)
	}
	return err
}

// bisection finds the states between the two that the command line names.
func bisection(c *cli.Context, w *workspace.Workspace) (*bisect.Bisection, error) {
	good, err := command.State(c.Context, w, c.String("mission"), c.String("good"), c.App.ErrWriter)
	if err != nil {
		return nil, err
	}
	bad, err := command.State(c.Context, w, string(good.In), c.String("bad"), c.App.ErrWriter)
	if err != nil {
		return nil, err
	}
	if err := known(good, bad); err != nil {
		return nil, err
	}
	good, foreign, err := command.Usable(c, w, good)
	if err != nil {
		return nil, err
	}
	bad, also, err := command.Usable(c, w, bad)
	if err != nil {
		return nil, err
	}
	way, unread, err := turns.Path(c.Context, w, good, bad)
	var apart *turns.ApartError
	switch {
	case errors.Is(err, turns.ErrBackwards):
		return nil, cmdline.Hint(cmdline.Usagef("%s, the good one, does not come before %s", good.Describe(), bad.Describe()),
			"what was broken first and works now is found with the command's answers turned around")
	case errors.As(err, &apart) && apart.Common != nil:
		return nil, cmdline.Hintf(err, "the last turn that both have is %s; see how missions come from each other with: git agent-turn missions --tree", apart.Common.ID())
	case errors.As(err, &apart):
		return nil, cmdline.Hint(err, "see how missions come from each other with: git agent-turn missions --tree")
	case err != nil:
		return nil, err
	}
	if unread != nil {
		cmdline.Warn(command.Damaged(unread))
	}
	b, err := bisect.New(c.Context, w, way)
	if errors.Is(err, bisect.ErrSame) {
		return nil, fmt.Errorf("%s and %s: %w", good.Describe(), bad.Describe(), err)
	}
	if err == nil {
		b.Foreign = b.Foreign || foreign || also
	}
	return b, err
}

type bisecting struct {
	*bisect.Bisection
	c       *cli.Context
	w       *workspace.Workspace
	command []string
	include *copyignored.Files // what each state also gets, or nil
	caught  chan os.Signal     // for the commands
	tried   int
	// within are two states next to each other in the turn that was found: from
	// the first to the second it broke. nil if nothing is known of that.
	within []*turns.State
}

// An endedError says that a signal ended the bisection.
type endedError struct{ signal os.Signal }

func (e *endedError) Error() string { return fmt.Sprintf("interrupted (%s)", e.signal) }

// ended returns an error with a signal's exit status if one ended the
// bisection, since that may make anything fail. It also says what was left.
func (r *bisecting) ended(ctx context.Context, err error) error {
	var ended *endedError
	if err == nil || !errors.As(err, &ended) && !errors.As(context.Cause(ctx), &ended) {
		return err
	}
	status := 128 + terminal.Number(ended.signal)
	if left := (*leftError)(nil); errors.As(err, &left) {
		return cmdline.ExitWith(status, fmt.Errorf("%w; %w", ended, left))
	}
	return cmdline.ExitWith(status, ended)
}

type leftError struct{ error }

func (e *leftError) Unwrap() error { return e.error }

func drop(t *bisect.TryTree, err *error) {
	if e := t.Remove(); e != nil {
		*err = errors.Join(*err, &leftError{e})
	}
}

// A found is the result of a bisection: the first bad state is one of those
// after good, up to bad. It is zero if none was found.
type found struct{ good, bad int }

func (r *bisecting) run(ctx context.Context) (f found, err error) {
	t, err := bisect.Temporary(ctx, r.w, r.States[0].Commit, r.c.Bool("keep-ignored"), r.Foreign)
	if err != nil {
		return f, err
	}
	defer drop(t, &err)
	t.Include = r.include
	if f, err = r.halve(ctx, t); err == nil && f.bad == f.good+1 && r.States[f.bad].Ended() {
		err = r.into(ctx, t, r.States[f.good], r.States[f.bad])
	}
	return f, err
}

// into goes on into the steps of the turn in which it broke, as far as they can
// be had.
func (r *bisecting) into(ctx context.Context, t *bisect.TryTree, good, bad *turns.State) error {
	if !good.Start {
		return nil
	}
	way, err := bad.Turn.StepStates(ctx, r.w)
	if err != nil || len(way) == 0 {
		return err
	}
	steps, err := bisect.New(ctx, r.w, slices.Concat([]*turns.State{good}, way, []*turns.State{bad}))
	if err != nil || len(steps.States) < 3 {
		return err
	}
	steps.Foreign = r.Foreign
	steps.Judge(len(steps.States)-1, bisect.Bad)
	steps.Judge(0, bisect.Good)
	whole := r.Bisection
	r.Bisection = steps
	f, err := r.halve(ctx, t)
	r.Bisection = whole
	if err == nil && f.bad == f.good+1 {
		r.within = steps.States[f.good : f.bad+1]
	}
	return err
}

// halve tries states until there is nothing left to try.
func (r *bisecting) halve(ctx context.Context, t *bisect.TryTree) (f found, err error) {
	last := len(r.States) - 1
	for {
		good, bad, next := bisect.Halve(r.Verdicts)
		if next < 0 {
			return found{good, bad}, nil
		}
		s := r.States[next]
		if err := t.Set(ctx, s.Commit); err != nil {
			return f, fmt.Errorf("check out %s: %w", s.Describe(), err)
		}
		if r.tried == 0 {
			command.TellIncluded(r.c.App.ErrWriter, t.Copied)
			command.TellLacks(ctx, r.c.App.ErrWriter, t.Top, r.Foreign)
		}
		verdict, status, err := r.try(ctx, t, s)
		switch {
		case err != nil:
			return f, err
		case next == 0 && verdict != bisect.Good:
			return f, fmt.Errorf("the good end, %s, %s: the command ended with status %d", s.Describe(), judged(verdict), status)
		case next == last && verdict != bisect.Bad:
			return f, fmt.Errorf("the bad end, %s, %s: the command ended with status %d", s.Describe(), judged(verdict), status)
		}
		r.Judge(next, verdict)
		r.tried++
		left := "the bad end is next"
		if next > 0 {
			left = r.left()
		}
		fmt.Fprintf(r.c.App.ErrWriter, "%s: %s (%s)\n", s.Describe(), verdict, left)
	}
}

// left returns how many states and steps are left, as text.
func (r *bisecting) left() string {
	good, bad, _ := bisect.Halve(r.Verdicts)
	states, trials := bisect.Left(r.Verdicts, good, bad)
	if states == 0 {
		return "none left"
	}
	return fmt.Sprintf("%d left, about %s", states, cmdline.Plural(trials, "step"))
}

// judged describes a verdict that is wrong for an end of the range.
func judged(v bisect.Verdict) string {
	if v == bisect.Skipped {
		return "can't be tried"
	}
	return "is " + v.String()
}

// The meanings of a command's exit statuses.
const (
	skips     = 125
	cantRun   = 126
	notThere  = 127
	signalled = 128 // and the number of a signal
)

// try runs the command in a state. The command's standard output goes to our
// standard error, because our standard output is the answer alone.
func (r *bisecting) try(ctx context.Context, t *bisect.TryTree, s *turns.State) (bisect.Verdict, int, error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	job := terminal.Job{
		Command: r.command, Dir: inside(r.w.Repo.Top, t.Top), Without: append(git.Inherited(), "GIT_AGENT_MISSION"),
		Stdin: os.Stdin, Stdout: r.c.App.ErrWriter, Stderr: r.c.App.ErrWriter,
		Foreground: cmdline.IsTerminal(os.Stdin), Caught: r.caught,
	}
	exit, err := job.Run()
	switch {
	case exit.Caught != nil:
		return 0, 0, &endedError{exit.Caught}
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	case err != nil:
		return 0, 0, cmdline.Hint(fmt.Errorf("%s: %w", s.Describe(), err), stopsAt)
	case exit.Status == 0:
		return bisect.Good, exit.Status, nil
	case exit.Status == skips:
		return bisect.Skipped, exit.Status, nil
	case exit.Status < skips:
		return bisect.Bad, exit.Status, nil
	}
	why := ""
	switch {
	case exit.Status == cantRun:
		why = ", as of a command that can't be run"
	case exit.Status == notThere:
		why = ", as of a command that is not there"
	case exit.Status > signalled:
		why = fmt.Sprintf(", as of one that signal %d has ended", exit.Status-signalled)
	}
	return 0, 0, cmdline.Hint(fmt.Errorf("%s: the command ended with status %d%s", s.Describe(), exit.Status, why), stopsAt)
}

// stopsAt is the hint for a command that says neither good nor bad.
const stopsAt = "0 is good, 1 to 124 is bad, and 125 skips the state"

// inside returns the directory in the worktree top that corresponds to the
// current directory in the worktree of. If there is none, it returns top.
func inside(of, top string) string {
	here, err := os.Getwd()
	if err != nil || of == "" {
		return top
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return top
	}
	if of, err = filepath.EvalSymlinks(of); err != nil {
		return top
	}
	name, ok := git.Within(of, here)
	if !ok {
		return top
	}
	dir := filepath.Join(top, name)
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir { // a link may lead anywhere
		return top
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return top
	}
	return dir
}

// start starts git's own bisect in a worktree that stays.
func (r *bisecting) start(ctx context.Context) (err error) {
	dir, err := worktreeDir(ctx, r.w.Repo, string(r.States[0].In))
	if err != nil {
		return err
	}
	good, bad, err := r.Chain(ctx, r.w, func(s *turns.State) string {
		return cmdline.Truncate(cmdline.OneLine(strings.TrimSuffix(s.Describe()+": "+about(s), ": ")), maxSubject)
	})
	if err != nil {
		return err
	}
	t, err := bisect.Make(ctx, r.w, dir, bad, r.Foreign)
	if err != nil {
		return err
	}
	t.Include = r.include
	if err := t.Start(ctx, good, bad, r.c.App.ErrWriter); err != nil {
		drop(t, &err)
		return err
	}
	command.TellIncluded(r.c.App.ErrWriter, t.Copied)
	command.TellLacks(ctx, r.c.App.ErrWriter, t.Top, r.Foreign)
	dir = t.Top
	if _, err := fmt.Fprintln(r.c.App.Writer, dir); err != nil {
		return err
	}
	cmdline.WriteMessage(r.c.App.ErrWriter, "", "judge what is checked out there with: "+cmdline.Shell([]string{"git", "-C", dir, "bisect", "good"})+"; or bad, or skip")
	cmdline.WriteMessage(r.c.App.ErrWriter, "", "in the end, remove it with: "+cmdline.Shell([]string{"git", "worktree", "remove", "--force", dir}))
	return nil
}

const maxSubject = 100

// about returns what the turn of a state was about.
func about(s *turns.State) string {
	switch {
	case s.Saved:
		return s.Why
	case s.Start:
		return "changed by others before it"
	}
	return s.Turn.Prompt
}

// worktreeDir returns an unused directory beside the repository for a worktree.
func worktreeDir(ctx context.Context, repo *git.Repo, mission string) (string, error) {
	main := repo.Main(ctx)
	for n := 1; ; n++ {
		dir := filepath.Join(filepath.Dir(main), filepath.Base(main)+"-bisect-"+mission)
		if n > 1 {
			dir += fmt.Sprint("-", n)
		}
		_, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = os.Lstat(filepath.Join(repo.CommonDir, "worktrees", filepath.Base(dir)))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return dir, nil
		}
		if err != nil {
			return "", err
		}
	}
}

func (r *bisecting) print(f found) error {
	candidates := r.States[f.good+1 : f.bad+1]
	if r.c.Bool("json") {
		return r.printJSON(candidates)
	}
	if len(candidates) == 1 {
		return r.printFirst(r.States[f.good], candidates[0])
	}
	cmdline.WriteMessage(r.c.App.ErrWriter, "", fmt.Sprintf("the first bad state is one of these %d; which one, no trial could tell", len(candidates)))
	table := cmdline.NewTable(cmdline.Column{}, cmdline.Column{})
	for _, s := range candidates {
		table.Row(s.Describe(), about(s))
	}
	return table.Print(r.c.App.Writer)
}

func (r *bisecting) printJSON(candidates []*turns.State) error {
	answer := struct {
		State      *string         `json:"state"`
		Turn       json.RawMessage `json:"turn"`
		Tried      int             `json:"tried"`
		Skipped    []string        `json:"skipped"`
		Candidates []string        `json:"candidates"`
		Within     []string        `json:"within,omitempty"`
	}{Tried: r.tried, Skipped: r.Named(bisect.Skipped), Candidates: []string{}}
	for _, s := range candidates {
		answer.Candidates = append(answer.Candidates, s.String())
	}
	for _, s := range r.within {
		answer.Within = append(answer.Within, s.String())
	}
	if len(candidates) > 1 {
		return cmdline.PrintJSON(r.c.App.Writer, answer)
	}
	first := candidates[0]
	answer.State = &answer.Candidates[0]
	if first.Ended() {
		by, err := (&turns.Writers{Workspace: r.w}).By(r.c.Context, first.Turn)
		if err != nil {
			return err
		}
		var line bytes.Buffer
		if err := cmdline.PrintLine(&line, first.Turn, by); err != nil {
			return err
		}
		answer.Turn = bytes.TrimSpace(line.Bytes())
	}
	return cmdline.PrintJSON(r.c.App.Writer, answer)
}

// printFirst prints the first bad state. A turn is explained as by why; any
// other state is shown with its changes and what to do about them.
func (r *bisecting) printFirst(before, first *turns.State) error {
	s, err := newShower(r.c, r.w)
	if err != nil {
		return err
	}
	if first.Ended() {
		if err := s.explain(&answer{turn: first.Turn}); err != nil || len(r.within) == 0 {
			return err
		}
		name := cmdline.Shell([]string{r.within[0].String() + ".." + r.within[1].String()})
		_, err := fmt.Fprintf(r.c.App.Writer, "\nIt broke within the turn, at %s:\n  git agent-turn diff %s\n", r.within[1].Describe(), name)
		return err
	}
	if err := s.state(first); err != nil {
		return err
	}
	name := cmdline.Shell([]string{before.String() + ".." + first.String()})
	return s.next([]step{{"git agent-turn diff " + name, "how it was changed"}, {"git agent-turn revert " + name, "take that out"}})
}
