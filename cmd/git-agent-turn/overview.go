package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/session"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A brief is the overview of a repository.
type brief struct {
	situation command.Situation
	mission   *record.Mission   // that commands work on, or nil
	first     bool              // its first turn runs, and nothing is recorded yet
	last      *turns.Turn       // of the mission, or nil
	by        string            // its recorder
	left      *leftToReview     // of the mission; nil if nothing is
	running   []turns.Live      // in any mission and worktree, the newest first
	company   []turns.Live      // the sessions in this worktree, if there are two
	tops      map[string]string // of their worktrees, by git directory
	handoff   *handoffstore.Handoff
	waiting   record.ID // mission of an untrusted handoff that has to be accepted, or empty
	found     []finding // problems that are cheap to find
}

// overview is the action of the program without a command.
func overview(c *cli.Context) error {
	if c.NArg() > 0 {
		return cmdline.Hint(cmdline.Usagef("unknown command %q", c.Args().First()), "list the commands with: "+c.App.HelpName+" -h")
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	defer w.NoteSeen()
	now := time.Now()
	b, err := read(c.Context, w, now)
	if err != nil {
		return err
	}
	dates, err := command.Dates(c, w)
	if err != nil {
		return err
	}
	to := c.App.Writer
	columns, colour := cmdline.Columns(to), cmdline.Colour(to)
	var text strings.Builder
	for _, f := range slices.Concat(b.facts(w.Repo, now, dates), b.found) {
		if f.Level == fine && columns > 0 { // one line each
			f.Text = cmdline.Truncate(cmdline.OneLine(f.Text), columns-labelWidth)
		}
		text.WriteString(f.lines(columns, colour, dates))
	}
	text.WriteString("\n")
	if _, err := io.WriteString(to, text.String()); err != nil {
		return err
	}
	return printSteps(to, b.next())
}

func read(ctx context.Context, w *workspace.Workspace, now time.Time) (b brief, err error) {
	if b.situation, err = command.Look(ctx, w); err != nil {
		return b, err
	}
	registry, err := agent.Running(os.Getenv)
	if err != nil {
		return b, err
	}
	live, err := turns.LiveSessions(ctx, w, registry, now)
	if err != nil {
		b.found = append(b.found, finding{Level: problem, What: "running", Text: err.Error()})
	}
	b.tops = topsOf(ctx, w.Repo, live)
	b.company = slices.DeleteFunc(slices.Clone(live), func(l turns.Live) bool { return l.Worktree != w.Repo.GitDir || len(l.With) == 0 })
	b.running = slices.DeleteFunc(live, func(l turns.Live) bool { return l.Open == nil })
	b.situation.Running = len(b.running) > 0
	id, err := b.situation.Current(ctx, w)
	if err != nil {
		return b, err
	}
	b.first = slices.ContainsFunc(b.running, func(l turns.Live) bool { return l.First && l.Mission == id })
	switch {
	case b.first:
		b.mission = &record.Mission{ID: id}
	case id != "":
		if err := b.readMission(ctx, w, id); err != nil {
			b.found = append(b.found, unreadable("mission", err))
		}
	}
	peers := w.Store.Peers("", handoffstore.MaxSessions, registry)
	if w.Repo.Top != "" {
		if err := b.readHandoff(ctx, w, peers, now); err != nil {
			b.found = append(b.found, unreadable("handoff", err))
		}
	}
	b.found = append(b.found, wrong(ctx, w, b.situation.Recording, now)...)
	return b, nil
}

func (b *brief) readMission(ctx context.Context, w *workspace.Workspace, id record.ID) error {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := b.situation.Open(ctx, w, objects, id)
	if err != nil {
		return fmt.Errorf("read mission %s: %w", id, err)
	}
	b.mission = l.Mission
	if b.last, err = turns.Last(l); err != nil || b.last == nil {
		return err
	}
	if b.by, err = (&turns.Writers{Workspace: w}).By(ctx, b.last); err != nil {
		return err
	}
	if b.left, err = readLeft(ctx, w, objects, l, b.last); err != nil {
		return err
	}
	if last, err := l.LastTurn(); err == nil && last > b.last.Turn {
		_, err = turns.ReadIn(l, last) // it was passed over
		return err
	}
	return nil
}

// readHandoff finds the handoff that a session starting now would get.
func (b *brief) readHandoff(ctx context.Context, w *workspace.Workspace, peers []session.Peer, now time.Time) error {
	start := handoffstore.Start{At: now, Source: "startup", Session: session.NewID(), Asked: os.Getenv("GIT_AGENT_MISSION")}
	told, err := (&handoffstore.Store{Workspace: w}).Next(ctx, start, peers)
	if err != nil {
		return err
	}
	defer told.Close()
	switch told.Scope {
	case handoffstore.Full:
		b.handoff = told.Handoff
	case handoffstore.Waiting:
		b.handoff, b.waiting = told.Handoff, told.In
	}
	return nil
}

// recent is how long a log entry is news.
const recent = 24 * time.Hour

// wrong returns doctor's findings that are cheap and matter while recording.
func wrong(ctx context.Context, w *workspace.Workspace, records bool, now time.Time) []finding {
	x := &examination{ctx: ctx}
	if records {
		x.look(w.Repo)
		x.hooks()
		x.keys()
	}
	remotes, err := remote.Consenting(ctx, w, x.conf)
	if err != nil {
		x.problem("remote", err.Error(), "")
	}
	for _, r := range remotes {
		x.remote(r, tryRemote(r))
	}
	found := slices.DeleteFunc(x.found, func(f finding) bool { return f.Level == fine })
	for _, f := range logged(w.Store.LogTail(maxLogged), 1) {
		if now.Sub(f.At) < recent {
			f.Level = warning
			found = append(found, f)
		}
	}
	return found
}

const maxRunning = 3

// maxPrompt is how many columns of a prompt are shown.
const maxPrompt = 100

// facts returns the overview as lines like doctor's.
func (b *brief) facts(repo *git.Repo, now time.Time, dates cmdline.Dates) []finding {
	var list []finding
	say := func(what, format string, args ...any) {
		list = append(list, finding{Level: fine, What: what, Text: fmt.Sprintf(format, args...)})
	}
	where := cmp.Or(repo.Top, repo.CommonDir)
	word := map[bool]string{true: "on", false: "off"}[b.situation.Recording]
	say("recording", "%s", strings.TrimSuffix(fmt.Sprintf("%s in %s, %s", word, where, b.situation.Because), ", "))
	switch m := b.mission; {
	case m != nil:
		say("mission", "%s", strings.TrimSpace(string(m.ID)+" "+m.Title))
		if m.Branch != "" {
			say("branch", "%s", strings.TrimPrefix(m.Branch, "refs/heads/"))
		}
	case b.situation.Missions == 0:
		say("mission", "none has been recorded here")
	}
	for _, l := range b.running[:min(len(b.running), maxRunning)] {
		place := ""
		if top := b.tops[l.Worktree]; top != "" && l.Worktree != repo.GitDir {
			place = ", in " + inHome(top)
		}
		say("running", "%s, %s%s: %s", l.ID(), dates.Ago(now, l.Open.Started), place, prompt(l.Open.Prompt))
	}
	if len(b.company) > 0 {
		var who []string
		for _, l := range b.company[:min(len(b.company), maxRunning)] {
			who = append(who, fmt.Sprintf("%s (mission %s)", agent.Of(l.Agent).Title, l.Mission))
		}
		say("company", "%d sessions work in this worktree: %s", len(b.company), strings.Join(who, ", "))
	}
	if t := b.last; t != nil {
		by := ""
		if b.by != trust.Clone {
			by = " [" + b.by + "]"
		}
		say("last turn", "%s, %s, %s:%s %s", t.After(), dates.Ago(now, t.At), t.Outcome, by, prompt(t.Prompt))
	}
	if b.left != nil {
		say("review", "%s", b.left.text(now, dates))
	}
	if h := b.handoff; h != nil && b.waiting == "" {
		say("handoff", "%s, %s, waits for the next session: %s", h.ID(), dates.Ago(now, h.At), prompt(cmp.Or(h.Summary, h.LastPrompt)))
	}
	if b.waiting != "" {
		list = append(list, finding{
			Level: warning, What: "handoff",
			Text:   fmt.Sprintf("%s is untrusted; no agent is told of it before you accept it", b.handoff.ID()),
			Remedy: "git agent-turn trust accept " + string(b.waiting),
		})
	}
	return list
}

func prompt(text string) string { return cmdline.Truncate(cmdline.OneLine(text), maxPrompt) }

const maxSteps = 3

// next returns the commands that make sense now, the most useful first.
func (b *brief) next() []command.Step {
	if b.situation.Missions == 0 {
		return b.situation.Begin()
	}
	var steps []command.Step
	if !b.situation.Recording {
		steps = append(steps, b.situation.Begin()[0])
	}
	if len(b.found) > 0 {
		steps = append(steps, command.Step{Aim: "check everything", Command: "git agent-turn doctor"})
	}
	if b.last != nil {
		steps = append(steps,
			command.Step{Aim: "the turns of this mission", Command: "git agent-turn list"},
			command.Step{Aim: "the last turn: prompt, reply, tools, files", Command: "git agent-turn show"})
		if b.left != nil && b.left.files > 0 && b.left.mark != nil {
			steps = append(steps, command.Step{Aim: "what nobody has reviewed", Command: "git agent-turn diff --unreviewed"})
		} else if b.last.Change().Files > 0 {
			steps = append(steps, command.Step{Aim: "what it changed", Command: "git agent-turn diff"})
		}
	} else if b.situation.Recording {
		steps = append(steps, b.situation.Begin()[0])
	}
	if b.situation.Missions > 1 || b.first && b.situation.Missions > 0 {
		steps = append(steps, command.Step{Aim: "the other missions", Command: "git agent-turn missions"})
	}
	return steps[:min(len(steps), maxSteps)]
}

func printSteps(w io.Writer, steps []command.Step) error {
	width := 0
	for _, s := range steps {
		width = max(width, cmdline.Width(s.Command))
	}
	var b strings.Builder
	b.WriteString("next:\n")
	for _, s := range steps {
		if s.Command == "" {
			fmt.Fprintf(&b, "  %s\n", s.Aim)
		} else {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, s.Command, s.Aim)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unreadable returns the finding that something recorded can't be read.
func unreadable(what string, err error) finding {
	f := finding{Level: problem, What: what, Text: err.Error()}
	if git.Lost(err) || git.NamesObject(err) {
		f.Remedy = "git agent-turn doctor --repair"
	}
	return f
}
