package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/erase"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/purge"
	"gitagent/internal/remote"
	"gitagent/internal/secret"
	"gitagent/internal/target"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func purgeCommand() *cli.Command {
	return &cli.Command{
		Name:  "purge",
		Usage: "take a secret, turns, files or missions out of all that was recorded, for good",
		UsageText: "git agent-turn purge (--fixed | --match | --turn <turn> | --path <pathspec> | --mission <id>)... [--rewrite-mine] [--dry-run | --yes]\n" +
			"git agent-turn purge --push [--yes]",
		Description: "The text or pattern is asked for on the terminal, where it is not shown, or read from standard input: never name it on the command line. " +
			"Says where it was found and what stays; then asks, and without a terminal does nothing unless --yes is given. " +
			"It can't be undone. The exit status is 1 if it stays in something of yours.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fixed", Usage: "a text, in all its spellings; read from the terminal or standard input"},
			&cli.BoolFlag{Name: "match", Usage: "what a pattern matches, in Go's syntax; read like that"},
			cmdline.Repeated(&cli.StringSliceFlag{Name: "turn", Usage: "all that was said and done in a `<turn>`"}),
			cmdline.Repeated(&cli.StringSliceFlag{Name: "path", Usage: "the files that a `<pathspec>` names, in all turns"}),
			cmdline.Repeated(&cli.StringSliceFlag{Name: "mission", Usage: "the mission `<id>`, with everything"}),
			&cli.BoolFlag{Name: "rewrite-mine", Usage: "also write commits of yours on branches anew, which hold it or come after what does"},
			&cli.BoolFlag{Name: "push", Usage: "purge nothing more here: replace at the remotes what was purged"},
			target.DryRunFlag(),
			&cli.BoolFlag{Name: "yes", Usage: "don't ask"},
		},
		Action: cmdline.NoArgs(purgeAll),
	}
}

func purgeAll(c *cli.Context) error {
	if c.Bool("fixed") && c.Bool("match") {
		return cmdline.Usagef("purge takes one of --fixed and --match")
	}
	if !slices.ContainsFunc([]string{"fixed", "match", "turn", "path", "mission"}, c.IsSet) {
		if c.Bool("push") {
			return pushPurges(c)
		}
		return completePurge(c)
	}
	if c.Bool("push") {
		return cmdline.Usagef("purge --push takes nothing to purge: a purge asks about remotes by itself")
	}
	w, err := target.Workspace(c.Context)
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
	if err != nil {
		return target.Missing(err)
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
	case !cmdline.CanAsk():
		return cmdline.Hint(fmt.Errorf("nothing was changed: %s", cmdline.Unasked()), "to purge without a question, add --yes")
	default:
		if plan, err = askPurge(c, p, plan); err != nil {
			return err
		}
	}
	done, err := plan.Do(c.Context)
	if err != nil {
		return collecting(err)
	}
	return errors.Join(sayPurged(c, done), replaceAtRemotes(c, w))
}

// pushPurges is the command purge --push.
func pushPurges(c *cli.Context) error {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	if err := finishPurge(c, w); err != nil {
		return err
	}
	return replaceAtRemotes(c, w)
}

// replaceAtRemotes replaces what the remotes have that missions are sent to, after a question for each.
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
				return errors.Join(append(problems, cmdline.Hint(fmt.Errorf("nothing was changed at %s: %s", r.Name, cmdline.Unasked()), "to replace it without a question: git agent-turn purge --push --yes"))...)
			}
			answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Replace what %s has, too?", r.Name), "yes", "no")
			if err != nil || answer != "yes" {
				problems = append(problems, err, cmdline.Hint(fmt.Errorf("it stays at %s", r.Name), "to replace it later: git agent-turn purge --push"))
				continue
			}
		}
		problems = append(problems, replaceAt(c, r))
	}
	return errors.Join(problems...)
}

// replaceAt replaces what one remote has, and says what can't be.
func replaceAt(c *cli.Context, r *remote.Remote) error {
	done, err := r.PushPurges(c.Context)
	if done == nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "at %s: %s replaced\n", cmdline.Escape(r.Name), cmdline.Plural(len(done.Refs), "ref"))
	for _, branch := range done.Branches {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-turn: warning: %s refuses to change %s, which leads to it: delete it there\n", cmdline.Escape(r.Name), cmdline.Escape(branch))
	}
	if len(done.Refs) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "%s keeps what no ref leads to until it collects garbage, and gives it to whoever knows a hash: "+
			"ask its host to; other clones have it until they fetch\n", cmdline.Escape(r.Name))
	}
	return err
}

// askPurge asks whether to purge, and what becomes of commits that are in the way.
func askPurge(c *cli.Context, p *purge.Purge, plan *purge.Plan) (*purge.Plan, error) {
	if n := len(plan.Commits); n > 0 && !p.Theirs {
		question := fmt.Sprintf("Write %s of yours anew as well? Their hashes change, and signatures go.", cmdline.Plural(n, "commit"))
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
	answer, err := cmdline.Ask(c.Context, "Purge? This can't be undone.", "yes", "no")
	if err == nil && answer != "yes" {
		err = errors.New("nothing was changed")
	}
	return plan, err
}

// completePurge is what a call without a target does: it completes a purge that was killed.
func completePurge(c *cli.Context) error {
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	if !purge.Unfinished(w.Store) {
		return cmdline.Usagef("purge needs --fixed, --match, --turn <turn>, --path <pathspec> or --mission <id>")
	}
	return finishPurge(c, w)
}

// finishPurge completes a purge that was killed, if there is one, and removes what killed fetches have left.
func finishPurge(c *cli.Context, w *workspace.Workspace) error {
	// What a killed fetch has left is nobody's, and can have what is purged.
	if _, err := remote.DropLanded(c.Context, w, false); err != nil {
		return err
	}
	done, err := purge.Complete(c.Context, w)
	if err != nil || done == nil {
		return collecting(err)
	}
	fmt.Fprintln(c.App.ErrWriter, "a purge that was killed is complete now")
	return sayPurged(c, done)
}

// collecting says what to do about a git gc that may copy what is erased.
func collecting(err error) error {
	if errors.Is(err, erase.ErrCollecting) {
		return cmdline.Hint(err, "when it has ended, complete the purge: git agent-turn purge")
	}
	return err
}

// purged is what the command line names. The secret itself is read.
func purged(c *cli.Context, w *workspace.Workspace) (t purge.Target, err error) {
	for _, name := range c.StringSlice("mission") {
		id, err := target.Named(c.Context, w.Repo, name)
		if err != nil {
			return t, err
		}
		t.Missions = append(t.Missions, id)
	}
	for _, name := range c.StringSlice("turn") {
		state, err := target.State(c.Context, w, "", name, c.App.ErrWriter)
		if err != nil {
			return t, err
		}
		if state.Turn == nil || state.Saved {
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
		t.Finder, err = finder(c, "The text, which is not shown:", secret.Fixed)
	case c.Bool("match"):
		t.Finder, err = finder(c, "The pattern, which is not shown:", pattern)
	}
	return t, err
}

func turnOf(s *turns.State) ledger.TurnID {
	return ledger.TurnID{Mission: s.Turn.Mission, Turn: s.Turn.Turn}
}

// here is the current directory, from the top of the worktree.
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
func finder(c *cli.Context, question string, f func([]byte) (*secret.Finder, error)) (*secret.Finder, error) {
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

func pattern(text []byte) (*secret.Finder, error) { return secret.Match(string(text)) }

// sayPlan prints what a purge would do, and what it can't.
func sayPlan(c *cli.Context, w *workspace.Workspace, p *purge.Plan) error {
	out := c.App.Writer
	columns := cmdline.Columns(out)
	say := func(label, format string, args ...any) {
		fmt.Fprintln(out, cmdline.Hang(fmt.Sprintf("%-10s", label), cmdline.OneLine(fmt.Sprintf(format, args...)), columns))
	}
	for _, line := range foundIn(p.Found) {
		say("found", "%s", line)
	}
	for _, id := range p.Target.Missions {
		say("goes", "mission %s, with all that no other one needs", id)
	}
	if p.Objects > 0 {
		say("goes", "%s, by what holds it and leads to that", cmdline.Plural(p.Objects, "object"))
	}
	for _, file := range p.Files {
		say("goes", "from %s", file)
	}
	for _, commit := range p.Commits {
		say("yours", "%s", describe(commit))
	}
	for _, s := range p.Stays {
		say("stays", "in %s", root(s.Root))
	}
	for _, file := range p.Worktree {
		say("worktree", "%s has it, and stays as it is: take it out there", file)
	}
	for _, file := range p.Clients {
		say("client", "%s has it, and stays as it is: delete it if you don't need the conversation", file)
	}
	if p.Trust.Keys().Own == nil {
		say("key", "there is none, so other clones don't learn of this: they keep what goes, and may send it again; see: git agent-turn doctor")
	}
	if err := sayRemotes(c, w, say); err != nil {
		return err
	}
	if p.Target.Finder != nil {
		say("rotate", "whatever it opens: who has fetched it, or read it at a host, has it")
	}
	return nil
}

// sayBeside prints what is of no concern to a purge that has nothing to do.
func sayBeside(c *cli.Context, p *purge.Plan) {
	for _, file := range slices.Concat(p.Worktree, p.Clients) {
		fmt.Fprintf(c.App.ErrWriter, "it is in %s, which stays as it is\n", cmdline.Escape(file))
	}
}

// sayRemotes names the remotes that missions may have been sent to.
func sayRemotes(c *cli.Context, w *workspace.Workspace, say func(label, format string, args ...any)) error {
	conf, err := w.Repo.Config(c.Context)
	if err != nil {
		return err
	}
	remotes, err := remote.Consenting(c.Context, w, conf)
	for _, r := range remotes {
		say("remote", "%s was sent missions: you are asked whether to replace what it has; clones of it have it until they fetch", r.Name)
	}
	return err
}

// foundIn are finds in lines: a mission and turn, with the kinds of text that had it.
func foundIn(found map[purge.Find]int) []string {
	type key struct {
		mission       ledger.ID
		turn, handoff int
		fate          purge.Fate
	}
	kinds := make(map[key]map[string]int)
	for f, n := range found {
		k := key{f.Mission, f.Turn, f.Handoff, f.Fate}
		if kinds[k] == nil {
			kinds[k] = make(map[string]int)
		}
		what := string(f.Kind)
		if f.Path != "" {
			what += " " + git.QuotePath(f.Path, false)
		}
		kinds[k][what] += n
	}
	keys := slices.SortedFunc(maps.Keys(kinds), func(a, b key) int {
		return cmp.Or(strings.Compare(string(a.mission), string(b.mission)), a.turn-b.turn, a.handoff-b.handoff, strings.Compare(string(a.fate), string(b.fate)))
	})
	var lines []string
	for _, k := range keys {
		line := "mission " + string(k.mission)
		if k.mission == "" {
			line = "no mission"
		}
		if k.turn > 0 {
			line += fmt.Sprintf(", turn %d", k.turn)
		}
		if k.handoff > 0 {
			line += fmt.Sprintf(", handoff %d", k.handoff)
		}
		if k.fate != purge.Redacted {
			line += ", " + string(k.fate)
		}
		lines = append(lines, line+": "+strings.Join(slices.Sorted(maps.Keys(kinds[k])), ", "))
	}
	return lines
}

// describe says what a commit of the user's has to do with it, and what he can do.
func describe(commit purge.Commit) string {
	branch := strings.TrimPrefix(commit.Branch, "refs/heads/")
	text := fmt.Sprintf("%.12s %q on %s", commit.Hash, commit.Line, branch)
	if len(commit.Paths) > 0 {
		text += " has it in " + strings.Join(commit.Paths, ", ")
	}
	if onto := commit.Onto; !onto[0].IsZero() && !onto[1].IsZero() {
		text += fmt.Sprintf("; it sits on a turn that is written anew; --rewrite-mine moves it, and so does: git rebase --onto %.12s %.12s %s", onto[1], onto[0], cmdline.Shell([]string{branch}))
	}
	return text
}

// root names something that keeps objects.
func root(r erase.Root) string {
	switch r.Kind {
	case erase.Log:
		return fmt.Sprintf("entry %d of the log of %s; drop it with: git reflog delete %s", r.Entry, r.Ref, cmdline.Shell([]string{fmt.Sprintf("%s@{%d}", r.Ref, r.Entry)}))
	case erase.Stash:
		return fmt.Sprintf("stash %d; drop it with: git stash drop %d", r.Entry, r.Entry)
	case erase.Index:
		return fmt.Sprintf("what is staged in %s; take it out with: git restore --staged <file>", r.Path)
	case erase.File:
		return r.Path
	}
	return r.Ref
}

// errStays reports that something of the user's keeps what was to go.
var errStays = errors.New("it stays in what is yours")

// staying is the error of a plan that can't take it out of everything.
func staying(p *purge.Plan) error {
	if n := len(p.Stays); n > 0 {
		return fmt.Errorf("%w: %s", errStays, cmdline.Plural(n, "place"))
	}
	return nil
}

// sayPurged prints what was done, and whether anything is left.
func sayPurged(c *cli.Context, done *purge.Result) error {
	out := c.App.Writer
	_, err := fmt.Fprintf(out, "purged: %s moved, %s erased, %s and %s written anew\n", cmdline.Plural(done.Refs, "ref"),
		cmdline.Plural(done.Erased.Objects, "object"), cmdline.Plural(done.Erased.Packs, "pack"), cmdline.Plural(done.Files, "file"))
	if err != nil {
		return err
	}
	left := len(done.Stays)
	for _, r := range done.Stays {
		fmt.Fprintln(out, "stays in "+cmdline.OneLine(root(r)))
	}
	for _, dir := range done.Erased.Elsewhere {
		left++
		fmt.Fprintf(out, "stays in %s, which this repository borrows from\n", cmdline.Escape(dir))
	}
	if s := done.Searched; s != nil {
		left = max(left, len(s.Found))
		fmt.Fprintf(out, "searched %s and %s: %s\n", cmdline.Plural(s.Objects, "object"), cmdline.Plural(s.Files, "file"), sayFound(out, s))
	}
	switch {
	case left == 0:
		return nil
	case len(done.Stays)+len(done.Erased.Elsewhere) == 0: // what is ours could not be read without it
		return errors.New("it is not out of everything")
	}
	return errStays
}

// sayFound prints what a search has found after a purge, and says it in a few words.
func sayFound(out io.Writer, s *erase.Searched) string {
	for _, f := range s.Found {
		what := cmdline.Escape(f.Path)
		if !f.Object.IsZero() {
			what = fmt.Sprintf("%s %s", f.Type, f.Object)
		}
		fmt.Fprintf(out, "stays in %s\n", what)
	}
	if n := len(s.Found); n > 0 {
		return fmt.Sprintf("it is in %d of them", n)
	}
	return "it is in none"
}
