package handoffstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/redact"
	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
)

// A Request says what is to be handed off. Everything but At, Exit and Mission may be missing.
type Request struct {
	At      time.Time
	Exit    ExitType
	Mission ledger.ID
	Session string // that hands off; the mission's ledger is begun if it has one and there is no ledger yet
	Agent   string
	Ended   bool // the session's end was seen: it is a crash if its last turn failed

	Running    string // prompt of the turn that is under way
	Transcript string // path of the session's file, for the agent's todos

	// What the agent says. Nil and empty: what the same session said before stays.
	Document  *Document
	Summary   string
	Questions []string
	Log       string // path of a complete log of the terminal
	Terminal  []byte // a snapshot of it
}

// says reports whether the agent says something.
func (r *Request) says() bool { return r.Document != nil || r.Summary != "" }

// The outcomes of turns that matter here; package turns has all of them.
const (
	failed  = "failed"
	running = "running" // ours: it has not ended
)

// A Gathered is what a request has led to.
type Gathered struct {
	*Handoff
	New bool // false if the mission's last handoff says it all

	tree plumbing.Hash
}

// Gather hands off: what the request says, and beside it what can be known from outside.
// Uncommitted work is kept as a commit that the ledger refers to. Nothing is changed in the worktree.
//
// If nothing has happened since the session's last handoff, that stays the last. A crash does not
// replace a clean end that is younger than the configured grace: it was the supervisor that ended the session.
// If there is uncommitted work that the clean one has not kept, the new handoff is a clean one, too.
//
// A mission without a ledger has nothing to hand off, unless the request says something or a turn is under way: the error wraps [git.ErrNotFound].
func (s *Store) Gather(ctx context.Context, r Request) (*Gathered, error) {
	var done *Gathered
	err := s.attempt(ctx, r.Mission, r.At, false, func(w *writing) (err error) {
		done, err = w.gather(ctx, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("hand off mission %s: %w", r.Mission, err)
	}
	if done.New {
		err = s.note(noteAccepted, done.tree)
	}
	return done, err
}

func (w *writing) gather(ctx context.Context, r Request) (*Gathered, error) {
	if w.ledger == nil {
		if !r.says() && r.Running == "" {
			return nil, fmt.Errorf("it has recorded nothing yet: %w", git.ErrNotFound)
		}
		w.begin(r)
	}
	number, err := w.ledger.LastHandoff()
	if err != nil {
		return nil, err
	}
	last, err := w.lastOf(ctx, number, r.Session)
	if err != nil {
		return nil, err
	}
	h := &Handoff{
		V: ledger.Version, Kind: kind, Mission: w.id, Number: number + 1, At: w.at,
		ExitType: r.Exit, Agent: r.Agent, Session: r.Session,
		Head: git.Hex(w.snap.Head.Commit), Branch: strings.ToValidUTF8(strings.TrimPrefix(w.snap.Head.Branch, "refs/heads/"), "\uFFFD"),
	}
	t, err := w.lastTurn(ctx, r.Session)
	if err != nil {
		return nil, err
	}
	h.LastTurn, h.LastOutcome, h.LastPrompt = t.Turn, t.Outcome, t.Prompt
	if r.Running != "" {
		h.LastOutcome, h.LastPrompt = running, clean(r.Running, maxPrompt)
	}
	if h.Agent == "" {
		h.Agent = firstOf(t.Agent, w.ledger.Mission.Agent)
	}
	if r.Ended && h.ExitType == Clean && t.Session == r.Session && t.Outcome == failed {
		h.ExitType = Crash
	}
	stash, err := w.uncommitted(fmt.Sprintf("handoff %d: what is not committed", h.Number), r.Session)
	if err != nil {
		return nil, err
	}
	h.Stash = git.Hex(stash)
	if last != nil && !r.says() {
		same, err := w.same(last, h)
		if err != nil {
			return nil, err
		}
		graced := last.ExitType == Clean && h.ExitType != Clean && w.at.Sub(last.At) < w.Handoff.CleanGrace
		if graced {
			h.ExitType = Clean
		}
		if same && h.ExitType == last.ExitType {
			return &Gathered{Handoff: last}, nil
		}
	}
	files, err := w.fill(ctx, h, r, last, t)
	if err != nil {
		return nil, err
	}
	return w.add(ctx, h, files, t.Code.Hash())
}

// begin makes the ledger of a mission in whose first turn the agent hands off.
func (w *writing) begin(r Request) {
	m := &ledger.Mission{V: ledger.Version, ID: w.id, Created: w.at, Agent: r.Agent, Base: git.Hex(w.snap.Head.Commit).String()}
	if branch := w.id.Branch(w.Capture.BranchPrefix); w.snap.Head.Branch == branch {
		m.Branch = branch
	}
	w.ledger = ledger.New(w.objects, m)
}

// lastOf returns the mission's last handoff if this session made it: what was written then still holds. By hand, without
// a session, any is taken. One that can't be read, perhaps of a newer version, does not keep work from being handed off,
// and what a stranger wrote must not come back as ours.
func (w *writing) lastOf(ctx context.Context, number int, session string) (*Handoff, error) {
	if number == 0 {
		return nil, nil
	}
	h, err := readAt(w.ledger, number)
	if err != nil || h.Mission != w.id || session != "" && h.Session != session {
		return nil, nil
	}
	trusted, err := w.trusted(ctx, w.ledger, number)
	if err != nil || !trusted {
		return nil, err
	}
	return h, nil
}

// lastTurn reads the mission's last turn; it is the zero turn if there is none. Of a stranger's the words are left out.
func (w *writing) lastTurn(ctx context.Context, session string) (turn, error) {
	t, err := lastTurn(w.ledger)
	if err != nil || t.Turn == 0 || t.Session == session || w.local().Load(t.Session).Mission != "" {
		return t, err
	}
	own, err := w.own(ctx, w.ledger.Tip, ledger.TurnPath("turns", t.Turn, ".json"))
	if !own {
		t.Prompt, t.Reply = "", ""
	}
	return t, err
}

// same reports whether nothing has happened between two handoffs of a session.
func (w *writing) same(last, now *Handoff) (bool, error) {
	if last.LastTurn != now.LastTurn || last.LastOutcome != now.LastOutcome || last.LastPrompt != now.LastPrompt || last.Head != now.Head || last.Stash.IsZero() != now.Stash.IsZero() {
		return false, nil
	}
	if last.Stash.IsZero() {
		return true, nil
	}
	before, err := w.objects.TreeOf(last.Stash.Hash())
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	return before == w.snap.Tree, err
}

// fill describes the rest, and returns the files that belong to the handoff.
func (w *writing) fill(ctx context.Context, h *Handoff, r Request, last *Handoff, t turn) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, skip := range w.snap.Skipped[:min(len(w.snap.Skipped), maxSkipped)] {
		h.Skipped = append(h.Skipped, snapshot.Skip{Path: strings.ToValidUTF8(skip.Path, "\uFFFD"), Why: skip.Why})
	}
	if err := w.describe(ctx, h, files); err != nil {
		return nil, err
	}
	if r.says() {
		h.Written = w.at
		h.say(r, files)
	} else if last != nil && !last.Written.IsZero() {
		if err := w.takeOver(h, last, files); err != nil {
			return nil, err
		}
	}
	list, reply := said(r.Transcript)
	if r.Running == "" {
		reply = t.Reply
	}
	if h.Written.IsZero() {
		h.Summary = tail(strings.TrimSpace(reply), maxReply)
	}
	h.Todos = list
	if r.Terminal != nil {
		files[terminalFile], h.Terminal = r.Terminal, ledger.HandoffPath(h.Number, terminalFile)
	}
	if r.Log != "" {
		h.Log = r.Log
	}
	return files, nil
}

// say is what the agent says now.
func (h *Handoff) say(r Request, files map[string][]byte) {
	if d := r.Document; d != nil {
		files[docFile], h.Doc = d.Text, ledger.HandoffPath(h.Number, docFile)
		h.Source = clean(d.Source, maxQuestion)
		if d.Truncated {
			h.Truncated = append(h.Truncated, "document")
		}
	}
	h.Summary = clean(r.Summary, maxSummary)
	for _, q := range r.Questions[:min(len(r.Questions), maxQuestions)] {
		if q = clean(q, maxQuestion); q != "" {
			h.Questions = append(h.Questions, q)
		}
	}
}

// takeOver is what the same session has written before: it stays.
func (w *writing) takeOver(h, last *Handoff, files map[string][]byte) error {
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
		data, err := w.ledger.Read(ledger.HandoffPath(last.Number, f.name))
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

// saidBytes is how much of the end of a session's file is read.
const saidBytes = 8 << 20

// said reads the agent's todos, and what it has said in the last turn. A file that can't be read says nothing:
// the handoff does not depend on it.
func said(path string) (list []transcript.Todo, reply string) {
	if path == "" {
		return nil, ""
	}
	lines, err := transcript.Tail(path, saidBytes)
	if err != nil {
		return nil, ""
	}
	for _, t := range transcript.Todos(lines) {
		if len(list) < maxTodos {
			list = append(list, transcript.Todo{Text: clean(t.Text, maxTodo), Status: clean(t.Status, 20)})
		}
	}
	if begun := transcript.Turns(lines); len(begun) > 0 {
		last := begun[len(begun)-1]
		text := transcript.Summarise(lines[last.Start:last.End]).Reply
		reply = strings.ToValidUTF8(redact.String(text[max(0, len(text)-64<<10):]), "\uFFFD")
	}
	return list, reply
}

// add stores the handoff. Its note is on the last turn's code commit, or on HEAD.
func (w *writing) add(ctx context.Context, h *Handoff, files map[string][]byte, noted plumbing.Hash) (*Gathered, error) {
	record, err := h.Encode()
	if err != nil {
		return nil, err
	}
	event := ledger.Event{
		Subject: fmt.Sprintf("handoff %d", h.Number),
		Files:   map[string][]byte{ledger.HandoffPath(h.Number, recordFile): append(record[:len(record):len(record)], '\n')},
		Keep:    []plumbing.Hash{h.Stash.Hash()},
	}
	if h.Stash.IsZero() {
		event.Keep = []plumbing.Hash{h.Head.Hash()} // which Stash descends from
	}
	for name, data := range files {
		event.Files[ledger.HandoffPath(h.Number, name)] = data
	}
	w.ledger.Mission.AddSession(h.Session)
	if noted.IsZero() {
		noted = h.Head.Hash()
	}
	line, err := h.noteLine()
	if err != nil {
		return nil, err
	}
	if err := w.commit(ctx, event, noted, line); err != nil {
		return nil, err
	}
	e, err := w.ledger.Entry(ledger.HandoffPath(h.Number, ""))
	return &Gathered{Handoff: h, New: true, tree: e.Hash}, err
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
