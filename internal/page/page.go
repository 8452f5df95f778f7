package page

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/review"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A Part is something that a page can omit.
type Part string

const (
	Transcript Part = "transcript" // all but prompts and replies
	Code       Part = "code"       // changes of files
	Results    Part = "results"    // of tools
)

// Parts lists all parts.
var Parts = []Part{Transcript, Code, Results}

// A Page is the missions to be written.
type Page struct {
	Workspace *workspace.Workspace
	Missions  []turns.MissionLine // in the order shown
	Without   []Part
	Made      time.Time
}

// A Written reports how writing went.
type Written struct {
	Missions, Turns int
	Unread          error // names records that can't be read
}

// Write writes the page.
func (p *Page) Write(ctx context.Context, to io.Writer) (*Written, error) {
	buffered := bufio.NewWriterSize(to, 1<<16)
	text, err := script()
	if err == nil {
		err = head(buffered, text)
	}
	if err != nil {
		return nil, err
	}
	objects := p.Workspace.Repo.Objects(ctx)
	defer objects.Close()
	w := &writing{
		Page: p, ctx: ctx, objects: objects, packer: packer{w: buffered},
		index: index{Title: "Missions of " + p.repository(), Made: stamp(p.Made), Without: p.Without, Wholes: make(map[string]int)},
		where: make(map[record.TurnID]*line), made: make(map[object.Hash]bool),
	}
	if w.index.Without == nil {
		w.index.Without = []Part{}
	}
	w.index.Contains = p.contains()
	for _, m := range p.Missions {
		if err := w.mission(m); err != nil {
			return nil, err
		}
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(w.index)
	if err == nil {
		err = w.pack("index", append(data, '\n'))
	}
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(foot(buffered, text), buffered.Flush()); err != nil {
		return nil, err
	}
	return &Written{Missions: len(w.index.Missions), Turns: w.turns, Unread: w.unread.Err()}, nil
}

// repository returns the name of the repository's directory.
func (p *Page) repository() string {
	dir := p.Workspace.Repo.CommonDir
	if filepath.Base(dir) == ".git" {
		dir = filepath.Dir(dir)
	}
	return strings.TrimSuffix(filepath.Base(dir), ".git")
}

func (p *Page) without(part Part) bool { return slices.Contains(p.Without, part) }

// contains tells people what the page has and lacks.
func (p *Page) contains() string {
	has, left := []string{"prompts and replies"}, []string(nil)
	for _, part := range []struct {
		part Part
		what string
	}{{Transcript, "conversations"}, {Results, "results of tools"}, {Code, "changes of files"}} {
		switch {
		case part.part == Results && p.without(Transcript):
		case p.without(part.part):
			left = append(left, part.what)
		default:
			has = append(has, part.what)
		}
	}
	text := "It has " + strings.Join(has, ", ")
	if len(left) > 0 {
		text += ", without " + strings.Join(left, ", ")
	}
	return text + ", redacted as they are stored. It loads nothing."
}

// A writing is a page being written.
type writing struct {
	*Page
	ctx     context.Context
	objects *git.Objects
	packer
	index  index
	where  map[record.TurnID]*line // turns that are in the page
	made   map[object.Hash]bool    // versions of files that the page can make
	turns  int
	unread ledger.ReadErrors
}

type job struct {
	turn    *turns.Turn
	line    *line
	others  [2]object.Hash // the commits between which others changed files before the turn; zero if nothing is known
	own     [2]object.Hash // those between which the turn did
	between []*fileDiff    // by others
	files   []*fileDiff
}

// mission writes a mission's turns and adds it to the index.
func (w *writing) mission(m turns.MissionLine) error {
	by, turnBy := trust.Unknown, func(int) string { return trust.Unknown }
	if writers, err := w.Workspace.Writers(w.ctx, w.objects, m.ID, m.Tip); err != nil {
		w.unread.Add(err)
	} else {
		by, turnBy = writers.Commit(m.Tip), writers.Turn
	}
	one := &missionPacket{
		ID: m.ID, Title: ledger.Head(m.Title, shownTitle), By: by, Foreign: by == trust.Unknown,
		Handoffs: []*handoffPacket{}, Turns: []*line{},
	}
	if m.ForkedFrom != nil {
		one.Parent = &parent{m.ForkedFrom.Mission, m.ForkedFrom.Turn}
	}
	if f := m.Finished(); f != nil {
		one.Finished = &finished{Commit: f.Commit.String()}
	}
	if l, err := ledger.At(w.objects, m.ID, m.Tip); err != nil {
		w.unread.Add(err)
	} else if mark := review.Of(w.ctx, w.Workspace, w.objects, l); mark != nil {
		one.Reviewed = &reviewed{mark.Turn, stamp(mark.At), mark.Name()}
	}
	list, err := turns.List(w.ctx, w.Workspace.Repo, m.ID)
	if w.unread.Add(err); list == nil && err != nil && w.ctx.Err() != nil {
		return err
	}
	w.index.Missions = append(w.index.Missions, one)
	handoffs, err := handoffstore.List(w.ctx, w.Workspace.Repo, m.ID)
	w.unread.Add(err)
	for _, h := range handoffs {
		one.Handoffs = append(one.Handoffs, &handoffPacket{h.Number, h.LastTurn, ledger.Head(cmdline.OneLine(h.Summary), shownTitle)})
	}
	one.Limits = w.limits(list)
	if n := len(list); n > 0 {
		one.Agent = strings.TrimSpace(list[n-1].Agent + " " + list[n-1].Model)
	}
	var jobs []*job
	var before *turns.Turn
	for _, t := range list {
		l := newLine(t)
		l.Foreign = turnBy(t.Turn) == trust.Unknown
		one.Turns = append(one.Turns, l)
		if t.Mission != m.ID { // inherited by a fork
			l.As = t.ID().String()
		}
		if known := w.where[t.ID()]; known != nil {
			l.Packet = known.Packet
		} else {
			w.where[t.ID()] = l
			jobs = append(jobs, w.job(t, before, l))
		}
		before = t
	}
	w.turns += len(list)
	return w.write(m.ID, jobs)
}

// Runes of texts in the index.
const (
	shownTitle  = 200
	shownPrompt = 160
)

func newLine(t *turns.Turn) *line {
	own := t.Change()
	l := &line{
		Number: t.Turn, At: stamp(t.At), Outcome: string(t.Outcome), Checked: t.Checked(), Unproven: t.Unproven, Prompt: ledger.Head(strings.Join(strings.Fields(t.Prompt), " "), shownPrompt),
		Files: own.Files, Insertions: own.Insertions, Deletions: own.Deletions, Context: max(0, t.Context), Output: max(0, t.Output), Compacted: t.Compactions,
	}
	if !t.Started.IsZero() && t.At.After(t.Started) {
		l.Took = t.At.Sub(t.Started).Milliseconds()
	}
	return l
}

// limits returns the context sizes to hand off at, for the last turn's model.
func (w *writing) limits(list []*turns.Turn) []limit {
	state := contextmeter.Memory{V: contextmeter.Version}
	for _, t := range list {
		state.Model, state.Most = cmp.Or(t.Model, state.Model), max(state.Most, t.Context)
	}
	if state.Most == 0 {
		return nil
	}
	l := state.Limits(&w.Workspace.Settings.Context)
	return []limit{{l.Warning, "warning"}, {l.Critical, "critical"}, {l.Window, "window"}}
}

func (w *writing) write(id record.ID, jobs []*job) error {
	if len(jobs) == 0 {
		return nil
	}
	list := make([]*turns.Turn, len(jobs))
	for i, j := range jobs {
		list[i] = j.turn
	}
	told, err := turns.OpenConversations(w.ctx, w.Workspace.Repo, id, list, maxSegment)
	if err != nil {
		w.unread.Add(err)
		return nil
	}
	defer told.Close()
	next := 0
	upTo := func(end int) error { // writes the jobs before end
		for ; next < end; next++ {
			if err := cmp.Or(w.ctx.Err(), w.emit(told, jobs[next])); err != nil {
				return err
			}
			jobs[next] = nil // its patches are written
		}
		return nil
	}
	if err := w.compare(jobs, upTo); err != nil {
		return err
	}
	return upTo(len(jobs))
}

func (w *writing) emit(told *turns.Conversations, j *job) error {
	d := &detail{Prompt: j.turn.Prompt, Between: j.between, Files: j.files}
	reply, p := j.turn.Reply, new(prose)
	if segment, err := told.Segment(j.turn); j.turn.Away() {
		d.Missing = "A visit: its conversation is in the repository that the session was at home in, and not in this page."
	} else if err != nil {
		d.Missing = "Its conversation is not here: " + err.Error()
	} else {
		s := read(reader(j.turn), segment, !w.without(Results), p)
		if len(s.steps) == 0 && s.reply == "" {
			d.Missing = "Nothing could be read of its conversation."
		}
		d.Prompt, reply, d.Steps = cmp.Or(s.prompt, d.Prompt), cmp.Or(s.reply, reply), s.steps
		w.agents(told, j.turn, d, p)
	}
	if d.Prompt = short(d.Prompt); w.without(Transcript) {
		d.Steps, d.Agents, d.Missing = nil, nil, ""
	}
	d.Reply = markdown(reply)
	for _, s := range j.turn.Skipped {
		d.Skipped = append(d.Skipped, skipped{s.Path, s.Why})
	}
	d.Facts = facts(j.turn, turns.Company(w.Workspace, j.turn.Change().With))
	number, err := w.turn(j.turn.ID().String(), d)
	j.line.Packet = number
	return err
}
