package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/objectpurge"
	"gitagent/internal/purge"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/scrub"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func purgeCommand() *cli.Command {
	return &cli.Command{
		Name:  "purge",
		Usage: "take a secret, turns, files or missions out of all that was recorded, for good",
		UsageText: "git agent-turn purge (--fixed | --match | --turn <turn> | --path <pathspec> | --mission <id>)... [--rewrite-mine] [--common] [--dry-run | --yes]\n" +
			"git agent-turn purge --push [--yes]",
		Description: "The text or pattern is asked for on the terminal, where it is not shown, or read from standard input: never name it on the command line. " +
			"Says where it was found and what stays; then asks, and without a terminal does nothing unless --yes is given. " +
			"It can't be undone. The exit status is 1 if it stays in something of yours.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fixed", Usage: "a text, in all its spellings; read from the terminal or standard input"},
			&cli.BoolFlag{Name: "match", Usage: "what a pattern matches, in Go's syntax; read like that"},
			completed(&cli.StringSliceFlag{Name: "turn", Usage: "all that was said and done in a `<turn>`"}, command.CompleteTurns),
			cmdline.Repeated(&cli.StringSliceFlag{Name: "path", Usage: "the files that a `<pathspec>` names, in all turns"}),
			completed(&cli.StringSliceFlag{Name: "mission", Usage: "the mission `<id>`, with everything"}, command.CompleteMissions),
			&cli.BoolFlag{Name: "rewrite-mine", Usage: "also rewrite commits of yours on branches, which hold it or come after what does"},
			&cli.BoolFlag{Name: "common", Usage: "also what stands in many files or turns, or stays in HEAD: it is cut out of all that is recorded from then on, in every clone"},
			&cli.BoolFlag{Name: "push", Usage: "purge nothing more here: replace at the remotes what was purged"},
			command.DryRunFlag(),
			&cli.BoolFlag{Name: "yes", Usage: "don't ask"},
		},
		Action: purgeAll,
	}
}

func completed(flag *cli.StringSliceFlag, values cli.BashCompleteFunc) cli.Flag {
	return &cmdline.CompletedFlag{DocGenerationFlag: cmdline.Repeated(flag), Values: values}
}

func purgeAll(c *cli.Context) error {
	if c.Args().Present() {
		return cmdline.Hint(cmdline.Usagef("purge takes no arguments: the text is asked for, or read from standard input"),
			"if you have typed the secret, it is in the history of your shell now: take it out there, too")
	}
	if c.Bool("fixed") && c.Bool("match") {
		return cmdline.Usagef("purge takes one of --fixed and --match")
	}
	if !slices.ContainsFunc([]string{"fixed", "match", "turn", "path", "mission"}, c.IsSet) {
		switch {
		case c.Bool("rewrite-mine") || c.Bool("common") || c.Bool("dry-run"):
			return needTarget()
		case c.Bool("push"):
			return pushPurges(c)
		}
		return completePurge(c)
	}
	if c.Bool("push") {
		return cmdline.Usagef("purge --push takes nothing to purge: a purge asks about remotes by itself")
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	if !c.Bool("dry-run") {
		if err := finishPurge(c, w); err != nil {
			return err
		}
	}
	p := &purge.Purge{Workspace: w, Theirs: c.Bool("rewrite-mine")}
	if p.Target, err = purged(c, w); err != nil {
		return err
	}
	if data := handoffstore.DataDir(os.Getenv); data != "" {
		p.Beside = []string{filepath.Join(data, "handoffs"), filepath.Join(data, "logs")}
	}
	plan, err := p.Plan(c.Context)
	if errors.Is(err, purge.ErrCheckedOut) {
		return cmdline.Hint(err, "switch that worktree to another branch first: git switch <branch>")
	}
	if goesOn := (*purge.GoesOnError)(nil); errors.As(err, &goesOn) {
		return cmdline.Hintf(err, "purge both: git agent-turn purge --mission %s --mission %s", goesOn.Mission, goesOn.In)
	}
	if err != nil {
		return command.Missing(err)
	}
	defer func() { plan.Close() }()
	if plan.Empty() && len(plan.Stays) == 0 {
		sayBeside(c, plan)
		return cmdline.NotFoundf("nothing to purge was found")
	}
	if err := sayPlan(c, w, plan); err != nil {
		return err
	}
	switch {
	case c.Bool("dry-run") || plan.Empty():
		return staying(plan)
	case c.Bool("yes"):
		err = tooCommon(c, p, plan)
	case !cmdline.CanAsk():
		return cmdline.Hint(fmt.Errorf("nothing was changed: %s", cmdline.Unasked()), "to purge without a question, add --yes")
	default:
		plan, err = askPurge(c, p, plan)
	}
	if err != nil {
		return err
	}
	done, err := plan.Execute(c.Context)
	if err != nil {
		return begun(w, err)
	}
	return errors.Join(sayPurged(c, w, done), replaceAtRemotes(c, w))
}

func pushPurges(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	if err := finishPurge(c, w); err != nil {
		return err
	}
	if _, err := pushable(c, w); err != nil { // there is no remote
		return err
	}
	return replaceAtRemotes(c, w)
}

// replaceAtRemotes replaces missions at the remotes, after a question for each.
func replaceAtRemotes(c *cli.Context, w *workspace.Workspace) error {
	conf, err := w.Repo.Config(c.Context)
	if err != nil {
		return err
	}
	remotes, err := remote.Consenting(c.Context, w, conf)
	problems := []error{err}
	for _, r := range remotes {
		if !c.Bool("yes") {
			if !cmdline.CanAsk() {
				return errors.Join(append(problems, cmdline.Hint(fmt.Errorf("nothing was changed at %s: %s", r, cmdline.Unasked()), "to replace it without a question: git agent-turn purge --push --yes"))...)
			}
			answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Replace what %s has, too?", r), "yes", "no")
			if err != nil || answer != "yes" {
				problems = append(problems, err, cmdline.Hint(fmt.Errorf("it stays at %s", r), "to replace it later: git agent-turn purge --push"))
				continue
			}
		}
		problems = append(problems, replaceAt(c, r))
	}
	return errors.Join(problems...)
}

// replaceAt replaces missions at a remote, and reports what can't be replaced.
func replaceAt(c *cli.Context, r *remote.Remote) error {
	done, err := pusher.PushPurges(c.Context, r)
	err = rejected(r, err)
	if done == nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "at %s: %s replaced\n", cmdline.Escape(r.String()), cmdline.Plural(len(done.Refs), "ref"))
	for _, branch := range done.Branches {
		cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", fmt.Sprintf("%s refuses to change %s, which leads to it: delete it there", cmdline.Escape(r.String()), cmdline.Escape(branch)))
	}
	if len(done.Refs) > 0 {
		cmdline.WriteMessage(c.App.ErrWriter, "", cmdline.Escape(r.String())+" keeps what no ref leads to until it collects garbage, and gives it to all who know a hash: "+
			"ask its host to; other clones have it until they fetch")
	}
	return err
}

// askPurge asks whether to purge, and what to do about commits in the way.
func askPurge(c *cli.Context, p *purge.Purge, plan *purge.Plan) (*purge.Plan, error) {
	if n := len(plan.Commits); n > 0 && !p.Theirs {
		question := fmt.Sprintf("Rewrite %s of yours as well? Their hashes change, and signatures go.", cmdline.Plural(n, "commit"))
		answer, err := cmdline.Ask(c.Context, question, "yes", "no")
		if err != nil {
			return plan, err
		}
		if answer == "yes" {
			p.Theirs = true
			fresh, err := p.Plan(c.Context)
			if err != nil {
				return plan, err
			}
			plan.Close()
			plan = fresh
		}
	}
	if err := tooCommon(c, p, plan); err != nil {
		return plan, err
	}
	answer, err := cmdline.Ask(c.Context, "Purge? This can't be undone.", "yes", "no")
	if err == nil && answer != "yes" {
		err = errors.New("nothing was changed")
	}
	return plan, err
}

// What was purged is common if it stands in more files or turns, or is more
// texts, than this. Of 124 texts in our own sources that look like credentials
// none is in more than 3 files; 1,117 of 8,800 words are in more than 10.
const (
	commonPaths = 10
	commonTurns = 50
	commonTexts = 50
)

// tooCommon returns an error if what would be purged is no secret by where it
// stands, and --common was not given.
func tooCommon(c *cli.Context, p *purge.Purge, plan *purge.Plan) error {
	if c.Bool("common") {
		return nil
	}
	text := sayCommon(plan.Common)
	if text == "" {
		return nil
	}
	how := "--fixed"
	if c.Bool("match") {
		how = "--match"
	}
	command := "git agent-turn purge " + how
	if p.Theirs {
		command += " --rewrite-mine"
	}
	err := fmt.Errorf("nothing was changed: it stands %s; if it is purged, it is cut out of all that is recorded from then on, here and in every clone that takes the purge over", text)
	if len(plan.Common.Head) > 0 {
		err = fmt.Errorf("%w, and commits of yours keep it unless --rewrite-mine rewrites them", err)
	}
	return cmdline.Hint(err, "if that is what you want: "+command+" --common")
}

// completePurge is purge without a target: it completes a killed one.
func completePurge(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	if !purge.Unfinished(w.Store) {
		return needTarget()
	}
	return finishPurge(c, w)
}

func needTarget() error {
	return cmdline.Usagef("purge needs --fixed, --match, --turn <turn>, --path <pathspec> or --mission <id>")
}

// finishPurge completes a killed purge, and removes what killed fetches and pages
// left.
func finishPurge(c *cli.Context, w *workspace.Workspace) error {
	done, err := fetcher.CompletePurge(c.Context, w)
	if err != nil || done == nil {
		return begun(w, err)
	}
	fmt.Fprintln(c.App.ErrWriter, "a purge that was killed is complete now")
	return sayPurged(c, w, done)
}

// begun adds how to complete a purge that a full disk or a git gc stopped.
func begun(w *workspace.Workspace, err error) error {
	switch {
	case errors.Is(err, objectpurge.ErrCollecting):
		return cmdline.Hint(err, "when it has ended, complete the purge: git agent-turn purge")
	case err != nil && purge.Unfinished(w.Store):
		return cmdline.Hint(err, "when that is mended, complete the purge: git agent-turn purge")
	}
	return err
}

// purged returns the command line's target. The secret itself is read.
func purged(c *cli.Context, w *workspace.Workspace) (t purgerewrite.Target, err error) {
	for _, name := range c.StringSlice("mission") {
		id, err := command.Named(c.Context, w.Repo, name)
		if err != nil {
			return t, err
		}
		t.Missions = append(t.Missions, id)
	}
	for _, name := range c.StringSlice("turn") {
		state, err := command.State(c.Context, w, "", name, c.App.ErrWriter)
		if err != nil {
			return t, err
		}
		if state.Turn == nil || !state.Ended() {
			return t, cmdline.Usagef("purge --turn takes a turn, and %q is %s", name, state.Describe())
		}
		t.Turns = append(t.Turns, turnOf(state))
	}
	if specs := c.StringSlice("path"); len(specs) > 0 {
		if t.Paths.Specs = specs; w.Repo.Top != "" {
			if t.Paths.Dir, err = here(w.Repo); err != nil {
				return t, err
			}
		}
	}
	switch {
	case c.Bool("fixed"):
		t.Finder, err = finder(c, "The text, which is not shown:", scrub.Fixed)
	case c.Bool("match"):
		t.Finder, err = finder(c, "The pattern, which is not shown:", pattern)
	}
	return t, err
}

func turnOf(s *turns.State) record.TurnID {
	return record.TurnID{Mission: s.Turn.Mission, Turn: s.Turn.Turn}
}

// here returns the current directory relative to the top of the worktree.
func here(repo *git.Repo) (string, error) {
	wd, err := os.Getwd()
	if err == nil {
		wd, err = filepath.EvalSymlinks(wd)
	}
	top, e := filepath.EvalSymlinks(repo.Top)
	if err = cmp.Or(err, e); err != nil {
		return "", err
	}
	dir, err := filepath.Rel(top, wd)
	if dir == "." {
		dir = ""
	}
	return filepath.ToSlash(dir), err
}

// finder reads what to look for. An error must not quote it.
func finder(c *cli.Context, question string, f func([]byte) (*scrub.Finder, error)) (*scrub.Finder, error) {
	text, err := cmdline.Secret(c.Context, question)
	if err != nil {
		return nil, err
	}
	found, err := f(text)
	if err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	return found, nil
}

func pattern(text []byte) (*scrub.Finder, error) { return scrub.Match(string(text)) }
