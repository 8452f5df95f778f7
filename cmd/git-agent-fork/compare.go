package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare what forks of a turn have done, or any two states",
		UsageText: "git agent-fork compare [--check <command> [--jobs <n>]] [--json] [<fork>... | <turn> | <state> <state>...]",
		Description: "With one name, the forks of that turn or mission are compared, or the fork and its siblings. " +
			"Without one, choose some in the finder.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "check", Usage: "run the shell's `<command>` in each worktree, and show how it ends"},
			&cli.IntFlag{Name: "jobs", Usage: "run `<n>` checks at once", Value: 1},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		BashComplete: completeCompared,
		Action:       alone(compare),
	}
}

func completeCompared(c *cli.Context) {
	if cmdline.Typed(c.Context) == "" { // with a prefix they are among the missions
		command.CompleteForks(c)
	}
	command.CompleteTurns(c)
}

func compare(c *cli.Context) error {
	switch {
	case c.IsSet("jobs") && !c.IsSet("check"):
		return cmdline.Usagef("--jobs is for --check")
	case c.Int("jobs") < 1:
		return cmdline.Usagef("--jobs takes 1 or more, not %d", c.Int("jobs"))
	case c.IsSet("check") && c.String("check") == "":
		return cmdline.Usagef("--check needs a command")
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	t := &comparing{c: c, w: w, now: time.Now()}
	chosen, err := t.choose()
	if err != nil {
		return err
	}
	if err := t.read(chosen); err != nil {
		return err
	}
	if t.dates, err = command.Dates(c, w); err != nil {
		return err
	}
	if c.IsSet("check") {
		err = t.check()
	}
	if err != nil { // it was interrupted, as a pager would be
		return errors.Join(t.print(c), err)
	}
	return command.Paged(t.print)(c)
}

type comparing struct {
	c     *cli.Context
	w     *workspace.Workspace
	now   time.Time
	dates cmdline.Dates

	forks  []*compared
	pairs  []pair
	unread ledger.ReadErrors
}

// A compared is a fork, and what is known of it here.
type compared struct {
	*turns.Compared
	name    string // as it is shown
	state   turns.Activity
	there   *git.Repo // its worktree here, or nil
	changed bool      // the worktree has unrecorded changes
	check   *checked  // nil without --check
}

// A choice is a named fork: up to a state, or if nil until now.
type choice struct {
	id   record.ID
	upTo *turns.State
}

// A pair is the difference between two forks.
type pair struct {
	a, b *compared
	turns.Difference
}

// With more forks than maxPaired, each is only compared with where it began. At
// most maxForks of a turn are looked at: anyone who can push can make
// thousands.
const (
	maxPaired = 8
	maxForks  = 64
)

// choose returns what the command line names, or a person chooses.
func (t *comparing) choose() ([]choice, error) {
	var chosen []choice
	add := func(id record.ID, s *turns.State) {
		same := func(f choice) bool {
			return f.id == id && (f.upTo == nil) == (s == nil) && (s == nil || f.upTo.String() == s.String())
		}
		if !slices.ContainsFunc(chosen, same) {
			chosen = append(chosen, choice{id, s})
		}
	}
	switch t.c.NArg() {
	case 0:
		ids, err := newFinder(t.w.Repo, "compare", true).several(t.c.Context, ofForks(t.w))
		if errors.Is(err, errEmpty) {
			err = cmdline.NotFoundf("there is no fork with a turn")
		}
		for _, id := range ids {
			add(id, nil)
		}
		return chosen, err
	case 1:
		return t.family(t.c.Args().First())
	}
	for _, name := range t.c.Args().Slice() {
		id, s, err := t.named(name)
		if err != nil {
			return nil, err
		}
		add(id, s)
	}
	return chosen, nil
}

// named returns the mission or state that a name means.
func (t *comparing) named(name string) (record.ID, *turns.State, error) {
	id, err := turns.MissionNamed(t.c.Context, t.w, name)
	if id != "" || err != nil {
		return id, nil, err
	}
	s, err := command.State(t.c.Context, t.w, "", name, t.c.App.ErrWriter)
	if err != nil {
		return "", nil, err
	}
	return s.In, s, nil
}

// family returns the forks that one name means: those of a turn or of a mission
// or, if that is a fork itself, it and its siblings.
func (t *comparing) family(name string) ([]choice, error) {
	id, s, err := t.named(name)
	if err != nil {
		return nil, err
	}
	var forks []turns.MissionLine
	what := "mission " + string(id)
	if s != nil {
		if what = s.Describe(); s.Turn != nil {
			forks, err = t.forksOf(s.Turn.ID(), "")
		}
	} else if forks, err = t.siblings(id); err == nil && len(forks) < 2 {
		var own []turns.MissionLine
		if own, err = t.forksOf(record.TurnID{Mission: id}, ""); len(own) > 0 {
			forks = own
		}
	}
	if err != nil {
		return nil, err
	}
	if len(forks) == 0 {
		return nil, cmdline.Hintf(cmdline.NotFoundf("%s has no fork", what), "make one with: git agent-fork %s", cmdline.Shell([]string{name}))
	}
	if len(forks) > maxForks {
		fmt.Fprintf(t.c.App.ErrWriter, "%s has %d forks, of which %d are compared; name others to compare those\n", what, len(forks), maxForks)
		forks = t.foremost(forks, id)
	}
	var chosen []choice
	for _, m := range forks {
		chosen = append(chosen, choice{id: m.ID})
	}
	return chosen, nil
}

// foremost selects among too many forks: the named one, those recorded by
// trusted keys, and then the others, which may claim to be the oldest.
func (t *comparing) foremost(forks []turns.MissionLine, named record.ID) []turns.MissionLine {
	objects := t.w.Repo.Objects(t.c.Context)
	defer objects.Close()
	last := make(map[record.ID]int)
	for _, l := range forks {
		if l.ID == named {
			continue
		}
		last[l.ID] = 1
		if s, err := t.w.TrustLevel(t.c.Context, objects, l.ID, l.Tip); err != nil || s.By == trust.Unknown {
			last[l.ID] = 2
		}
	}
	slices.SortStableFunc(forks, func(a, b turns.MissionLine) int { return cmp.Compare(last[a.ID], last[b.ID]) })
	forks = forks[:maxForks]
	slices.SortFunc(forks, turns.MissionLine.ByBirth)
	return forks
}

// siblings returns a fork and its turn's other forks; nothing if it is no fork.
func (t *comparing) siblings(id record.ID) ([]turns.MissionLine, error) {
	objects := t.w.Repo.Objects(t.c.Context)
	defer objects.Close()
	l, err := ledger.Open(t.c.Context, t.w.Repo, objects, id)
	if err != nil {
		return nil, err
	}
	p, err := turns.PointOf(l.Mission)
	if err != nil {
		return nil, nil
	}
	return t.forksOf(p.Of, id)
}

// forksOf is [turns.Forks], but only warns of unreadable missions.
func (t *comparing) forksOf(of record.TurnID, named record.ID) ([]turns.MissionLine, error) {
	forks, err := turns.Forks(t.c.Context, t.w.Repo, of, named)
	if errors.As(err, new(*ledger.UnreadError)) {
		cmdline.Warn(command.Damaged(err))
		err = nil
	}
	return forks, err
}

// read reads what the forks have done. One unreadable among others is noted.
func (t *comparing) read(chosen []choice) error {
	live, err := command.Live(t.c.Context, t.w, t.now)
	if err != nil {
		return err
	}
	worktrees, err := t.w.Repo.Worktrees(t.c.Context)
	if err != nil {
		return err
	}
	for _, f := range chosen {
		done, err := turns.Compare(t.c.Context, t.w, f.id, f.upTo)
		switch {
		case errors.Is(err, turns.ErrNoFork) && f.upTo != nil && f.upTo.Turn != nil:
			return cmdline.Hintf(err, "name it as a turn of its own mission: %s", f.upTo.Turn.ID())
		case errors.Is(err, turns.ErrNoFork), errors.Is(err, git.ErrNotFound), t.c.Context.Err() != nil:
			return command.Missing(err)
		case err != nil:
			t.unread.Add(err)
			continue
		}
		t.unread.Add(done.Unread)
		fork := &compared{Compared: done, name: nameOf(f), state: turns.ActivityOf(f.id, live)}
		t.forks = append(t.forks, fork)
		if err := t.visit(fork, worktrees); err != nil {
			t.unread.Add(fmt.Errorf("look at the worktree of mission %s: %w", f.id, err))
		}
	}
	if len(t.forks) == 0 {
		return t.unread.Err()
	}
	if len(t.forks) > maxPaired {
		return nil
	}
	for i, a := range t.forks {
		for _, b := range t.forks[i+1:] {
			t.pairs = append(t.pairs, pair{a, b, a.Against(t.c.Context, t.w.Repo, b.Compared)})
		}
	}
	return t.c.Context.Err()
}

func nameOf(f choice) string {
	if f.upTo != nil {
		return f.upTo.String()
	}
	return string(f.id)
}

func (t *comparing) visit(f *compared, worktrees []git.Worktree) error {
	branch := t.w.Branch(f.Mission.ID) // its record may name any branch
	for _, at := range worktrees {
		if at.Branch != branch {
			continue
		}
		repo, err := git.Find(at.Path)
		if err != nil || repo.CommonDir != t.w.Repo.CommonDir {
			continue // its directory is gone
		}
		f.there = repo
		if f.Newest {
			f.changed, err = f.Unrecorded(t.c.Context, repo)
		}
		return err
	}
	return nil
}

// from returns where all the forks began, or nil if they differ.
func (t *comparing) from() *turns.ForkPoint {
	first := t.forks[0].Point
	for _, f := range t.forks {
		if f.Point != first {
			return nil
		}
	}
	return &first
}

func (t *comparing) print(c *cli.Context) error {
	to := c.App.Writer
	var err error
	if c.Bool("json") {
		err = cmdline.PrintJSON(to, t.json())
	} else {
		err = t.text(to)
	}
	return cmp.Or(err, t.unread.Err())
}
