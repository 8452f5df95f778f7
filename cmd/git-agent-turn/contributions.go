package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

type lander struct {
	c    *cli.Context
	w    *workspace.Workspace
	h    *blame.History
	roll *turns.Writers

	looked, of atomic.Int64 // files
}

// maxFiles is how many files git blames by default, in some twenty seconds.
const maxFiles = 300

func newLander(c *cli.Context, w *workspace.Workspace) (*lander, error) {
	debug.SetGCPercent(200) // the process is short-lived, and most of what it reads it keeps
	h, err := blame.Open(c.Context, w)
	if err != nil {
		return nil, err
	}
	return &lander{c: c, w: w, h: h, roll: &turns.Writers{Workspace: w}}, nil
}

// contributions answers a question. If all is set, no file is left out.
func (l *lander) contributions(q blame.Landing, all bool) (*blame.Contributions, error) {
	if !all {
		q.Files = maxFiles
	}
	q.Looked = func(n, of int) {
		l.looked.Store(int64(n))
		l.of.Store(int64(of))
	}
	return l.h.Contributions(l.c.Context, q)
}

func (l *lander) progress() *cmdline.Progress {
	return cmdline.StartProgress(l.c.App.ErrWriter, func() string {
		of := l.of.Load()
		if of == 0 {
			return "reading the turns"
		}
		return fmt.Sprintf("looking at file %d of %d", l.looked.Load()+1, of)
	})
}

// close reports what was left out, and returns what could not be read.
func (l *lander) close() error {
	l.h.Close()
	tellUntrusted(l.c, l.h.Untrusted)
	return l.h.Unread
}

const maxLeftOut = 3

// tellUntrusted names untrusted missions that an answer leaves out.
func tellUntrusted(c *cli.Context, untrusted []record.ID) {
	if len(untrusted) == 0 {
		return
	}
	var names []string
	for _, id := range untrusted[:min(len(untrusted), maxLeftOut)] {
		names = append(names, string(id))
	}
	if len(untrusted) > maxLeftOut {
		names = append(names, "...")
	}
	cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("left out %s: %s; look at it, and accept it, with: git agent-turn trust accept %s",
		cmdline.Plural(len(untrusted), "untrusted mission"), strings.Join(names, ", "), names[0]))
}

type landedJSON struct {
	Kind    string      `json:"kind"` // commit
	Commit  object.Hash `json:"commit"`
	Author  string      `json:"author"`
	Email   string      `json:"email"`
	At      time.Time   `json:"at"` // of the author
	Subject string      `json:"subject"`
	Merge   bool        `json:"merge,omitempty"`
	Lines   int         `json:"lines"`
	Hand    int         `json:"hand"`
	Removed int         `json:"removed"`
	Files   int         `json:"files"`
	Binary  int         `json:"binary,omitempty"`
	Unseen  int         `json:"unseen,omitempty"`
	Turns   []turnJSON  `json:"turns"`
}

type turnJSON struct {
	Mission  record.ID `json:"mission"`
	Turn     int       `json:"turn"`
	Agent    string    `json:"agent,omitempty"`
	Model    string    `json:"model,omitempty"`
	Started  time.Time `json:"started"`
	By       string    `json:"by"`
	Prompt   string    `json:"prompt,omitempty"`
	Lines    int       `json:"lines"`
	Removed  int       `json:"removed"`
	Files    int       `json:"files"`
	Evidence []string  `json:"evidence"`
	Checked  string    `json:"checked,omitempty"` // the word for its checks
	Unproven bool      `json:"unproven,omitempty"`
	Reviewed bool      `json:"reviewed,omitempty"` // in a summary
}

func (l *lander) turnJSON(c *blame.Contribution, prompts bool) (turnJSON, error) {
	t := c.Turn
	by, err := l.roll.By(l.c.Context, t)
	j := turnJSON{
		Mission: t.In(), Turn: t.Turn, Agent: t.Agent, Model: t.Model, Started: t.Before().At.UTC(), By: by,
		Lines: c.Lines, Removed: c.Removed, Files: c.Files, Evidence: append([]string{}, c.Evidence.Words()...), Checked: t.Checked(), Unproven: t.Unproven,
	}
	if prompts {
		j.Prompt = t.Prompt
	}
	return j, err
}

func (l *lander) printJSON(commit object.Hash, c *object.Commit, sum *blame.Contributions) error {
	j := landedJSON{
		Kind: "commit", Commit: commit, Author: c.Author.Name, Email: c.Author.Email, At: c.Author.When.UTC(), Subject: subjectOf(c), Merge: len(c.Parents) > 1,
		Lines: sum.Lines, Hand: sum.Hand, Removed: sum.Removed, Files: sum.Files, Binary: sum.Binary, Unseen: sum.Unseen, Turns: []turnJSON{},
	}
	for _, t := range sum.Turns {
		one, err := l.turnJSON(t, true)
		if err != nil {
			return err
		}
		j.Turns = append(j.Turns, one)
	}
	return cmdline.PrintJSON(l.c.App.Writer, j)
}

// subjectOf returns the first paragraph of a commit's message, as git does.
func subjectOf(c *object.Commit) string {
	text, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n\n")
	return strings.Join(strings.Fields(text), " ")
}

// prompt returns a turn's prompt in a line, after its recorder if not us.
func (l *lander) prompt(t *turns.Turn) (string, error) {
	by, err := l.roll.By(l.c.Context, t)
	prompt := cmdline.OneLine(t.Prompt)
	if by != trust.Clone {
		prompt = "[" + by + "] " + prompt
	}
	return prompt, err
}

// table lists turns, and lines by hand. why adds the evidence.
func (l *lander) table(w io.Writer, list []*blame.Contribution, hand int, before string, why bool) error {
	columns := []cmdline.Column{{}, {Style: cmdline.Yellow, Key: true, Min: 16}, {Right: true, Style: cmdline.Green}}
	less := slices.ContainsFunc(list, func(t *blame.Contribution) bool { return t.Removed > 0 })
	if less {
		columns = append(columns, cmdline.Column{Right: true, Style: cmdline.Red})
	}
	if why {
		columns = append(columns, cmdline.Column{Style: cmdline.Cyan})
	}
	table := cmdline.NewTable(append(columns, cmdline.Column{Min: 20})...)
	row := func(name string, lines, removed int, evidence, prompt string) {
		cells := []string{before, name, fmt.Sprintf("+%d", lines)}
		if less {
			cells = append(cells, taken(removed))
		}
		if why {
			cells = append(cells, evidence)
		}
		table.Row(append(cells, prompt)...)
	}
	for _, t := range list {
		prompt, err := l.prompt(t.Turn)
		if err != nil {
			return err
		}
		row(t.Turn.After().String(), t.Lines, t.Removed, strings.Join(t.Evidence.Words(), ", "), prompt)
	}
	if hand > 0 {
		row("by hand", hand, 0, "", "")
	}
	return table.Print(w)
}

func taken(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("-%d", n)
}

type agentShare struct {
	agent                 string
	turns, lines, removed int
}

func shares(sum *blame.Contributions) []*agentShare {
	of := make(map[string]*agentShare)
	var list []*agentShare
	for _, t := range sum.Turns {
		if t.Files == 0 {
			continue
		}
		agent := cmp.Or(cmdline.OneLine(t.Turn.Agent), "an agent")
		s := of[agent]
		if s == nil {
			s = &agentShare{agent: agent}
			of[agent] = s
			list = append(list, s)
		}
		s.turns, s.lines, s.removed = s.turns+1, s.lines+t.Lines, s.removed+t.Removed
	}
	slices.SortStableFunc(list, func(a, b *agentShare) int { return cmp.Compare(b.lines, a.lines) })
	return list
}

func counted(sum *blame.Contributions) string {
	text := cmdline.Plural(sum.Lines, "line")
	var parts []string
	for _, s := range shares(sum) {
		parts = append(parts, fmt.Sprintf("%d by %s of %s", s.lines, cmdline.Plural(s.turns, "turn"), s.agent))
	}
	if sum.Hand > 0 {
		parts = append(parts, fmt.Sprintf("%d by hand", sum.Hand))
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if sum.Removed > 0 {
		text += fmt.Sprintf("; %d removed", sum.Removed)
	}
	if sum.Binary > 0 {
		text += fmt.Sprintf("; %s without lines", cmdline.Plural(sum.Binary, "file"))
	}
	return text
}

func unseen(sum *blame.Contributions) string {
	if sum.Unseen == 0 {
		return ""
	}
	return fmt.Sprintf("%s not looked at: there are too many (--full takes all), or it takes too long", cmdline.Plural(sum.Unseen, "more file"))
}

// brief prints a commit in a line, and below it the turns that it is from.
func (l *lander) brief(short string, c *object.Commit, sum *blame.Contributions) error {
	var b bytes.Buffer
	screen := &cmdline.Screen{Writer: &b, Columns: cmdline.Columns(l.c.App.Writer), Colour: cmdline.Colour(l.c.App.Writer)}
	subject := cmdline.OneLine(subjectOf(c))
	if screen.Columns > 0 {
		subject = cmdline.Truncate(subject, max(20, screen.Columns-len(short)-1))
	}
	if screen.Colour {
		short = cmdline.Yellow.Paint(short)
	}
	fmt.Fprintln(&b, short, subject)
	if list, _ := listed(sum, 0); len(list) > 0 {
		if err := l.table(screen, list, sum.Hand, "  ", false); err != nil {
			return err
		}
		if text := unseen(sum); text != "" {
			fmt.Fprintf(&b, "    %s\n", text)
		}
	}
	_, err := l.c.App.Writer.Write(b.Bytes())
	return err
}
