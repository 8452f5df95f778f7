package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/turns"
)

const maxChanged = 20

// text prints a table, then each fork, then each pair.
func (t *comparing) text(to io.Writer) error {
	if _, err := fmt.Fprintln(to, t.heading()); err != nil {
		return err
	}
	if err := t.table().Print(to); err != nil {
		return err
	}
	for _, f := range t.forks {
		if err := t.section(to, f); err != nil {
			return err
		}
	}
	if err := t.each(to); err != nil {
		return err
	}
	return t.next(to)
}

func (t *comparing) heading() string {
	p := t.from()
	switch {
	case slices.ContainsFunc(t.forks, func(f *compared) bool { return !f.Forked() }):
		return fmt.Sprintf("%d states, each compared with where its mission began", len(t.forks))
	case p != nil:
		return fmt.Sprintf("%s of turn %s", cmdline.Plural(len(t.forks), "fork"), p.Of)
	}
	return fmt.Sprintf("%d forks, which began at different states, each compared with its own", len(t.forks))
}

// table has one line for each fork. It shows last prompts if all forks have one
// title, as forks have their source's unless they got their own.
func (t *comparing) table() *cmdline.Table {
	columns := []cmdline.Column{
		{Name: "FORK", Style: cmdline.Yellow, Key: true, Min: 8},
		{Name: "STATE", Styles: lookOfState, Min: 7},
		{Name: "TURNS", Right: true, Min: 5, Spare: true},
		{Name: "FILES", Right: true, Min: 5},
		{Name: "+", Right: true, Style: cmdline.Green},
		{Name: "-", Right: true, Style: cmdline.Red},
	}
	checks := t.c.IsSet("check")
	if checks {
		columns = append(columns, cmdline.Column{Name: "CHECK", Styles: lookOfCheck, Min: 7})
	}
	columns = append(columns,
		cmdline.Column{Name: "TOKENS", Right: true, Style: cmdline.Dim, Min: 6, Spare: true},
		cmdline.Column{Name: "TIME", Right: true, Style: cmdline.Dim, Min: 5, Spare: true},
	)
	titled := slices.ContainsFunc(t.forks, func(f *compared) bool { return f.Mission.Title != t.forks[0].Mission.Title })
	about := "LAST PROMPT"
	if titled {
		about = "TITLE"
	}
	table := cmdline.NewTable(append(columns, cmdline.Column{Name: about, Min: 10})...)
	for _, f := range t.forks {
		row := append([]string{f.name, string(f.state), strconv.Itoa(f.Turns)}, f.figures()...)
		if checks {
			row = append(row, shortly(f.check))
		}
		table.Row(append(row, cmdline.Count(f.Output), took(f.Took), f.about(titled))...)
	}
	return table
}

func lookOfState(state string) cmdline.Style {
	if turns.Activity(state) == turns.IsEnded {
		return cmdline.Plain
	}
	return cmdline.Green
}

func lookOfCheck(check string) cmdline.Style {
	switch {
	case check == "passed":
		return cmdline.Green
	case strings.HasPrefix(check, "failed"):
		return cmdline.Red
	}
	return cmdline.Dim
}

// shortly formats the result of a check for a column.
func shortly(k *checked) string {
	switch {
	case k.why == interrupted:
		return "stopped"
	case k.why != "":
		return "not run"
	case k.status == 0:
		return "passed"
	}
	return "failed"
}

func (f *compared) figures() []string {
	if f.Unknown != nil {
		return []string{"?", "", ""}
	}
	return figures(f.Changes)
}

func figures(changes []gitdiff.FileStat) []string {
	insertions, deletions := count(changes)
	return []string{strconv.Itoa(len(changes)), fmt.Sprintf("+%d", insertions), fmt.Sprintf("-%d", deletions)}
}

func count(changes []gitdiff.FileStat) (insertions, deletions int) {
	for _, f := range changes {
		insertions, deletions = insertions+f.Insertions, deletions+f.Deletions
	}
	return insertions, deletions
}

// about returns what distinguishes a fork, and what became of it.
func (f *compared) about(titled bool) string {
	text := f.Mission.Title
	if !titled {
		if text = ""; f.Last != nil {
			text = f.Last.Prompt
		}
	}
	var marks []string
	if f.By != trust.Clone {
		marks = append(marks, "["+f.By+"]")
	}
	if adopted := command.Adopted(f.Mission.Adopted, f.last()); adopted != "" {
		marks = append(marks, "["+adopted+"]")
	}
	if f.Finished != nil {
		marks = append(marks, fmt.Sprintf("[finished in %.7s]", f.Finished.Commit))
	}
	return strings.Join(append(marks, cmdline.OneLine(text)), " ")
}

// last returns the number of the last turn, or 0.
func (f *compared) last() int {
	if f.Last == nil {
		return 0
	}
	return f.Last.Turn
}

// took formats a duration, of hours without the seconds.
func took(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}

const indented = "  "

func (t *comparing) section(to io.Writer, f *compared) error {
	if _, err := fmt.Fprintln(to); err != nil {
		return err
	}
	what := "fork "
	if !f.Forked() {
		what = "mission "
	}
	r := cmdline.NewRecord(to, what+f.name, len("Finished:"))
	r.Field("Title", f.Mission.Title)
	if f.By != trust.Clone {
		r.Field("By", f.By)
	}
	r.Field("Agent", f.Agent)
	if t.from() == nil && f.Forked() {
		r.Field("From", fmt.Sprintf("turn %s, %.12s", f.Point.Of, f.Point.Commit))
	}
	state := string(f.state)
	if f.Last != nil {
		last := ""
		if f.Newest {
			last = ", its last one,"
		}
		state += fmt.Sprintf("; turn %d%s was %s %s", f.Last.Turn, last, f.Last.Outcome, t.dates.Ago(t.now, f.Ended))
	} else {
		state += "; it has no turn of its own yet"
	}
	r.Field("State", state)
	if a := f.Mission.Adopted; a != nil {
		text := fmt.Sprintf("up to turn %d, %s", a.Turn, t.dates.Ago(t.now, a.At))
		if a.Undone {
			text += ", and taken back"
		}
		r.Field("Adopted", text)
	}
	if f.Finished != nil {
		r.Field("Finished", fmt.Sprintf("in %.12s, %s", f.Finished.Commit, t.dates.Ago(t.now, f.Finished.At)))
	}
	if f.there != nil {
		text := f.there.Top
		if f.changed {
			text += " (with changes that no turn has recorded)"
		}
		r.Field("Worktree", text)
	}
	if f.Context > 0 || f.Output > 0 {
		r.Field("Tokens", fmt.Sprintf("%d written; the last request sent %d", f.Output, f.Context))
	}
	r.Field("Took", took(f.Took))
	if f.Unknown != nil {
		r.Field("Changes", "not known: "+f.Unknown.Error())
	}
	if f.check != nil {
		r.Field("Check", f.check.String())
	}
	if err := r.Flush(); err != nil {
		return err
	}
	if err := f.prompts(to); err != nil {
		return err
	}
	if err := paths(to, "Changes", f.Changes); err != nil {
		return err
	}
	return f.printed(to)
}

// printed shows the last output of the check.
func (f *compared) printed(to io.Writer) error {
	if f.check == nil || f.check.output == "" {
		return nil
	}
	_, err := fmt.Fprintln(to, "\nCheck")
	for line := range strings.SplitSeq(cmdline.EscapeLines(f.check.output), "\n") {
		if err == nil {
			_, err = fmt.Fprintln(to, strings.TrimRight("    "+line, " "))
		}
	}
	return err
}

// prompts lists the prompts since the fork began.
func (f *compared) prompts(to io.Writer) error {
	if len(f.Said) == 0 {
		return nil
	}
	table := cmdline.NewTable(cmdline.Column{}, cmdline.Column{Right: true, Style: cmdline.Yellow, Key: true}, cmdline.Column{Styles: lookOfOutcome}, cmdline.Column{Min: 20})
	for _, s := range f.Said {
		table.Row(indented, strconv.Itoa(s.Turn), string(s.Outcome), cmdline.OneLine(s.Prompt))
	}
	return list(to, "Prompts", table, f.Turns-len(f.Said))
}

func lookOfOutcome(outcome string) cmdline.Style {
	switch record.Outcome(outcome) {
	case record.Failed:
		return cmdline.Red
	case record.Interrupted:
		return cmdline.Yellow
	}
	return cmdline.Dim
}

func paths(to io.Writer, heading string, changes []gitdiff.FileStat) error {
	if len(changes) == 0 {
		return nil
	}
	table := cmdline.NewTable(
		cmdline.Column{}, cmdline.Column{Right: true, Style: cmdline.Green}, cmdline.Column{Right: true, Style: cmdline.Red}, cmdline.Column{Min: 20, Path: true},
	)
	shown := changes[:min(len(changes), maxChanged)]
	for _, s := range shown {
		if s.Binary {
			table.Row(indented, "binary", "", s.Path)
		} else {
			table.Row(indented, fmt.Sprintf("+%d", s.Insertions), fmt.Sprintf("-%d", s.Deletions), s.Path)
		}
	}
	return list(to, heading, table, len(changes)-len(shown))
}

// list prints a table below a heading, and how many lines it lacks.
func list(to io.Writer, heading string, table *cmdline.Table, more int) error {
	_, err := fmt.Fprintf(to, "\n%s\n", heading)
	if err == nil {
		err = table.Print(to)
	}
	if err == nil && more > 0 {
		_, err = fmt.Fprintf(to, "    and %d more\n", more)
	}
	return err
}

// each prints the differences between forks.
func (t *comparing) each(to io.Writer) error {
	if len(t.forks) > maxPaired {
		_, err := fmt.Fprintf(to, "\nMore than %d forks are not compared with each other; name some of them.\n", maxPaired)
		return err
	}
	if len(t.pairs) == 0 {
		return nil
	}
	table := cmdline.NewTable(
		cmdline.Column{}, cmdline.Column{Style: cmdline.Yellow, Key: true}, cmdline.Column{Right: true},
		cmdline.Column{Right: true, Style: cmdline.Green}, cmdline.Column{Right: true, Style: cmdline.Red}, cmdline.Column{Style: cmdline.Dim, Min: 12, Spare: true},
	)
	for _, p := range t.pairs {
		name := p.a.name + ".." + p.b.name
		switch {
		case p.Unknown != nil:
			table.Row(indented, name, "?", "", "", "not known: "+cmdline.OneLine(p.Unknown.Error()))
		case len(p.Changes) == 0:
			table.Row(indented, name, "same", "", "", "")
		default:
			f := figures(p.Changes)
			table.Row(indented, name, cmdline.Plural(len(p.Changes), "file"), f[1], f[2], changedBoth(p.Both))
		}
	}
	if err := list(to, "Between each other", table, 0); err != nil || len(t.pairs) > 1 {
		return err
	}
	p := t.pairs[0]
	return paths(to, fmt.Sprintf("From %s to %s", p.a.name, p.b.name), p.Changes)
}

func changedBoth(n int) string {
	if n == 0 {
		return "no file changed by both"
	}
	return cmdline.Plural(n, "file") + " changed by both"
}

// next prints commands to go on, with the first fork that may be wanted.
func (t *comparing) next(to io.Writer) error {
	var steps [][2]string
	f := t.best()
	if f != nil {
		steps = append(steps, [2]string{"git agent-fork adopt " + f.name, "take its work home"})
	} else if f = t.forks[0]; f.Turns == 0 {
		return nil
	}
	if i := slices.IndexFunc(t.forks, func(other *compared) bool { return other != f && other.Turns > 0 }); i >= 0 {
		from, to := t.forks[i].name, f.name
		if !f.Forked() { // in the order of their naming
			from, to = to, from
		}
		steps = append(steps, [2]string{"git agent-turn diff " + from + " " + to, "what differs"})
	}
	if len(steps) == 0 {
		return nil
	}
	width := 0
	for _, s := range steps {
		width = max(width, len(s[0]))
	}
	if _, err := fmt.Fprintln(to, "\nNext"); err != nil {
		return err
	}
	for _, s := range steps {
		about := "  # " + s[1]
		if cmdline.Colour(to) {
			about = cmdline.Dim.Paint(about)
		}
		if _, err := fmt.Fprintf(to, "    %-*s%s\n", width, s[0], about); err != nil {
			return err
		}
	}
	return nil
}

// best returns the first fork with turns that passed the check and was not
// adopted as it is, or nil. A trusted fork comes before an untrusted one.
func (t *comparing) best() (best *compared) {
	for _, f := range t.forks {
		good := f.Forked() && f.Turns > 0 && !f.Mission.Adopted.Holds(f.last()) && (f.check == nil || f.check.passed())
		if good && (best == nil || best.Foreign && !f.Foreign) {
			best = f
		}
	}
	return best
}
