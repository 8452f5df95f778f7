package handoffstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/transcript"
	"gitagent/internal/trust"
	"gitagent/internal/version"
	"gitagent/turns"
)

// A Request says what to hand off. Only At, Exit and Mission are required.
type Request struct {
	At      time.Time
	Exit    record.ExitType
	Mission record.ID
	Session string // the one that hands off
	Agent   string
	Ended   bool // the session has ended: a crash if its last turn failed

	Running    string // prompt of the turn under way
	Transcript string // path of the session's file, for the agent's todos

	// What the agent says. If empty, what the same session said before stays.
	Document  *Document
	Summary   string
	Questions []string
	Log       string // path of the terminal's complete log
	Terminal  []byte // a snapshot of the terminal
}

// Says reports whether the agent says something.
func (r *Request) Says() bool { return r.Document != nil || r.Summary != "" }

// A Gathered is the result of a request.
type Gathered struct {
	*Handoff
	New bool // false if the mission's last handoff says it all
}

// Gather hands off what the request says and what is known without the agent.
// It keeps uncommitted work in a commit, and does not touch the worktree.
//
// If nothing has happened since the session's last handoff, it makes no new
// one. A crash within the configured grace counts as the clean end before it,
// as the supervisor ended the session. The error wraps [git.ErrNotFound] if the
// mission has no ledger, unless the request says something or a turn is under
// way.
func (s *Store) Gather(ctx context.Context, r Request) (*Gathered, error) {
	var done *Gathered
	err := s.write(ctx, r.Mission, r.At, "handoff", false, func(ctx context.Context, w *writing) (err error) {
		done, err = w.gather(ctx, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("hand off mission %s: %w", r.Mission, err)
	}
	return done, nil
}

func (w *writing) gather(ctx context.Context, r Request) (*Gathered, error) {
	if w.Ledger == nil {
		if !r.Says() && r.Running == "" {
			return nil, fmt.Errorf("it has recorded nothing yet: %w", git.ErrNotFound)
		}
		w.begin(r)
	}
	number, err := w.Ledger.LastHandoff()
	if err != nil {
		return nil, err
	}
	next, err := record.Next("handoff", number)
	if err != nil {
		return nil, err
	}
	last, err := w.lastOf(ctx, number, r.Session)
	if err != nil {
		return nil, err
	}
	t, err := w.lastTurn(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	h := &Handoff{
		V: record.Version, Kind: record.KindHandoff, Mission: w.ID, Number: next, At: w.At,
		ExitType: r.Exit, Agent: cmp.Or(r.Agent, t.Agent, w.Ledger.Mission.Agent), Session: r.Session, Program: version.Program(),
		LastTurn: t.Turn, LastOutcome: t.Outcome, LastPrompt: t.Prompt,
		Head: w.Snap.Head.Commit, Branch: strings.ToValidUTF8(strings.TrimPrefix(w.Snap.Head.Branch, "refs/heads/"), "\uFFFD"),
	}
	if r.Running != "" {
		h.LastOutcome, h.LastPrompt = record.Running, clean(w.Settings.Rules(), r.Running, record.MaxPrompt)
	}
	if ended := r.Ended && r.Exit == record.Clean || r.Exit == record.Killed && !r.Says(); ended && t.Session == r.Session && t.Outcome == record.Failed {
		h.ExitType = record.Crash // if a client is gone after a failure, that has ended it
	}
	stash, err := w.uncommitted(fmt.Sprintf("handoff %d: what is not committed", h.Number), r.Session)
	if err != nil {
		return nil, err
	}
	h.Stash = stash
	if last != nil && !r.Says() {
		same, err := w.same(last, h)
		if err != nil {
			return nil, err
		}
		if last.ExitType == record.Clean && w.At.Sub(last.At) < w.Settings.Handoff.CleanGrace {
			h.ExitType = record.Clean
		}
		if same && h.ExitType == last.ExitType {
			return &Gathered{Handoff: last}, nil
		}
	}
	files, err := w.fill(ctx, h, r, last, t)
	if err != nil {
		return nil, err
	}
	return w.add(ctx, h, files, t.Code)
}

// begin makes the ledger of a mission whose first turn is still running.
func (w *writing) begin(r Request) {
	m := &record.Mission{Created: w.At, Agent: r.Agent, Base: w.Snap.Head.Commit.String()}
	if branch := w.Branch(w.ID); w.Snap.Head.Branch == branch {
		m.Branch = branch
	}
	w.Begin(m)
}

// lastOf returns the mission's last handoff if this session made it (by hand,
// any session): what it says still holds. It returns nil for one that can't be
// read, or is untrusted and must not become ours.
func (w *writing) lastOf(ctx context.Context, number int, session string) (*Handoff, error) {
	if number == 0 {
		return nil, nil
	}
	h, err := readAt(w.Ledger, number)
	if err != nil || h.Mission != w.ID || session != "" && h.Session != session {
		return nil, nil
	}
	by, err := w.writers(ctx)
	if err != nil || !trust.Ours(by.Handoff(number)) {
		return nil, err
	}
	return h, nil
}

// lastTurn returns the last turn or a zero one, untrusted ones without words.
func (w *writing) lastTurn(ctx context.Context, session string) (turns.Turn, error) {
	last, err := turns.Last(w.Ledger)
	if err != nil || last == nil {
		return turns.Turn{}, err
	}
	t := *last
	if t.Session == session || w.Store.Load(t.Session).Mission != "" {
		return t, nil
	}
	by, err := w.writers(ctx)
	if err == nil && !trust.Ours(by.Turn(t.Turn)) {
		t.Prompt, t.Reply = "", ""
	}
	return t, err
}

func (w *writing) writers(ctx context.Context) (*trust.Writers, error) {
	return w.Workspace.Writers(ctx, w.Objects, w.ID, w.Ledger.Tip)
}

func (w *writing) same(last, now *Handoff) (bool, error) {
	if last.LastTurn != now.LastTurn || last.LastOutcome != now.LastOutcome || last.LastPrompt != now.LastPrompt || last.Head != now.Head || last.Stash.IsZero() != now.Stash.IsZero() {
		return false, nil
	}
	if last.Stash.IsZero() {
		return true, nil
	}
	before, err := w.Objects.TreeOf(last.Stash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	return before == w.Snap.Tree, err
}

// fill fills in the rest of the record and returns the handoff's files.
func (w *writing) fill(ctx context.Context, h *Handoff, r Request, last *Handoff, t turns.Turn) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, skip := range w.Snap.Skipped[:min(len(w.Snap.Skipped), record.MaxSkipped)] {
		h.Skipped = append(h.Skipped, record.Skip{Path: strings.ToValidUTF8(skip.Path, "\uFFFD"), Why: skip.Why})
	}
	if err := w.describe(ctx, h, files); err != nil {
		return nil, err
	}
	if r.Says() {
		h.Written = w.At
		h.say(w.Settings.Rules(), r, files)
	} else if last != nil && !last.Written.IsZero() {
		if err := w.takeOver(h, last, files); err != nil {
			return nil, err
		}
	}
	list, reply := said(w.Settings.Rules(), known(r.Agent, t.Agent, w.Ledger.Mission.Agent).Reader, r.Session, r.Transcript)
	if r.Running == "" {
		reply = t.Reply
	}
	if h.Written.IsZero() {
		h.Summary = ledger.Tail(strings.TrimSpace(reply), record.MaxReply)
	}
	h.Todos = list
	if r.Terminal != nil {
		files[terminalFile], h.Terminal = r.Terminal, ledger.HandoffPath(h.Number, terminalFile)
	}
	h.Log = cmp.Or(r.Log, h.Log)
	return files, nil
}

func (h *Handoff) say(rules *redact.Rules, r Request, files map[string][]byte) {
	if d := r.Document; d != nil {
		files[docFile], h.Doc = d.Text, ledger.HandoffPath(h.Number, docFile)
		h.Source = clean(rules, d.Source, record.MaxQuestion)
		if d.Truncated {
			h.Truncated = append(h.Truncated, "document")
		}
	}
	h.Summary = clean(rules, r.Summary, record.MaxSummary)
	for _, q := range r.Questions[:min(len(r.Questions), record.MaxQuestions)] {
		if q = clean(rules, q, record.MaxQuestion); q != "" {
			h.Questions = append(h.Questions, q)
		}
	}
}

// takeOver keeps what the same session wrote before. By hand, it stays that
// session's.
func (w *writing) takeOver(h, last *Handoff, files map[string][]byte) error {
	h.Session = cmp.Or(h.Session, last.Session)
	h.Written, h.Source = last.Written, last.Source
	h.Summary, h.Questions, h.Log = last.Summary, last.Questions, last.Log
	for _, f := range []struct {
		name string
		has  string
		path *string
	}{{docFile, last.Doc, &h.Doc}, {terminalFile, last.Terminal, &h.Terminal}} {
		if f.has == "" {
			continue
		}
		data, err := w.Ledger.Read(ledger.HandoffPath(last.Number, f.name))
		if ledger.Missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		files[f.name], *f.path = data, ledger.HandoffPath(h.Number, f.name)
	}
	if last.lacks("document") {
		h.Truncated = append(h.Truncated, "document")
	}
	return nil
}

const saidBytes = 8 << 20 // of the end of a session's file are read

// said reads the agent's todos and last reply, both empty if it can't.
func said(rules *redact.Rules, reader func() transcript.Reader, session, path string) (list []transcript.Todo, reply string) {
	lines, err := transcript.Tail(path, saidBytes)
	if err != nil {
		return nil, ""
	}
	if off := places.Of(os.Getenv).Withheld(session); len(off) > 0 {
		transcript.Withhold(reader, lines, off.Turn, off.At)
	}
	for _, t := range transcript.Todos(reader(), lines) {
		if len(list) < record.MaxTodos {
			list = append(list, transcript.Todo{Text: clean(rules, t.Text, record.MaxTodo), Status: clean(rules, t.Status, 20)})
		}
	}
	if begun := transcript.Turns(reader(), lines); len(begun) > 0 {
		last := begun[len(begun)-1]
		text := transcript.Summarise(reader(), lines[last.Start:last.End]).Reply
		reply = strings.ToValidUTF8(rules.String(text[max(0, len(text)-64<<10):]), "\uFFFD")
	}
	return list, reply
}

// known returns the first agent known by its name: others may be invented.
func known(names ...string) *agent.Agent {
	for _, name := range names {
		if a, ok := agent.Find(name); ok {
			return a
		}
	}
	return agent.Default()
}

// add stores the handoff, with a note on the last turn's commit or on HEAD.
func (w *writing) add(ctx context.Context, h *Handoff, files map[string][]byte, noted object.Hash) (*Gathered, error) {
	record, err := h.Encode()
	if err != nil {
		return nil, err
	}
	files[recordFile] = append(record[:len(record):len(record)], '\n')
	paths := make(map[string][]byte, len(files))
	for name, data := range files {
		paths[ledger.HandoffPath(h.Number, name)] = data
	}
	w.Ledger.Mission.AddSession(h.Session)
	keep := cmp.Or(h.Stash, h.Head) // a Stash keeps Head reachable
	if err := w.Append(fmt.Sprintf("handoff %d", h.Number), paths, keep); err != nil {
		return nil, err
	}
	line, err := h.NoteLine()
	noted = cmp.Or(noted, h.Head)
	if err == nil && !noted.IsZero() && w.Notes != nil {
		if err := w.Note(noted, line); err != nil {
			w.LeaveNotes(err)
		}
	}
	if err == nil {
		err = w.Commit(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &Gathered{Handoff: h, New: true}, err
}
