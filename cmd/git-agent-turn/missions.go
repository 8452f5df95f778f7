package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/finisher"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

func missionsCommand() *cli.Command {
	return &cli.Command{
		Name:      "missions",
		Usage:     "list the missions of the repository, newest first",
		UsageText: "git agent-turn missions [--tree] [--archived] [--everywhere] [--json]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "tree", Usage: "below each mission, its forks"},
			&cli.BoolFlag{Name: "archived", Usage: "those in the archive, and no others; in the tree, those too"},
			command.EverywhereFlag(),
			command.JSONFlag(),
		},
		Action: cmdline.NoArgs(command.Paged(command.Everywhere(missions))),
	}
}

func missions(c *cli.Context) error {
	switch {
	case c.Bool("tree"):
		return tree(c)
	case c.Bool("archived"):
		return archived(c)
	}
	lines, err := readMissions(c, !c.Bool("json"))
	if lines == nil {
		return err
	}
	if c.Bool("json") {
		out := bufio.NewWriterSize(c.App.Writer, 1<<16)
		for i := range lines.list {
			if err := printObject(c, out, lines.json(i)); err != nil {
				return err
			}
		}
		return cmp.Or(out.Flush(), err)
	}
	table := newMissionTable()
	for i, m := range lines.list {
		table.Row(lines.row(i, string(m.ID))...)
	}
	return cmp.Or(table.Print(c.App.Writer), err)
}

// printObject prints one object of many, to be flushed at last. One of each
// repository is a piece of output by itself.
func printObject(c *cli.Context, out *bufio.Writer, object any) error {
	err := cmdline.PrintJSON(out, object)
	if err == nil && c.Bool("everywhere") {
		err = out.Flush()
	}
	return err
}

// newMissionTable returns the table of missions and of their tree. A deep fork
// loses some of its indentation there, not of its id.
func newMissionTable() *cmdline.Table {
	return cmdline.NewTable(
		cmdline.Column{Name: "MISSION", Style: cmdline.Yellow, Key: true, Min: 16, Path: true},
		cmdline.Column{Styles: lookOfMark},
		cmdline.Column{Name: "WHEN", Right: true, Style: cmdline.Dim, Min: 10},
		cmdline.Column{Name: "TURNS", Right: true, Min: 6, Spare: true},
		cmdline.Column{Name: "FROM", Style: cmdline.Yellow, Spare: true, Min: 8},
		cmdline.Column{Name: "CHANGE", Right: true, Spare: true},
		cmdline.Column{Name: "CHECKS", Style: cmdline.Dim, Spare: true}, // what those of the last turn come to
		cmdline.Column{Name: "OUTPUT", Right: true, Style: cmdline.Dim, Spare: true},
		cmdline.Column{Name: "INPUT", Right: true, Style: cmdline.Dim, Spare: true},
		cmdline.Column{Name: "CONTEXT", Right: true, Style: cmdline.Dim, Min: 7, Spare: true},
		cmdline.Column{Name: "TITLE", Min: 30},
		cmdline.Column{Name: "LAST PROMPT", Min: 12, Spare: true},
		cmdline.Column{Name: "BRANCH", Style: cmdline.Cyan, Min: 12, Spare: true},
		cmdline.Column{Name: "WORKTREE", Min: 12, Spare: true},
	)
}

// A missionLines holds missions as lists show them.
type missionLines struct {
	list  []turns.MissionLine
	by    []string        // who wrote each newest event
	done  []*finishedJSON // where each mission's work is; nil if unfinished
	grown map[record.ID]*turns.ForkStats
	short map[record.ID]record.ID // abbreviated ids
	live  []turns.Live
	tops  map[string]string // of live sessions' worktrees, by git directory
	now   time.Time
	dates cmdline.Dates
}

// readMissions returns the readable missions, the newest first, or if together
// with all forks of a turn at the newest one's place. The error may report
// unreadable missions, or that there are none.
func readMissions(c *cli.Context, together bool) (*missionLines, error) {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return nil, err
	}
	lines := &missionLines{now: time.Now()}
	var unread error
	if c.Bool("archived") {
		tips, err := ledger.ListAll(c.Context, w.Repo)
		if tips == nil {
			return nil, err
		}
		lines.list, unread = turns.Lines(c.Context, w.Repo, tips)
		unread = cmp.Or(err, unread)
	} else {
		tips, err := ledger.List(c.Context, w.Repo)
		if err != nil {
			return nil, err
		}
		lines.list, unread = turns.Listed(c.Context, w, tips)
	}
	if lines.live, err = command.Live(c.Context, w, lines.now); err != nil {
		return nil, err
	}
	lines.tops = topsOf(c.Context, w.Repo, lines.live)
	begin := beginning(lines.live)
	if !c.Bool("json") { // they are no records
		lines.list = append(lines.list, begin...)
		slices.SortStableFunc(lines.list, func(a, b turns.MissionLine) int { return b.Newest().Compare(a.Newest()) })
	}
	if len(lines.list)+len(begin) == 0 && unread == nil {
		return nil, command.NoMission(c.Context, w)
	}
	if together {
		lines.list = turns.Together(lines.list)
	}
	objects := w.Repo.Objects(c.Context)
	defer objects.Close()
	var known []turns.MissionLine
	lines.by = make([]string, len(lines.list))
	for i, m := range lines.list {
		if m.Tip.IsZero() { // it belongs to a session of this clone
			lines.by[i] = trust.Clone
			continue
		}
		if lines.by[i], err = w.Writer(c.Context, objects, m.ID, m.Tip); err != nil {
			lines.by[i], unread = trust.Unknown, cmp.Or(unread, err)
		}
		if lines.by[i] != trust.Unknown { // an untrusted one may have millions of paths
			known = append(known, m)
		}
	}
	w.NoteSeen()
	if command.ByAgent(c.Context) {
		lines.trusted(c)
	}
	if lines.done, err = readFinished(c, w, lines.list); err != nil {
		return nil, err
	}
	if lines.grown, err = turns.StatsOfForks(c.Context, w.Repo, known); err != nil {
		return nil, err
	}
	ids := make([]record.ID, len(lines.list))
	for i, m := range lines.list {
		ids[i] = m.ID
	}
	lines.short = record.Abbreviate(ids)
	if lines.dates, err = command.Dates(c, w); err != nil {
		return nil, err
	}
	return lines, unread
}

// trusted leaves out what no agent is told of, and says so.
func (l *missionLines) trusted(c *cli.Context) {
	var list []turns.MissionLine
	var by []string
	var untrusted []record.ID
	for i, m := range l.list {
		if l.by[i] == trust.Unknown {
			untrusted = append(untrusted, m.ID)
			continue
		}
		list, by = append(list, m), append(by, l.by[i])
	}
	l.list, l.by = list, by
	tellUntrusted(c, untrusted)
}

// A finishedJSON says where the work of a mission is.
type finishedJSON struct {
	*record.Finish
	Lost bool `json:"lost,omitempty"` // no branch has that commit now
}

func (f *finishedJSON) String() string {
	text := fmt.Sprintf("finished in %.7s", f.Commit)
	if f.Lost {
		text += ", in no branch"
	}
	return text
}

// readFinished returns where the missions' work is. If a commit of the user
// finished one, that is read from the trailers.
func readFinished(c *cli.Context, w *workspace.Workspace, list []turns.MissionLine) ([]*finishedJSON, error) {
	done := make([]*finishedJSON, len(list))
	unnoted := finisher.Unnoted(c.Context, w, list)
	var commits []object.Hash
	for i, m := range list {
		if f := m.Finished(); f != nil {
			done[i] = &finishedJSON{Finish: f}
			commits = append(commits, f.Commit)
		}
		if f, ok := unnoted[m.ID]; ok {
			done[i] = &finishedJSON{Finish: f}
		}
	}
	lost, err := turns.Lost(c.Context, w.Repo, commits...)
	for _, d := range done {
		if d != nil {
			d.Lost = lost[d.Commit]
		}
	}
	return done, err
}

// beginning returns missions with a running first turn and no recorded one.
func beginning(live []turns.Live) []turns.MissionLine {
	var list []turns.MissionLine
	for _, s := range live {
		if s.First && !slices.ContainsFunc(list, func(l turns.MissionLine) bool { return l.ID == s.Mission }) {
			list = append(list, turns.MissionLine{Mission: &record.Mission{ID: s.Mission, Title: s.Open.Prompt, Created: s.Open.Started}})
		}
	}
	return list
}

// row returns the row of the i-th mission under the given name.
func (l *missionLines) row(i int, name string) []string {
	m := l.list[i]
	title, context, checked, last, from, change := cmdline.OneLine(m.Title), "", "", "", "", ""
	input, output := spentCells(m.Mission)
	if f := m.ForkedFrom; f != nil {
		from = string(cmp.Or(l.short[f.Mission], f.Mission))
		if f.Turn > 0 { // unknown for a side of a mission that went on in two clones
			from += "/" + strconv.Itoa(f.Turn)
		}
	}
	if m.Last != nil {
		context = cmdline.Count(m.Last.Context)
		if last = cmdline.OneLine(m.Last.Prompt); last == title {
			last = ""
		}
		checked = m.Last.Checked
	}
	if g := l.grown[m.ID]; g != nil {
		if output == "" {
			output = cmdline.Count(g.Output)
		}
		if g.Size != nil {
			change = fmt.Sprintf("+%d -%d", g.Size.Insertions, g.Size.Deletions)
		}
	}
	if text := command.Adopted(m.Adopted, m.Turns); text != "" {
		title = "[" + text + "] " + title
	}
	if l.done[i] != nil {
		title = "[" + l.done[i].String() + "] " + title
	}
	if l.by[i] != trust.Clone {
		title = "[" + l.by[i] + "] " + title
	}
	return []string{
		name, markOfMission(turns.ActivityOf(m.ID, l.live)), l.dates.Short(l.now, m.Newest()), strconv.Itoa(m.Turns), from, change, checked, output, input, context,
		title, last, strings.TrimPrefix(m.Branch, "refs/heads/"), l.places(m.ID),
	}
}

// places says where the sessions of a mission live, and how many do in one.
func (l *missionLines) places(id record.ID) string {
	var list []string
	for _, s := range l.live {
		place := inHome(l.tops[s.Worktree])
		if s.Mission != id || place == "" {
			continue
		}
		if len(s.With) > 0 {
			place += fmt.Sprintf(" (%d sessions)", len(s.With)+1)
		}
		if !slices.Contains(list, place) {
			list = append(list, place)
		}
	}
	return strings.Join(list, ", ")
}

// topsOf returns where the worktrees of live sessions are, by git directory.
func topsOf(ctx context.Context, repo *git.Repo, live []turns.Live) map[string]string {
	tops := make(map[string]string)
	for _, l := range live {
		if _, ok := tops[l.Worktree]; !ok && l.Worktree != "" {
			tops[l.Worktree] = repo.TopOf(ctx, l.Worktree)
		}
	}
	return tops
}

// inHome shortens a path in the home directory, as a shell writes it.
func inHome(path string) string {
	home, err := os.UserHomeDir()
	if name, ok := git.Within(home, path); ok && err == nil {
		return filepath.Join("~", name)
	}
	return path
}

// A missionJSON is a line of JSON: mission.json, its progress and its writer.
type missionJSON struct {
	*record.Mission
	Finished *finishedJSON `json:"finished,omitempty"` // not an earlier one, if it went on since
	*growthJSON
	Turns int       `json:"turns"`
	At    time.Time `json:"at,omitzero"` // of the last turn
	By    string    `json:"by"`

	Checked string `json:"checked,omitempty"` // the word for the checks of the last turn

	Live []liveJSON `json:"live,omitempty"`
}

// A liveJSON is a session that lives.
type liveJSON struct {
	Session  string   `json:"session"`
	Agent    string   `json:"agent,omitempty"`
	Running  bool     `json:"running"` // a turn
	Worktree string   `json:"worktree,omitempty"`
	With     []string `json:"with,omitempty"` // sessions in the same worktree
}

// A growthJSON says what a fork's own turns have changed.
type growthJSON struct {
	State      turns.Activity `json:"state"`
	Files      *int           `json:"files,omitempty"` // with the lines below; missing if unknown
	Insertions *int           `json:"insertions,omitempty"`
	Deletions  *int           `json:"deletions,omitempty"`
	Output     int64          `json:"output"` // tokens that the model wrote
}

func (l *missionLines) json(i int) missionJSON {
	m := l.list[i]
	line := missionJSON{Mission: m.Mission, Finished: l.done[i], Turns: m.Turns, By: l.by[i]}
	if m.Last != nil {
		line.At, line.Checked = m.Last.At, m.Last.Checked
	}
	for _, s := range l.live {
		if s.Mission == m.ID {
			line.Live = append(line.Live, liveJSON{s.Session, s.Agent, s.Open != nil, l.tops[s.Worktree], s.With})
		}
	}
	if g := l.grown[m.ID]; g != nil {
		line.growthJSON = &growthJSON{State: turns.ActivityOf(m.ID, l.live), Output: g.Output}
		if s := g.Size; s != nil {
			line.Files, line.Insertions, line.Deletions = &s.Files, &s.Insertions, &s.Deletions
		}
	}
	return line
}
