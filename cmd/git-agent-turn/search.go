package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/search"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

var searchable = [...]string{"prompt", "reply", "tools", "paths", "agents", "handoffs"}

func searchCommand() *cli.Command {
	return &cli.Command{
		Name:      "search",
		Usage:     "search everything that was said: prompts, replies, tools, paths, handoffs",
		UsageText: "git agent-turn search [--in <place>]... [--since <date>] [-n <k>] [--mission <id> | --everywhere] [--archived] [--trusted] [--regexp] [-i | --json] <word>...",
		Description: "A turn matches that has all words. A word in lower case matches in any case, one with an upper-case letter as it is written. " +
			"The exit status is 3 if nothing matches.",
		Flags: []cli.Flag{
			cmdline.OneOf(cmdline.Repeated(&cli.StringSliceFlag{Name: "in", Usage: "look only in `<place>`: prompt, reply, tools, paths, agents or handoffs; may be repeated"}), searchable[:]...),
			&cli.BoolFlag{Name: "regexp", Aliases: []string{"E"}, Usage: "the words are regular expressions of Go's regexp package"},
			&cli.StringFlag{Name: "since", Aliases: []string{"after"}, Usage: "not older than `<date>`"},
			command.MissionFlag(),
			command.EverywhereFlag(),
			&cli.BoolFlag{Name: "archived", Usage: "archived missions too"},
			command.TrustedFlag(),
			&cli.IntFlag{Name: "max-count", Aliases: []string{"n"}, Usage: "at most `<k>`", DefaultText: "all"},
			command.ChooseFlag(),
			command.JSONFlag(),
		},
		Action: command.Paged(searchAny),
	}
}

func searchAny(c *cli.Context) error {
	for _, flag := range []string{"mission", "interactive"} {
		if c.Bool("everywhere") && c.IsSet(flag) {
			return cmdline.Usagef("--everywhere and --%s exclude each other", flag)
		}
	}
	return command.Everywhere(searchTurns)(c)
}

func searchTurns(c *cli.Context) error {
	s, err := newSearching(c)
	if err != nil {
		return err
	}
	s.objects = s.w.Repo.Objects(c.Context)
	defer s.objects.Close()
	if c.Bool("interactive") {
		return s.choose()
	}
	progress := cmdline.StartProgress(c.App.ErrWriter, func() string { return "searching, " + cmdline.Size(s.turns.Read.Load()) + " so far" })
	defer progress.Stop()
	defer func() { tellUntrusted(c, s.untrusted) }()
	found := 0
	for _, r := range s.results(c.Context) {
		if r == nil {
			continue
		}
		progress.Stop()
		if err := s.print(r); err != nil {
			return err
		}
		if found++; found == c.Int("max-count") {
			return nil
		}
	}
	switch err := s.err(); {
	case err != nil:
		return err
	case found == 0:
		progress.Stop()
		return s.nothing()
	}
	return nil
}

// choose shows the turn that a person chooses among the results.
func (s *searching) choose() error {
	if s.c.Bool("json") {
		return cmdline.Usagef("--interactive and --json exclude each other")
	}
	s.in = func(place string) bool { return place != "handoffs" && s.wanted(place) } // the finder knows turns
	ctx, cancel := context.WithCancel(s.c.Context)
	defer cancel()
	names, written := io.Pipe()
	found := make(chan error, 1)
	go func() {
		n, most := 0, s.c.Int("max-count")
		for _, r := range s.results(ctx) {
			if r == nil {
				continue
			}
			if n++; n == 1 {
				found <- nil
			}
			_, _ = fmt.Fprintln(written, r.id) // the pipe's reader may be gone
			if n == most {
				break
			}
		}
		if n == 0 {
			found <- cmp.Or(s.err(), s.nothing())
		}
		_ = written.Close()
	}()
	if err := <-found; err != nil {
		return err
	}
	name, err := command.Choose(s.c, s.w, "show", names)
	cancel()
	_ = names.Close()
	if err != nil {
		return err
	}
	return show(cmdline.WithArgs(s.c, []string{name}))
}

type searching struct {
	c       *cli.Context
	w       *workspace.Workspace
	turns   *turns.Search
	mission record.ID // empty for all
	tips    map[record.ID]object.Hash
	in      func(place string) bool
	wanted  func(place string) bool // by --in
	dates   cmdline.Dates
	now     time.Time

	objects   *git.Objects
	missions  map[record.ID]*searched
	untrusted []record.ID // missions that are left out
	unread    [2]error    // of turns and of handoffs
}

// A searched is a mission with results.
type searched struct {
	title string
	by    *trust.Writers
}

type result struct {
	id      record.TurnID // or the mission and number of a handoff
	handoff bool
	at      time.Time
	tip     object.Hash // of the mission's ledger
	*search.Matches
}

func newSearching(c *cli.Context) (*searching, error) {
	parse := search.Words
	if c.Bool("regexp") {
		parse = search.Patterns
	}
	query, err := parse(c.Args().Slice())
	if err != nil {
		return nil, cmdline.Usagef("search: %w", err)
	}
	wanted := c.StringSlice("in")
	for _, place := range wanted {
		if !slices.Contains(searchable[:], place) {
			return nil, cmdline.Usagef("--in %q: it is one of %s", place, strings.Join(searchable[:], ", "))
		}
	}
	if c.IsSet("max-count") && c.Int("max-count") < 1 {
		return nil, cmdline.Usagef("-n takes a number from 1 on")
	}
	s := &searching{c: c, now: time.Now(), missions: make(map[record.ID]*searched)}
	s.wanted = func(place string) bool { return len(wanted) == 0 || slices.Contains(wanted, place) }
	s.in = s.wanted
	s.turns = &turns.Search{Query: query, Prompts: s.in("prompt"), Replies: s.in("reply"), Tools: s.in("tools"), Paths: s.in("paths"), Agents: s.in("agents")}
	if s.w, err = command.Workspace(c.Context); err != nil {
		return nil, err
	}
	if s.dates, err = command.Dates(c, s.w); err != nil {
		return nil, err
	}
	if c.IsSet("since") {
		if s.turns.Since, err = command.When(c.Context, s.w.Repo, c.String("since")); err != nil {
			return nil, err
		}
	}
	list := ledger.List
	if c.Bool("archived") {
		list = ledger.ListAll
	}
	if s.tips, err = list(c.Context, s.w.Repo); err != nil {
		return nil, err
	}
	if c.IsSet("mission") {
		if s.mission, err = command.Mission(c.Context, s.w, c.String("mission"), c.App.ErrWriter); err != nil {
			return nil, err
		}
		tip, err := ledger.Tip(c.Context, s.w.Repo, s.mission)
		if errors.Is(err, git.ErrNotFound) {
			return nil, cmdline.Hint(cmdline.NotFoundf("mission %s: %w", s.mission, err), "list the missions with: git agent-turn missions")
		}
		if err != nil {
			return nil, err
		}
		s.tips = map[record.ID]object.Hash{s.mission: tip}
	}
	if c.Bool("trusted") {
		if s.tips, s.untrusted, err = s.w.Part(c.Context, s.tips); err != nil {
			return nil, err
		}
	}
	if s.mission == "" {
		s.turns.Missions = s.tips
	}
	return s, nil
}

// results returns the matching turns and handoffs, the newest first, and a nil
// result for each other one. Read errors are then in unread.
func (s *searching) results(ctx context.Context) iter.Seq2[time.Time, *result] {
	return func(yield func(time.Time, *result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var sources []ledger.Source[*result]
		for i, each := range []func(context.Context, func(time.Time, *result) error) error{s.inTurns, s.inHandoffs} {
			next, stop := iter.Pull2(func(yield func(time.Time, *result) bool) {
				s.unread[i] = each(ctx, func(at time.Time, r *result) error {
					if !yield(at, r) {
						return errEnough
					}
					return nil
				})
			})
			defer stop()
			sources = append(sources, ledger.Source[*result]{At: endOfTime, Next: func() (*result, time.Time, bool) {
				at, r, ok := next()
				return r, at, ok
			}})
		}
		ledger.NewestFirst(sources)(yield)
	}
}

// endOfTime is later than every event.
var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func (s *searching) inTurns(ctx context.Context, f func(time.Time, *result) error) error {
	if len(s.tips) == 0 || !s.in("prompt") && !s.in("reply") && !s.in("tools") && !s.in("paths") && !s.in("agents") {
		return nil
	}
	return s.turns.Each(ctx, s.w, s.mission, func(at time.Time, t *turns.Found) error {
		if t == nil {
			return f(at, nil)
		}
		return f(at, &result{id: record.TurnID{Mission: t.In(), Turn: t.Turn.Turn}, at: t.At, tip: s.tips[t.In()], Matches: t.Matches})
	})
}

func (s *searching) inHandoffs(ctx context.Context, f func(time.Time, *result) error) error {
	if !s.in("handoffs") {
		return nil
	}
	return handoffstore.Search(ctx, s.w, s.tips, s.turns.Query, s.turns.Since, func(at time.Time, h *handoffstore.Hit) error {
		if h == nil {
			return f(at, nil)
		}
		return f(at, &result{id: record.TurnID{Mission: h.In, Turn: h.Number}, handoff: true, at: h.At, tip: h.Tip, Matches: h.Matches})
	})
}

func (s *searching) err() error {
	if err := s.c.Context.Err(); err != nil {
		return err
	}
	return errors.Join(s.unread[:]...)
}

func (s *searching) of(r *result) (*searched, error) {
	m := s.missions[r.id.Mission]
	if m != nil {
		return m, nil
	}
	l, err := ledger.At(s.objects, r.id.Mission, r.tip)
	if err != nil {
		return nil, err
	}
	m = &searched{title: l.Mission.Title}
	if m.by, err = s.w.Writers(s.c.Context, s.objects, l.ID, l.Tip); err != nil {
		return nil, err
	}
	s.missions[l.ID] = m
	return m, nil
}

func (r *result) by(m *searched) string {
	if r.handoff {
		return m.by.Handoff(r.id.Turn)
	}
	return m.by.Turn(r.id.Turn)
}

// nothing returns the error that nothing was found, with advice.
func (s *searching) nothing() error {
	err := cmdline.NotFoundf("nothing matches %q", strings.Join(s.c.Args().Slice(), " "))
	return command.Advise(s.c.Context, s.w, err, "all words have to be in one turn; list the turns with: git agent-turn list --all")
}

func (s *searching) print(r *result) error {
	m, err := s.of(r)
	if err != nil {
		return err
	}
	if s.c.Bool("json") {
		return cmdline.PrintJSON(s.c.App.Writer, r.json(m))
	}
	var b bytes.Buffer
	view := cmdline.NewExcerpts(&b, cmdline.Columns(s.c.App.Writer), cmdline.Colour(s.c.App.Writer))
	name := r.id.String()
	if r.handoff {
		name = "handoff " + name
	}
	title := cmdline.OneLine(m.title)
	if by := r.by(m); by != trust.Clone {
		title = "[" + by + "] " + title
	}
	view.Title(name, s.dates.Short(s.now, r.at), title)
	best := r.Best(maxShown)
	for _, l := range best {
		view.Line(l.Place, l.Text, l.Spans)
	}
	if more := len(r.Lines) + r.More - len(best); more > 0 {
		view.More(more)
	}
	_, err = s.c.App.Writer.Write(b.Bytes())
	return err
}

// maxShown is how many lines of a turn are shown.
const maxShown = 5

func (r *result) json(m *searched) any {
	type match struct {
		Where string `json:"where"`
		Line  string `json:"line"`
	}
	line := struct {
		Mission record.ID `json:"mission"`
		Turn    int       `json:"turn,omitempty"`
		Handoff int       `json:"handoff,omitempty"`
		At      time.Time `json:"at"`
		Title   string    `json:"title"`
		By      string    `json:"by"`
		Matches []match   `json:"matches"`
		More    int       `json:"more,omitempty"`
	}{Mission: r.id.Mission, At: r.at, Title: m.title, By: r.by(m), More: r.More}
	if r.handoff {
		line.Handoff = r.id.Turn
	} else {
		line.Turn = r.id.Turn
	}
	for _, l := range r.Lines {
		line.Matches = append(line.Matches, match{l.Place, l.Text})
	}
	return line
}
