package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/urfave/cli/v2"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/turns"
)

func whyCommand() *cli.Command {
	return &cli.Command{
		Name:  "why",
		Usage: "say why a line of a file is as it is: the turn, what was asked, what came of it",
		UsageText: "git agent-turn why [--json] (<file>:<line>[-<line>] | <file>:/<text>/ |\n" +
			"                   <file> (<line>[-<line>] | <text>))",
		Description: "The line is one of the worktree. Of a line that no turn wrote, git's commit is shown. " +
			"With a text, all lines that have it are meant.",
		Flags:        []cli.Flag{command.JSONFlag()},
		BashComplete: command.First(cmdline.ProposeFiles),
		Action:       command.Paged(why),
	}
}

func why(c *cli.Context) error {
	at, err := readSpot(c.Args().Slice(), func(name string) bool {
		info, err := os.Lstat(name)
		return err == nil && !info.IsDir()
	})
	if err != nil {
		return err
	}
	q, err := newInquiry(c, "", at.file)
	if err != nil {
		return err
	}
	defer q.close()
	lines, chosen, err := q.pointed(at)
	if err != nil {
		return err
	}
	s, err := newShower(c, q.w)
	if err != nil {
		return err
	}
	w := &whys{shower: s, q: q, lines: lines}
	for i, g := range groups(chosen) {
		if err := w.answer(i, g); err != nil {
			return err
		}
	}
	return q.rest(chosen)
}

// beside is how many lines are shown on each side of the lines in question.
const beside = 1

// pointed returns the lines at a spot, and those with some around them.
func (q *inquiry) pointed(at spot) (lines, chosen []blame.Line, err error) {
	if at.text != "" {
		if lines, err = q.lines(nil); err != nil {
			return nil, nil, err
		}
		for _, l := range lines {
			if strings.Contains(l.Text, at.text) {
				chosen = append(chosen, l)
			}
		}
		if len(chosen) > 1 {
			fmt.Fprintf(q.c.App.ErrWriter, "%d lines have %q\n", len(chosen), at.text)
		}
		if len(chosen) == 0 {
			err := cmdline.NotFoundf("no line of %q has %q", at.file, at.text)
			return nil, nil, cmdline.Hintf(err, "it may have been there once: git log -S %s", cmdline.Shell([]string{at.text, "--", at.file}))
		}
		return lines, chosen, nil
	}
	lines, err = q.lines([]string{fmt.Sprintf("%d,%d", max(1, at.first-beside), at.last+beside)})
	if e := (*git.Error)(nil); errors.As(err, &e) { // they may be beyond the end
		all, failed := q.lines(nil)
		if failed != nil || len(all) >= at.first {
			return nil, nil, err
		}
		lines = all
	} else if err != nil {
		return nil, nil, err
	}
	for _, l := range lines {
		if l.Blame.Number >= at.first && l.Blame.Number <= at.last {
			chosen = append(chosen, l)
		}
	}
	if len(chosen) > 0 {
		return lines, chosen, nil
	}
	if len(lines) == 0 {
		return nil, nil, cmdline.NotFoundf("%q has no lines", at.file)
	}
	last := lines[len(lines)-1].Blame.Number
	err = cmdline.NotFoundf("%q has %s, and no line %d", at.file, cmdline.Plural(last, "line"), at.first)
	return nil, nil, cmdline.Hintf(err, "the last one: git agent-turn why %s", cmdline.Shell([]string{at.file, fmt.Sprint(last)}))
}

// groups groups lines by turn or commit, in the order of their first lines.
func groups(lines []blame.Line) [][]blame.Line {
	type origin struct {
		turn    *turns.Turn
		running *turns.Live
		commit  object.Hash
	}
	var list [][]blame.Line
	place := make(map[origin]int)
	for _, l := range lines {
		from := origin{turn: l.Turn, running: l.Running}
		if l.Turn == nil {
			from.commit = l.Blame.Commit
		}
		at, known := place[from]
		if !known {
			at = len(list)
			place[from] = at
			list = append(list, nil)
		}
		list[at] = append(list[at], l)
	}
	return list
}

func numbers(lines []blame.Line) string {
	var list []int
	for _, l := range lines {
		list = append(list, l.Blame.Number)
	}
	return ledger.RangesOf(list...).String()
}

type whys struct {
	*shower
	q     *inquiry
	lines []blame.Line // what is shown around them
}

func (w *whys) answer(i int, group []blame.Line) error {
	a, err := w.about(group)
	if err != nil {
		return err
	}
	if w.c.Bool("json") {
		object, err := a.json(w.shower, w.q.path, group)
		if err != nil {
			return err
		}
		return cmdline.PrintJSON(w.out, object)
	}
	if i > 0 {
		if _, err := fmt.Fprintln(w.out); err != nil {
			return err
		}
	}
	if a.turn != nil {
		return w.explain(a)
	}
	return w.byHand(a, group[0].Blame)
}

// An answer is the turn that answers a question, and what else is known.
type answer struct {
	turn    *turns.Turn
	others  []*turns.Turn    // that may be it, too
	unsure  bool             // it may be one of others, or somebody who is not known
	running *turns.Live      // that may have written it, if no recorded turn is known to have
	where   string           // the lines in question, or ""
	shown   []string         // these lines, with some around them
	landed  []gitdiff.Blamed // a line of each commit that has them
	change  []string         // the turn's patch of them; nil for its whole change
	later   []*turns.Turn    // turns of the mission that changed the file, the oldest first
	more    int              // how many of these are left out
}

// about finds out what is known of the lines of a group.
func (w *whys) about(group []blame.Line) (*answer, error) {
	a := &answer{turn: group[0].Turn, running: group[0].Running, where: w.q.name + ":" + numbers(group), shown: excerpt(w.lines, group)}
	for _, l := range group {
		a.unsure = a.unsure || l.Unsure
		for _, t := range l.Others {
			if !slices.Contains(a.others, t) {
				a.others = append(a.others, t)
			}
		}
		if !slices.ContainsFunc(a.landed, func(b gitdiff.Blamed) bool { return b.Commit == l.Blame.Commit }) {
			a.landed = append(a.landed, l.Blame)
		}
	}
	if a.turn == nil {
		return a, nil
	}
	var err error
	if a.change, err = w.change(group); err != nil {
		return nil, err
	}
	return a, w.follow(a, group[0].Path)
}

// maxShownLines is how many lines of a group, and of a hunk, are shown.
const maxShownLines = 20

// excerpt shows the lines of a group, marked, among those around them.
func excerpt(lines, group []blame.Line) []string {
	var list []string
	marked := make(map[int]bool)
	for _, l := range group {
		marked[l.Blame.Number] = true
	}
	width := len(fmt.Sprint(group[len(group)-1].Blame.Number + beside))
	shown, last := 0, 0
	for _, l := range lines {
		n, mark := l.Blame.Number, " "
		if marked[n] {
			mark = ">"
			if shown++; shown > maxShownLines {
				return append(list, fmt.Sprintf("... %s in all", cmdline.Plural(len(group), "line")))
			}
		} else if !marked[n-1] && !marked[n+1] {
			continue
		}
		if last > 0 && n > last+1 {
			list = append(list, "...")
		}
		list, last = append(list, strings.TrimRight(fmt.Sprintf("%s %*d  %s", mark, width, n, l.Text), " \r")), n
	}
	return list
}

const maxHunks = 3

// change returns what the turn did where the lines of a group are.
func (w *whys) change(group []blame.Line) ([]string, error) {
	type place struct {
		state object.Hash
		path  string
	}
	type part struct {
		in    place
		start string // the first line, which a part of another commit may share
	}
	patches := make(map[place]string)
	seen := make(map[part]bool)
	var list []string
	for _, l := range group {
		at := place{l.State, l.Path}
		patch, known := patches[at]
		if !known {
			var err error
			if patch, err = w.patch(l); err != nil {
				return nil, err
			}
			patches[at] = patch
		}
		h := hunkOf(patch, l.Number)
		if h == nil || seen[part{at, h.lines[0]}] {
			continue
		}
		if len(seen) == maxHunks {
			return append(list, "..."), nil
		}
		seen[part{at, h.lines[0]}] = true
		shown := h.around(maxShownLines)
		if len(seen) > 1 && len(patches) == 1 {
			shown = shown[len(h.header):]
		}
		list = append(list, shown...)
	}
	return list, nil
}

// patch returns the turn's change, or its commit's, to the file of a line.
func (w *whys) patch(l blame.Line) (string, error) {
	objects := w.w.Repo.Objects(w.c.Context)
	defer objects.Close()
	from := l.Turn.Change().Sure
	if l.State != l.Turn.Code {
		parents, err := objects.Parents(l.State)
		if err != nil || len(parents) == 0 {
			return "", err
		}
		from = parents[0]
	}
	diff := func(options, paths []string) (string, error) {
		var b bytes.Buffer
		err := gitdiff.Diff(w.c.Context, w.w.Repo, &b, from, l.State, options, paths)
		return b.String(), err
	}
	was, err := objects.At(from, l.Path)
	if err != nil {
		return "", err
	}
	if was.Mode == filemode.Empty { // it may have had another name
		patch, err := diff([]string{"--diff-filter=R"}, nil)
		if patch = renamedTo(patch, l.Path); patch != "" || err != nil {
			return patch, err
		}
	}
	return diff(nil, []string{":(top,literal)" + l.Path})
}

const maxLater = 5

// follow finds later turns of the mission that changed the file.
func (w *whys) follow(a *answer, then string) error {
	err := turns.Each(w.c.Context, w.w.Repo, a.turn.In(), func(t *turns.Turn) error {
		if t.Turn <= a.turn.Turn {
			return errEnough
		}
		if slices.Contains(t.Paths, then) || slices.Contains(t.Paths, w.q.path) {
			a.later = append(a.later, t)
		}
		return nil
	})
	if e := (*ledger.UnreadError)(nil); err != nil && !errors.Is(err, errEnough) && !errors.As(err, &e) {
		return err
	}
	slices.Reverse(a.later)
	a.more = max(0, len(a.later)-maxLater)
	a.later = a.later[:len(a.later)-a.more]
	return nil
}

// explain prints a turn as the answer to a question: prompt and reply, the
// change, what followed, and what to do next.
func (s *shower) explain(a *answer) error {
	t := a.turn
	by, err := s.roll.By(s.c.Context, t)
	if err != nil {
		return err
	}
	prompt, reply := turns.Words(s.c.Context, s.w.Repo, t)
	all := "git agent-turn show --full " + t.After().String()
	r := cmdline.NewRecord(s.out, "turn "+t.After().String(), len("Landed:"))
	r.Line(s.summary(t))
	if len(a.shown) > 0 {
		r.Verbatim(cmdline.OneLine(a.where), strings.Join(a.shown, "\n"))
	}
	r.Beginning("Prompt", prompt, shownPrompt, all)
	r.Beginning("Reply", reply, shownPrompt, all)
	r.Line("")
	r.Field("Date", s.dates.Long(s.now, t.At))
	r.Field("By", by)
	r.Field("Agent", strings.TrimSpace(t.Agent+" "+t.Model))
	for _, other := range a.others {
		r.Field("Or", other.After().String()+" "+other.Prompt)
	}
	if a.unsure && len(a.others) == 0 {
		r.Field("Or", "somebody who worked beside it")
	}
	for _, b := range a.landed {
		r.Field("Landed", s.commit(b))
	}
	for _, later := range a.later {
		by, err := s.roll.By(s.c.Context, later)
		if err != nil {
			return err
		}
		if by = "[" + by + "] "; by == "["+trust.Clone+"] " {
			by = ""
		}
		r.Field("Later", later.After().String()+" "+by+later.Prompt)
	}
	if a.more > 0 {
		r.Field("Later", fmt.Sprintf("and %d more", a.more))
	}
	if err := r.Flush(); err != nil {
		return err
	}
	if a.change != nil {
		err = s.hunks(a.change)
	} else {
		err = s.own(t)
	}
	return cmp.Or(err, s.next(steps(t)))
}

// commit describes the commit of a line.
func (s *shower) commit(b gitdiff.Blamed) string {
	if b.Commit.IsZero() {
		return "not committed yet"
	}
	return fmt.Sprintf("%s %s (%s, %s)", b.Commit.String()[:8], b.In.Summary, b.In.Author, s.dates.Ago(s.now, b.In.At))
}

func (s *shower) hunks(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	patch := "\n" + strings.Join(lines, "\n") + "\n"
	if cmdline.Columns(s.out) == 0 {
		_, err := fmt.Fprint(s.out, patch)
		return err
	}
	d := cmdline.NewDiff(s.out)
	_, err := d.Write([]byte(patch))
	return cmp.Or(err, d.Flush())
}

type step struct{ command, about string }

func steps(t *turns.Turn) []step {
	name := t.After().String()
	return []step{
		{"git agent-turn show --conversation " + name, "what was said and done"},
		{"git agent-fork " + name, "go on from there"},
		{"git agent-turn revert " + name, "take its change out"},
	}
}

const textIndent = "    "

func (s *shower) next(list []step) error {
	out := bufio.NewWriter(s.out)
	fmt.Fprintln(out, "\nNext")
	width := 0
	for _, step := range list {
		width = max(width, cmdline.Width(step.command))
	}
	for _, step := range list {
		about := "  # " + step.about
		if columns := cmdline.Columns(s.out); columns > 0 && len(textIndent)+width+cmdline.Width(about) > columns {
			fmt.Fprintln(out, textIndent+step.command) // one line, to be copied
			continue
		}
		if cmdline.Colour(s.out) {
			about = cmdline.Dim.Paint(about)
		}
		fmt.Fprintln(out, textIndent+pad(step.command, width)+about)
	}
	return out.Flush()
}

// byHand prints what git knows of lines that no turn wrote.
func (w *whys) byHand(a *answer, b gitdiff.Blamed) error {
	title := "not committed yet, and of no turn"
	if !b.Commit.IsZero() {
		title = "commit " + b.Commit.String()
	}
	r := cmdline.NewRecord(w.out, title, len("Running:"))
	if a.running != nil {
		r.Field("Running", a.running.ID().String()+", by which it may have been written: "+a.running.Open.Prompt)
	} else if !b.Commit.IsZero() {
		r.Field("Subject", b.In.Summary)
		r.Field("Author", b.In.Author+" <"+b.In.Email+">")
		r.Field("Date", w.dates.Long(w.now, b.In.At))
		r.Line("No turn that is known wrote it.")
	}
	r.Verbatim(cmdline.OneLine(a.where), strings.Join(a.shown, "\n"))
	if err := r.Flush(); err != nil {
		return err
	}
	if b.Commit.IsZero() {
		return nil
	}
	return w.next([]step{{"git show " + b.Commit.String()[:12], "the whole commit"}})
}

type whyTurn struct {
	Mission record.ID      `json:"mission"`
	Turn    int            `json:"turn"`
	At      time.Time      `json:"at"`
	Outcome record.Outcome `json:"outcome"`
	Agent   string         `json:"agent,omitempty"`
	Model   string         `json:"model,omitempty"`
	Session string         `json:"session,omitempty"`
	By      string         `json:"by"`
	Prompt  string         `json:"prompt,omitempty"`
	Reply   string         `json:"reply,omitempty"`
}

type whyCommit struct {
	Commit  object.Hash `json:"commit"`
	Summary string      `json:"summary"`
	Author  string      `json:"author"`
	At      time.Time   `json:"at"`
}

type whyLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A whyAnswer is an answer of why --json.
type whyAnswer struct {
	Path        string        `json:"path"` // from the top
	Lines       []whyLine     `json:"lines"`
	Turn        *whyTurn      `json:"turn,omitempty"` // nil if no turn wrote them
	Confidence  string        `json:"confidence,omitempty"`
	Others      []*blamedTurn `json:"others,omitempty"`
	Change      string        `json:"change,omitempty"`
	Commits     []whyCommit   `json:"commits,omitempty"`     // that have them
	Uncommitted bool          `json:"uncommitted,omitempty"` // some are in no commit
	Running     string        `json:"running,omitempty"`     // the running turn that may have written them
	Later       []*blamedTurn `json:"later,omitempty"`
	Next        []string      `json:"next,omitempty"`
}

func (a *answer) json(s *shower, path string, group []blame.Line) (*whyAnswer, error) {
	object := &whyAnswer{Path: path}
	for _, l := range group {
		object.Lines = append(object.Lines, whyLine{l.Blame.Number, l.Text})
	}
	for _, b := range a.landed {
		if b.Commit.IsZero() {
			object.Uncommitted = true
		} else {
			object.Commits = append(object.Commits, whyCommit{b.Commit, b.In.Summary, b.In.Author, b.In.At})
		}
	}
	if a.running != nil {
		object.Running = a.running.ID().String()
	}
	t := a.turn
	if t == nil {
		return object, nil
	}
	by, err := s.roll.By(s.c.Context, t)
	if err != nil {
		return nil, err
	}
	prompt, reply := turns.Words(s.c.Context, s.w.Repo, t)
	object.Turn = &whyTurn{t.In(), t.Turn, t.At, t.Outcome, t.Agent, t.Model, t.Session, by, prompt, reply}
	object.Confidence = confidence(a.unsure)
	for _, t := range a.others {
		object.Others = append(object.Others, asBlamed(t))
	}
	for _, t := range a.later {
		object.Later = append(object.Later, asBlamed(t))
	}
	if len(a.change) > 0 {
		object.Change = strings.Join(a.change, "\n") + "\n"
	}
	for _, step := range steps(t) {
		object.Next = append(object.Next, step.command)
	}
	return object, nil
}
