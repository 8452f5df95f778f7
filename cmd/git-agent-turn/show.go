package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:  "show",
		Usage: "show a turn: prompt, reply, what it changed; its conversation; or a commit's turns",
		UsageText: "git agent-turn show [--patch | --conversation | --transcript | --steps | --json] [--full] [--agent <id>] [--trusted]\n" +
			"                    [-i | <turn> | <state> | <turn>..<turn> | <commit>]",
		Flags: []cli.Flag{
			command.MissionFlag(),
			command.ChooseFlag(),
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "and its diff"},
			&cli.BoolFlag{Name: "conversation", Usage: "only what was said and done, for reading"},
			&cli.BoolFlag{Name: "full", Usage: "without leaving out or folding anything"},
			&cli.BoolFlag{Name: "steps", Usage: "only the states that were seen within it, as 12.3 names them"},
			&cli.BoolFlag{Name: "transcript", Usage: "only its part of the conversation, as the client wrote it"},
			command.TrustedFlag(),
			&cli.StringFlag{Name: "agent", Usage: "with --transcript, that of the sub-agent `id` in its place"},
			command.JSONFlag(),
		},
		BashComplete: completeRanges,
		Action:       command.Paged(command.Choosing("show", cmdline.OptionalArg("turn", show))),
	}
}

func show(c *cli.Context) error {
	only := slices.DeleteFunc([]string{"patch", "conversation", "transcript", "steps", "json"}, func(name string) bool { return !c.Bool(name) })
	if c.Bool("full") && (c.Bool("transcript") || c.Bool("json")) {
		only = append(only, "full")
	}
	if len(only) > 1 {
		return cmdline.Usagef("--%s and --%s exclude each other", only[0], only[1])
	}
	if c.IsSet("agent") && !c.Bool("transcript") {
		return cmdline.Usagef("--agent goes with --transcript")
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	name := c.Args().First()
	switch commit, err := ofUser(c, w, name); {
	case err != nil:
		return err
	case !commit.IsZero():
		return showCommit(c, w, name, commit)
	}
	from, to, isRange, err := command.Range(c.Context, w, c.String("mission"), name, c.App.ErrWriter)
	if err != nil {
		return err
	}
	if c.Bool("trusted") {
		if err := command.Trusted(c.Context, w, to.In); err != nil {
			return err
		}
	}
	s, err := newShower(c, w)
	if err != nil {
		return err
	}
	isTurn, raw := to.Ended(), c.Bool("json") || c.Bool("transcript")
	switch {
	case isRange && from.In != to.In:
		return cmdline.Usagef("%q names turns of two missions", name)
	case isRange && c.Bool("steps"):
		return cmdline.Usagef("--steps is about a turn, and %q is several", name)
	case isRange:
		return s.several(name, from, to, raw)
	case isTurn && c.Bool("conversation"):
		return command.PrintConversation(c, w, to.In, []int{to.Turn.Turn}, c.Bool("full"))
	case isTurn && c.Bool("steps"):
		return s.steps(to.Turn)
	case isTurn && raw:
		return s.raw(to.Turn)
	case isTurn:
		return s.turn(to.Turn)
	case raw, c.Bool("conversation"), c.Bool("steps"):
		return cmdline.Usagef("--%s is about a turn, and %q is %s", only[0], name, to.Describe())
	}
	return s.state(to)
}

type shower struct {
	c     *cli.Context
	w     *workspace.Workspace
	out   io.Writer
	dates cmdline.Dates
	now   time.Time
	roll  *turns.Writers
}

func newShower(c *cli.Context, w *workspace.Workspace) (*shower, error) {
	dates, err := command.Dates(c, w)
	return &shower{c: c, w: w, out: c.App.Writer, dates: dates, now: time.Now(), roll: &turns.Writers{Workspace: w}}, err
}

// several prints the turns of a range, the oldest first, with raw as stored.
func (s *shower) several(name string, from, to *turns.State, raw bool) error {
	numbers, unread := turns.Between(s.c.Context, s.w.Repo, from, to)
	if len(numbers) == 0 {
		return cmp.Or(unread, cmdline.NotFoundf("no turn in %s", name))
	}
	if s.c.Bool("conversation") {
		return cmp.Or(command.PrintConversation(s.c, s.w, to.In, numbers, s.c.Bool("full")), unread)
	}
	one, printed := s.raw, false
	if id := s.c.String("agent"); id != "" {
		one = func(t *turns.Turn) error {
			if _, err := t.Side(id); err != nil {
				return nil // it did not run in this turn
			}
			return s.raw(t)
		}
	}
	if !raw {
		one = func(t *turns.Turn) error {
			if printed {
				if _, err := fmt.Fprintln(s.out); err != nil {
					return err
				}
			}
			printed = true
			return s.brief(t)
		}
	}
	return cmp.Or(turns.EachOf(s.c.Context, s.w.Repo, to.In, numbers, one), unread)
}

// raw prints a turn's part of the client's file, or its record.
func (s *shower) raw(t *turns.Turn) error {
	if s.c.Bool("transcript") {
		w, of, err := command.WithConversation(s.c.Context, s.roll, t)
		if err != nil {
			return err
		}
		return cmdline.Print(s.out, func(to io.Writer) error {
			if id := s.c.String("agent"); id != "" {
				return turns.WriteSubagent(s.c.Context, w.Repo, of, id, to)
			}
			return turns.WriteTranscript(s.c.Context, w.Repo, of, to)
		})
	}
	by, err := s.roll.By(s.c.Context, t)
	if err != nil {
		return err
	}
	return cmdline.PrintLine(s.out, t, by)
}

// shownPrompt is how many lines of a prompt a terminal gets, to show the reply,
// too.
const shownPrompt = 10

// words returns a turn's prompt and reply and, if its conversation is in another
// repository, where, or why that is out of reach.
func (s *shower) words(t *turns.Turn) (prompt, reply, conversation string) {
	if t.Away() {
		h, err := command.Home(s.c.Context, s.roll, t)
		if err == nil {
			prompt, reply = turns.Words(s.c.Context, h.Repo, h.Turn)
			return prompt, reply, h.String()
		}
		conversation = cmdline.OneLine(err.Error())
	}
	prompt, reply = turns.Words(s.c.Context, s.w.Repo, t)
	return prompt, reply, conversation
}

// turn prints all that is known of one turn.
func (s *shower) turn(t *turns.Turn) error {
	by, err := s.roll.By(s.c.Context, t)
	if err != nil {
		return err
	}
	prompt, reply, conversation := s.words(t)
	widest := "Transcript:"
	if conversation != "" {
		widest = "Conversation:"
	}
	visits, err := command.Visits(s.c.Context, s.roll, t)
	if err != nil {
		cmdline.Warn(fmt.Errorf("see where else turn %s is recorded: %w", t.After(), err))
	}
	most := shownPrompt
	if s.c.Bool("full") {
		most = 0
	}
	r := cmdline.NewRecord(s.out, "turn "+t.After().String(), len(widest))
	r.Line(s.summary(t))
	r.Beginning("Prompt", prompt, most, "--full")
	r.Text("Reply", reply)
	r.Line("")
	r.Field("Outcome", string(t.Outcome))
	r.Field("Checks", cmdline.OneLine(t.ChecksText()))
	if t.Unproven {
		r.Field("Reply", turns.UnprovenText)
	}
	r.Field("Date", s.dates.Long(s.now, t.At))
	if !t.Started.IsZero() && t.At.After(t.Started) {
		r.Field("Took", t.At.Sub(t.Started).Round(time.Second).String())
	}
	r.Field("By", by)
	r.Field("Agent", strings.TrimSpace(t.Agent+" "+t.Model))
	r.Field("Session", t.Session)
	r.Field("Commit", t.Code.String())
	r.Field("Base", turns.BaseOf(t))
	r.Field("Imported", t.Proof())
	for _, who := range turns.Company(s.w, t.Change().With) {
		r.Field("Beside", who)
	}
	if own := t.Own; own.Holds(t.Code) && len(own.Kept) > 0 {
		last := fmt.Sprintf("%s.%d", t.After(), own.Kept[len(own.Kept)-1])
		r.Field("Gone", fmt.Sprintf("work of %s is not at its end; see all: git agent-turn show --steps %s; bring the last back: git agent-turn restore %s",
			cmdline.Plural(len(own.Kept), "step"), t.After(), last))
	}
	r.Field("Branch", t.Branch)
	r.Field("Tools", cmdline.Tally(t.Tools))
	if t.Context > 0 {
		r.Field("Context", fmt.Sprintf("%d tokens, %d written", t.Context, t.Output))
	}
	r.Field("Tokens", tokensText(t.Tokens))
	var ran []string
	for _, a := range t.Agents {
		ran = append(ran, strings.TrimPrefix(turns.SideLine(a), "sub-agent "))
	}
	for _, a := range cmdline.List(ran) {
		r.Field("Sub-agent", a)
	}
	if t.AgentsLeft > 0 {
		r.Field("Sub-agents", fmt.Sprintf("%d more left out", t.AgentsLeft))
	}
	var worked []string
	for _, w := range t.Worktrees {
		worked = append(worked, fmt.Sprintf("%s; see it: git agent-turn diff %s:%s", turns.WorktreeLine(w), t.After(), w.Name))
	}
	for _, w := range cmdline.List(worked) {
		r.Field("Worktree", w)
	}
	if t.Compactions > 0 {
		r.Field("Compacted", cmdline.Plural(t.Compactions, "time"))
	}
	r.Field("Conversation", conversation)
	for _, v := range visits {
		r.Field("Also", v.String())
	}
	if t.Transcript != nil && t.Transcript.Missing != "" {
		r.Field("Transcript", "not stored: "+t.Transcript.Missing)
	}
	var skipped []string
	for _, s := range t.Skipped {
		skipped = append(skipped, s.Path+" ("+s.Why+")")
	}
	for _, s := range cmdline.List(skipped) {
		r.Field("Left out", s)
	}
	if err := r.Flush(); err != nil {
		return err
	}
	return s.own(t)
}

// own prints what a turn changed itself, and what may be its change.
func (s *shower) own(t *turns.Turn) error {
	own := t.Change()
	if err := s.changes("Changed", own.Sure, own.To); err != nil || !own.Unsure() {
		return err
	}
	return s.changes("? Perhaps changed by this turn, perhaps by others", own.From, own.Sure)
}

func (s *shower) brief(t *turns.Turn) error {
	r := cmdline.NewRecord(s.out, "turn "+t.After().String(), 0)
	r.Line(strings.Join(append([]string{s.summary(t)}, checkedOf(t)...), "; "))
	r.Quote("> ", t.Prompt, shownBriefly)
	r.Quote("  ", t.Reply, shownBriefly)
	own := t.Change()
	if err := r.Flush(); err != nil || !s.c.Bool("patch") || own.Sure == own.To {
		return err
	}
	if _, err := fmt.Fprintln(s.out); err != nil {
		return err
	}
	return diffTrees(s.c, s.w.Repo, own.Sure, own.To, []string{"--patch"})
}

// shownBriefly is how many lines of each prompt and reply several turns get.
const shownBriefly = 3

func (s *shower) summary(t *turns.Turn) string {
	text := string(t.Outcome) + " " + s.dates.Ago(s.now, t.At)
	own := t.Change()
	if own.Files == 0 {
		text += ", no file changed"
	} else {
		text += fmt.Sprintf(", %s +%d -%d: %s", cmdline.Plural(own.Files, "file"), own.Insertions, own.Deletions, strings.Join(own.Paths, ", "))
	}
	if more := own.Files - len(own.Paths); more > 0 && len(own.Paths) > 0 {
		text += fmt.Sprintf(", %d more", more)
	}
	if !own.Alone() {
		text += "; others worked here, too"
	}
	return text
}

// state prints a state other than a turn's end, with its changes since one.
func (s *shower) state(state *turns.State) error {
	before := state.Turn
	title, what := "state "+state.String(), "Changed since the end of turn"
	if state.Step > 0 {
		return s.step(state)
	}
	if state.Worktree != "" {
		title, what = state.Describe(), "Differs from the end of turn"
	} else if state.Start {
		var err error
		if before, err = turns.Previous(s.c.Context, s.w.Repo, state.Turn); err != nil {
			return err
		}
		title, what = state.Describe(), "Changed by others since the end of turn"
	}
	r := cmdline.NewRecord(s.out, title, len("Mission:"))
	if state.Saved {
		r.Field("Event", state.Why)
	} else {
		r.Field("Prompt", state.Turn.Prompt)
	}
	r.Field("Date", s.dates.Long(s.now, state.At))
	r.Field("Mission", string(state.In))
	r.Field("Commit", state.Commit.String())
	if before != nil {
		r.Field("After", "turn "+before.After().String())
	}
	if err := r.Flush(); err != nil || before == nil {
		return err
	}
	if before.Code == state.Commit {
		_, err := fmt.Fprintf(s.out, "\nNothing changed since the end of turn %s\n", before.After())
		return err
	}
	return s.changes(what+" "+before.After().String(), before.Code, state.Commit)
}

// step prints a state within a turn, with its changes since the turn's start.
func (s *shower) step(state *turns.State) error {
	r := cmdline.NewRecord(s.out, state.Describe(), len("Mission:"))
	r.Field("Prompt", state.Turn.Prompt)
	r.Field("Date", s.dates.Long(s.now, state.At))
	r.Field("Mission", string(state.In))
	r.Field("Commit", state.Commit.String())
	if err := r.Flush(); err != nil {
		return err
	}
	return s.changes("Changed since the start of the turn, by all who worked here", state.Turn.Before().Commit, state.Commit)
}

const shownFiles = 20

// changes prints which files differ between commits, and with --patch how.
func (s *shower) changes(heading string, from, to object.Hash) error {
	if from == to {
		return nil
	}
	files, err := gitdiff.Shown(s.c.Context, s.w.Repo, from, to)
	if err != nil || len(files) == 0 {
		return err
	}
	insertions, deletions := 0, 0
	for _, f := range files {
		insertions, deletions = insertions+f.Insertions, deletions+f.Deletions
	}
	if _, err := fmt.Fprintf(s.out, "\n%s: %s +%d -%d\n", heading, cmdline.Plural(len(files), "file"), insertions, deletions); err != nil {
		return err
	}
	table := cmdline.NewTable(
		cmdline.Column{},
		cmdline.Column{Right: true, Style: cmdline.Green},
		cmdline.Column{Right: true, Style: cmdline.Red},
		cmdline.Column{},
	)
	for _, f := range files[:min(len(files), shownFiles)] {
		if f.Binary {
			table.Row("", "bin", "", f.Path)
		} else {
			table.Row("", fmt.Sprintf("+%d", f.Insertions), fmt.Sprintf("-%d", f.Deletions), f.Path)
		}
	}
	if err := table.Print(s.out); err != nil {
		return err
	}
	if more := len(files) - shownFiles; more > 0 {
		if _, err := fmt.Fprintf(s.out, "  ... and %s\n", cmdline.Plural(more, "more file")); err != nil {
			return err
		}
	}
	if !s.c.Bool("patch") {
		return nil
	}
	if _, err := fmt.Fprintln(s.out); err != nil {
		return err
	}
	return diffTrees(s.c, s.w.Repo, from, to, []string{"--patch"})
}
