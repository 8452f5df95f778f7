package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/review"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func summaryCommand() *cli.Command {
	return &cli.Command{
		Name:      "summary",
		Usage:     "print what agents did in a range of commits, as Markdown for a pull request",
		UsageText: "git agent-turn summary [--no-prompts] [--full] [--github | --gitlab | --json] [<range>]",
		Description: "Without a range it is about the commits that HEAD has, and the branch that it is to be merged into has not. " +
			"Nothing is sent anywhere.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "no-prompts", Usage: "without prompts and titles"},
			&cli.BoolFlag{Name: "full", Usage: "look at all files, however many"},
			&cli.BoolFlag{Name: "github", Usage: "fit for a comment on GitHub, and for the summary of a step there"},
			&cli.BoolFlag{Name: "gitlab", Usage: "fit for a comment on GitLab"},
			command.JSONFlag(),
		},
		BashComplete: command.First(completeRevs),
		Action:       command.Paged(cmdline.OptionalArg("range", summarize)),
	}
}

// A forge is where a summary is to be shown; none is any, and without a limit.
type forge struct {
	name string
	most int // bytes of a comment, which are at least as many as characters
}

// forges are those with a flag of their own. Their limits are 65,536 and 1,000,000
// characters of a comment; a step's summary on GitHub may have 1 MiB.
var forges = []forge{{"github", 65_000}, {"gitlab", 999_000}}

func summarize(c *cli.Context) (err error) {
	var at forge
	for _, f := range append(forges, forge{name: "json"}) {
		if !c.Bool(f.name) {
			continue
		}
		if at.name != "" {
			return cmdline.Usagef("--%s and --%s exclude each other", at.name, f.name)
		}
		at = f
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	r, err := summaryRange(c, w.Repo, c.Args().First())
	if err != nil {
		return err
	}
	if r.count == 0 && at.most == 0 { // a forge has requests without a commit
		return cmdline.Hint(cmdline.NotFoundf("no commit in %s", r.name), rangeHint)
	}
	l, err := newLander(c, w)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, l.close()) }()
	progress := l.progress()
	defer progress.Stop()
	s := &summarizer{lander: l, span: r, prompts: !c.Bool("no-prompts")}
	if err := s.collect(); err != nil {
		return err
	}
	progress.Stop()
	if c.Bool("json") {
		return s.json()
	}
	_, err = c.App.Writer.Write([]byte(s.fitting(at)))
	return err
}

// fitting returns the summary with as many turns as fit, roughly.
func (s *summarizer) fitting(at forge) string {
	most := maxTurns
	for {
		text := s.markdown(at, most)
		if at.most == 0 || len(text) <= at.most || most == 0 {
			return text
		}
		most /= 2
	}
}

// A span is the range that a summary covers.
type span struct {
	name  string // as git takes it, and people know it
	since object.Hash
	tip   object.Hash
	base  object.Hash // the merge base; zero if there is none
	from  time.Time
	until time.Time
	count int // of commits
}

// summaryRange reads a range: a..b, a...b, or a alone for a..HEAD. The default
// is what HEAD has and the branch that it came from has not.
func summaryRange(c *cli.Context, repo *git.Repo, name string) (r span, err error) {
	if name == "" {
		if _, err := headCommit(c.Context, repo); err != nil {
			return r, err
		}
		if name, err = likelyBase(c, repo); err != nil {
			return r, err
		}
		if name == "" {
			return r, cmdline.Hint(errNoBase, rangeHint)
		}
	}
	first, second, isRange := strings.Cut(strings.Replace(name, "...", "..", 1), "..")
	if first == "" && isRange {
		first = "HEAD"
	}
	second = cmp.Or(second, "HEAD")
	r.name = first + ".." + second
	for _, end := range []struct {
		rev string
		to  *object.Hash
	}{{first, &r.since}, {second, &r.tip}} {
		commit, err := repo.Resolve(c.Context, end.rev)
		if errors.Is(err, git.ErrNotFound) {
			return r, cmdline.Hint(cmdline.NotFoundf("no commit %q", end.rev), "list the commits with: git log --oneline")
		}
		if err != nil {
			return r, err
		}
		*end.to = commit
	}
	if r.base, err = repo.MergeBase(c.Context, r.since, r.tip); err != nil {
		return r, err
	}
	if r.count, err = repo.Count(c.Context, r.since, r.tip); err != nil {
		return r, err
	}
	return r, nil
}

const rangeHint = "name a range, as in: git agent-turn summary HEAD^..HEAD"

// likelyBase returns the branch that HEAD's commits will be merged into: its
// upstream, unless that is the same branch at a remote, or else the default
// branch. It returns "" if there is none.
func likelyBase(c *cli.Context, repo *git.Repo) (string, error) {
	branch, upstream, err := repo.Upstream(c.Context)
	if err != nil {
		return "", err
	}
	own := strings.TrimPrefix(branch, "refs/heads/")
	itself := upstream != "" && strings.HasPrefix(upstream, "refs/remotes/") && strings.HasSuffix(upstream, "/"+own)
	names := []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}
	if upstream != "" && !itself {
		names = []string{upstream}
	} else if upstream != "" {
		names = append(names, upstream)
	}
	for _, name := range names {
		if name == branch {
			continue
		}
		if _, err := repo.Resolve(c.Context, name); err == nil {
			for _, prefix := range []string{"refs/heads/", "refs/remotes/"} {
				name = strings.TrimPrefix(name, prefix)
			}
			return name, nil
		} else if !errors.Is(err, git.ErrNotFound) {
			return "", err
		}
	}
	return "", nil
}

var errNoBase = cmdline.Usagef("there is nothing to compare HEAD with: it has no upstream, and there is no other branch main or master")

type summarizer struct {
	*lander
	span
	prompts bool

	sum      *blame.Contributions
	landed   map[*turns.Turn]*blame.Contribution
	missions []*blame.Prompts
	forks    []*blame.Prompts
	marks    map[record.ID]*review.Mark // of missions and forks
	restores []*turns.State
	output   int64
	context  int64
}

func (s *summarizer) collect() (err error) {
	q := blame.Landing{Commit: s.tip, Since: s.since, Base: s.base}
	if s.sum, err = s.contributions(q, s.c.Bool("full")); err != nil {
		return err
	}
	if s.from, s.until, err = s.h.Dates(s.base, s.tip); err != nil {
		return err
	}
	if s.missions, s.forks, err = s.h.Prompts(s.sum, s.from, s.until); err != nil {
		return err
	}
	s.landed = make(map[*turns.Turn]*blame.Contribution)
	for _, m := range s.missions {
		for _, t := range m.Turns {
			s.landed[t] = s.of(t)
			s.output += t.Output
			s.context = max(s.context, t.Context)
		}
		if err := s.saved(m); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.restores, func(a, b *turns.State) int { return a.At.Compare(b.At) })
	return s.readMarks()
}

func (s *summarizer) readMarks() error {
	objects := s.w.Repo.Objects(s.c.Context)
	defer objects.Close()
	s.marks = make(map[record.ID]*review.Mark)
	for _, m := range slices.Concat(s.missions, s.forks) {
		l, err := ledger.Open(s.c.Context, s.w.Repo, objects, m.Mission.ID)
		if err != nil {
			return err
		}
		s.marks[l.ID] = review.Of(s.c.Context, s.w, objects, l)
	}
	return nil
}

// unreviewed returns a mission's turns that nobody has reviewed, and names the
// others, if there are any.
func (s *summarizer) unreviewed(m *blame.Prompts) (list []*turns.Turn, others string) {
	var numbers []int
	for _, t := range m.Turns {
		if t.Turn > s.marks[m.Mission.ID].Last() {
			list = append(list, t)
		} else {
			numbers = append(numbers, t.Turn)
		}
	}
	switch len(numbers) {
	case 0:
	case 1:
		others = "Turn "
	default:
		others = "Turns "
	}
	return list, others + ledger.RangesOf(numbers...).String()
}

// of returns what a turn contributed, or nil.
func (s *summarizer) of(t *turns.Turn) *blame.Contribution {
	for _, c := range s.sum.Turns {
		if c.Turn.ID() == t.ID() && c.Turn.At.Equal(t.At) && c.Turn.Code == t.Code {
			return c
		}
	}
	return nil
}

// saved finds states saved before a restore, revert or undo.
func (s *summarizer) saved(m *blame.Prompts) error {
	states, err := turns.Saved(s.c.Context, s.w.Repo, m.Mission.ID)
	if err != nil {
		return err
	}
	first, last := m.Turns[0].Before().At.Truncate(time.Second), m.Turns[len(m.Turns)-1].At
	for _, state := range states {
		if state.At.Before(first) || state.At.After(last) && state.At.After(s.until) || strings.HasPrefix(state.Why, "before turn ") {
			continue
		}
		switch _, err := state.Usable(s.c.Context, s.w); {
		case errors.Is(err, workspace.ErrUntrusted):
		case err != nil:
			return err
		default:
			s.restores = append(s.restores, state)
		}
	}
	return nil
}

// maxSaid is how many runes of a prompt a summary quotes.
const maxSaid = 200

// asQuoted returns the first line of a prompt as Markdown.
func asQuoted(prompt string) string {
	for line := range strings.Lines(prompt) {
		if line = strings.TrimSpace(line); line != "" {
			return cmdline.Markdown(ledger.Head(line, maxSaid))
		}
	}
	return ""
}

// Bounds of the lists.
const (
	maxTurns    = 500
	maxRestores = 20
)

// markdown returns the summary with at most so many turns, and as many forks.
func (s *summarizer) markdown(at forge, most int) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What agents did in %s\n\n", cmdline.Markdown(s.name))
	s.figures(&b)
	s.asked(&b, at, most)
	s.gone(&b, most)
	if s.output > 0 || s.context > 0 {
		fmt.Fprintf(&b, "\n## Tokens\n\n%d written by models; the fullest context had %d.\n", s.output, s.context)
	}
	return b.String()
}

func (s *summarizer) figures(b *bytes.Buffer) {
	fmt.Fprint(b, "| Lines by | Turns | Added | Removed |\n| --- | ---: | ---: | ---: |\n")
	left := s.sum.Removed
	for _, share := range shares(s.sum) {
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", cmdline.Markdown(share.agent), share.turns, share.lines, share.removed)
		left -= share.removed
	}
	fmt.Fprintf(b, "| by hand, or not known | | %d | %d |\n", s.sum.Hand, max(0, left))
	fmt.Fprintf(b, "\n%s, %s", cmdline.Plural(s.count, "commit"), cmdline.Plural(s.sum.Files, "file"))
	if s.sum.Binary > 0 {
		fmt.Fprintf(b, ", %d of them without lines", s.sum.Binary)
	}
	b.WriteString(".\n")
	if text := unseen(s.sum); text != "" {
		fmt.Fprintf(b, "\n%s.\n", text)
	}
	if len(s.missions) == 0 {
		b.WriteString("\nNo turn of an agent is known to have contributed.\n")
	}
}

func (s *summarizer) asked(b *bytes.Buffer, at forge, most int) {
	if len(s.missions) > 0 {
		b.WriteString("\n## What was asked\n")
	}
	left := 0
	for _, m := range s.missions {
		if most == 0 {
			left += len(m.Turns)
			continue
		}
		list, reviewed := s.unreviewed(m)
		end := s.heading(b, at, m, len(list) == 0)
		if reviewed != "" {
			most--
			if len(list) > 0 {
				fmt.Fprintf(b, "- %s: %s\n", reviewed, s.reviewer(m))
			}
		}
		fit := min(len(list), most)
		most -= fit
		left += len(list) - fit
		for _, t := range list[:fit] {
			prompt := ""
			if s.prompts {
				prompt = asQuoted(t.Prompt) + " "
			}
			fmt.Fprintf(b, "- Turn %d: %s(%s)\n", t.Turn, prompt, strings.Join(append([]string{s.fate(t)}, checkedOf(t)...), ", "))
		}
		b.WriteString(end)
	}
	if left > 0 {
		fmt.Fprintf(b, "\n... and %s\n", cmdline.Plural(left, "more turn"))
	}
}

// reviewer says in Markdown who has reviewed turns of a mission.
func (s *summarizer) reviewer(m *blame.Prompts) string {
	return "reviewed by " + cmdline.Markdown(s.marks[m.Mission.ID].Name())
}

// heading begins the list of a mission's turns, folded for a forge, and returns
// what ends it; of a mission that is reviewed there is no list. What others wrote
// is no part of an element of HTML: what is escaped for Markdown would have an
// effect there.
func (s *summarizer) heading(b *bytes.Buffer, at forge, m *blame.Prompts, reviewed bool) (end string) {
	title, count := "", cmdline.Plural(len(m.Turns), "turn")
	if s.prompts {
		title = asQuoted(m.Mission.Title)
	}
	level, after := "", strings.TrimSuffix(": "+title, ": ")
	if at.name == "" {
		level = "### "
	}
	switch {
	case reviewed:
		fmt.Fprintf(b, "\n%sMission %s, %s, %s%s\n", level, m.Mission.ID, count, s.reviewer(m), after)
		return ""
	case at.name == "":
		fmt.Fprintf(b, "\n%sMission %s%s\n\n", level, m.Mission.ID, after)
		return ""
	}
	fmt.Fprintf(b, "\n<details><summary>Mission %s, %s</summary>\n\n", m.Mission.ID, count)
	if title != "" {
		fmt.Fprintf(b, "Title: %s\n\n", title)
	}
	return "\n</details>\n"
}

// checkedOf says what is known of a turn's checks, if anything.
func checkedOf(t *turns.Turn) (parts []string) {
	if word := t.Checked(); word != "" {
		parts = append(parts, word)
	}
	if t.Unproven {
		parts = append(parts, turns.UnprovenText)
	}
	return parts
}

func (s *summarizer) fate(t *turns.Turn) string {
	var parts []string
	c := s.landed[t]
	if c != nil && c.Files > 0 {
		if c.Lines > 0 {
			parts = append(parts, cmdline.Plural(c.Lines, "line"))
		}
		if c.Removed > 0 {
			parts = append(parts, fmt.Sprintf("%d removed", c.Removed))
		}
		if len(parts) == 0 {
			parts = append(parts, cmdline.Plural(c.Files, "file"))
		}
		return strings.Join(parts, ", ")
	}
	switch {
	case c != nil && c.Evidence.Trailer:
		parts = append(parts, "named by a commit")
	case t.Change().Files > 0:
		parts = append(parts, "nothing of it is left here")
	default:
		parts = append(parts, "changed nothing")
	}
	if t.Outcome != record.Done {
		parts = append(parts, cmdline.Markdown(string(t.Outcome)))
	}
	return strings.Join(parts, ", ")
}

func (s *summarizer) gone(b *bytes.Buffer, most int) {
	if len(s.forks) == 0 && len(s.restores) == 0 {
		return
	}
	b.WriteString("\n## What was given up\n\n")
	for i, f := range s.forks {
		if i == most {
			fmt.Fprintf(b, "- ... and %s\n", cmdline.Plural(len(s.forks)-i, "more fork"))
			break
		}
		title := ""
		if s.prompts && f.Mission.Title != "" {
			title = ": " + asQuoted(f.Mission.Title)
		}
		from := f.Mission.ForkedFrom.String()
		if f.Mission.ForkedFrom.Turn == 0 {
			from = string(f.Mission.ForkedFrom.Mission)
		}
		fmt.Fprintf(b, "- Fork %s of %s%s (%s, nothing of it is here)\n", f.Mission.ID, from, title, cmdline.Plural(len(f.Turns), "turn"))
	}
	for i, state := range s.restores {
		if i == maxRestores {
			fmt.Fprintf(b, "- ... and %d more\n", len(s.restores)-i)
			break
		}
		what, _ := strings.CutPrefix(state.Why, "before ")
		fmt.Fprintf(b, "- %s (mission %s)\n", cmdline.Markdown(what), state.In)
	}
}

func (s *summarizer) json() error {
	type markJSON struct {
		Turn int       `json:"turn"`
		At   time.Time `json:"at"`
		By   string    `json:"by"`
	}
	type asked struct {
		Mission  record.ID      `json:"mission"`
		Title    string         `json:"title,omitempty"`
		From     *record.TurnID `json:"forked_from,omitempty"`
		Reviewed *markJSON      `json:"reviewed,omitempty"`
		Turns    []turnJSON     `json:"turns"`
	}
	type restore struct {
		Mission record.ID `json:"mission"`
		State   string    `json:"state"`
		At      time.Time `json:"at"`
		Why     string    `json:"why"`
	}
	lists := [2][]asked{{}, {}}
	for i, list := range [2][]*blame.Prompts{s.missions, s.forks} {
		for _, m := range list {
			one := asked{Mission: m.Mission.ID, From: m.Mission.ForkedFrom, Turns: []turnJSON{}}
			if s.prompts {
				one.Title = m.Mission.Title
			}
			mark := s.marks[m.Mission.ID]
			if mark != nil {
				one.Reviewed = &markJSON{mark.Turn, mark.At.UTC(), mark.Reviewer()}
			}
			for _, t := range m.Turns {
				c := s.landed[t]
				if c == nil {
					c = &blame.Contribution{Turn: t}
				}
				j, err := s.turnJSON(c, s.prompts)
				if err != nil {
					return err
				}
				j.Reviewed = t.Turn <= mark.Last()
				one.Turns = append(one.Turns, j)
			}
			lists[i] = append(lists[i], one)
		}
	}
	restores := []restore{}
	for _, r := range s.restores {
		restores = append(restores, restore{r.In, r.String(), r.At.UTC(), r.Why})
	}
	return cmdline.PrintJSON(s.c.App.Writer, struct {
		Kind     string      `json:"kind"`
		Range    string      `json:"range"`
		Since    object.Hash `json:"since"`
		Commit   object.Hash `json:"commit"`
		Commits  int         `json:"commits"`
		Lines    int         `json:"lines"`
		Hand     int         `json:"hand"`
		Removed  int         `json:"removed"`
		Files    int         `json:"files"`
		Binary   int         `json:"binary,omitempty"`
		Unseen   int         `json:"unseen,omitempty"`
		Missions []asked     `json:"missions"`
		Forks    []asked     `json:"forks"`
		Restores []restore   `json:"restores"`
		Context  int64       `json:"context"`
		Output   int64       `json:"output"`
	}{
		"summary", s.name, s.since, s.tip, s.count, s.sum.Lines, s.sum.Hand, s.sum.Removed, s.sum.Files, s.sum.Binary, s.sum.Unseen,
		lists[0], lists[1], restores, s.context, s.output,
	})
}
