package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/turns"
)

type origin struct {
	id   string // the turn's name, or the commit's
	path string // of the file there
	who  string // the agent and its prompt, or the author
	when string
}

// Widths in columns of the agent and its prompt, or of the author. On a
// terminal, rest columns are left for the line.
const (
	leastWho = 16
	mostWho  = 40
	rest     = 56
)

func (q *inquiry) annotate(out *bufio.Writer, answer *blame.Answer) error {
	runs := answer.Runs
	if len(runs) == 0 {
		return nil
	}
	columns, colour := cmdline.Columns(q.c.App.Writer), cmdline.Colour(q.c.App.Writer)
	most := mostWho
	if columns > 0 {
		most = max(leastWho, min(mostWho, columns-rest))
	}
	origins, err := q.origins(runs, most)
	if err != nil {
		return err
	}
	id, path, who, when := 0, 0, 0, 0
	for _, o := range origins {
		id, path, who, when = max(id, cmdline.Width(o.id)), max(path, cmdline.Width(o.path)), max(who, cmdline.Width(o.who)), max(when, cmdline.Width(o.when))
	}
	if !slices.ContainsFunc(runs, func(l blame.Line) bool { return l.Blame.Path != q.path }) {
		path = 0
	}
	number := len(strconv.Itoa(runs[len(runs)-1].Blame.End() - 1))
	var last *origin
	var name, about string // of lines with that origin
	return answer.Each(q.c.Context, func(run int, l blame.Line) error {
		o, again := origins[run], origins[run] == last
		if !again {
			last, name, about = o, pad(o.id, id), " "
			if path > 0 {
				about += pad(o.path, path) + " "
			}
			about += fmt.Sprintf("(%s %s ", pad(o.who, who), pad(o.when, when))
		}
		head := fmt.Sprintf("%s%*d)", about, number, l.Blame.Number)
		switch {
		case colour && again:
			head = cmdline.Dim.Paint(name + head)
		case colour:
			head = cmdline.Yellow.Paint(name) + head
		default:
			head = name + head
		}
		text := l.Text
		if columns > 0 {
			text = strings.TrimSuffix(cmdline.EscapeLines(text+"\n"), "\n")
		}
		for _, s := range []string{head, " ", text, "\n"} {
			if _, err := out.WriteString(s); err != nil {
				return err
			}
		}
		return nil
	})
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", width-cmdline.Width(text))
}

// origins returns where lines come from, with authors in at most most columns.
func (q *inquiry) origins(lines []blame.Line, most int) ([]*origin, error) {
	names, err := q.names(lines)
	if err != nil {
		return nil, err
	}
	dates, err := q.dates()
	if err != nil {
		return nil, err
	}
	type key struct {
		turn    *turns.Turn
		running *turns.Live
		commit  object.Hash
		path    string
		several bool
	}
	known, now := make(map[key]*origin), time.Now()
	list := make([]*origin, len(lines))
	for i, l := range lines {
		k := key{turn: l.Turn, running: l.Running, path: l.Blame.Path, several: l.Unsure}
		if l.Turn == nil {
			k.commit = l.Blame.Commit
		}
		o := known[k]
		if o == nil {
			o = &origin{id: names.line(l), path: cmdline.OneLine(l.Blame.Path), who: l.Blame.In.Author, when: dates.Long(now, l.Blame.In.At)}
			if t := l.Turn; t != nil {
				o.who, o.when = called(t.Agent, t.Prompt), dates.Long(now, t.At)
			} else if l.Running != nil {
				o.who, o.when = called("running", l.Running.Open.Prompt), dates.Long(now, l.Running.Open.Started)
			}
			o.who = cmdline.Truncate(cmdline.OneLine(o.who), most)
			known[k] = o
		}
		list[i] = o
	}
	return list, nil
}

// called describes a turn: its agent up to a dash, and its prompt.
func called(agent, prompt string) string {
	agent, _, _ = strings.Cut(agent, "-")
	if agent == "" || prompt == "" {
		return agent + prompt
	}
	return agent + ": " + prompt
}

// dates returns the user's date format: of git blame, git log, or else short.
func (q *inquiry) dates() (cmdline.Dates, error) {
	conf, err := q.w.Repo.Config(q.c.Context)
	if err != nil {
		return cmdline.Dates{}, err
	}
	return cmdline.ParseDates(cmp.Or(conf.Get("blame.date"), conf.Get("log.date"), "short"), cmdline.Columns(q.c.App.Writer) > 0)
}

type shortNames struct {
	missions map[record.ID]record.ID
	commits  map[object.Hash]string
}

func (q *inquiry) names(lines []blame.Line) (*shortNames, error) {
	missions, err := ledger.List(q.c.Context, q.w.Repo)
	if err != nil {
		return nil, err
	}
	var commits []object.Hash
	for _, l := range lines {
		if l.Turn == nil && !l.Blame.Commit.IsZero() {
			commits = append(commits, l.Blame.Commit)
		}
	}
	short, err := q.w.Repo.Abbreviate(q.c.Context, commits)
	return &shortNames{record.Abbreviate(slices.Collect(maps.Keys(missions))), short}, err
}

// line names a line's turn, with "?" if it may be another, or its commit.
func (n *shortNames) line(l blame.Line) string {
	switch {
	case l.Unsure:
		return n.turn(l.Turn) + "?"
	case l.Turn != nil:
		return n.turn(l.Turn)
	case l.Running != nil:
		return record.TurnID{Mission: cmp.Or(n.missions[l.Running.Mission], l.Running.Mission), Turn: l.Running.Number}.String() + "?"
	case l.Blame.Commit.IsZero():
		return "00000000"
	case l.Blame.Before:
		return "^" + n.commits[l.Blame.Commit]
	}
	return n.commits[l.Blame.Commit]
}

func (n *shortNames) turn(t *turns.Turn) string {
	return record.TurnID{Mission: cmp.Or(n.missions[t.In()], t.In()), Turn: t.Turn}.String()
}
