package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/redact"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
)

// ended records the turn that the signal ends, and before it those that nobody told the end of.
func (r *recording) ended(ctx context.Context) error {
	f, err := r.segment()
	if err != nil {
		return err
	}
	pieces := r.pieces(f)
	open := r.state.Open
	if open != nil && r.Event != Prompted && r.Event != Ended && open.PromptID != pieces[0].promptID && open.PromptID != r.PromptID {
		pieces = append([]piece{{promptID: open.PromptID}}, pieces...) // it left nothing in the transcript
	}
	begin, err := r.start(ctx)
	if err != nil {
		return err
	}
	number, err := r.ledger.LastTurn()
	if err != nil {
		return err
	}
	before := session.Cursor{Offset: f.from, Turn: f.after}
	if c := r.cursor(); c.Offset == f.from {
		before = c
	}
	after := f.after
	for i, p := range pieces {
		number++
		if r.rerecords() {
			number = r.state.Last.Turn
		}
		t, err := r.record(ctx, number, after, begin, p, f)
		if err != nil {
			return err
		}
		r.result.Turns = append(r.result.Turns, t)
		if t.Transcript != nil {
			after = number
		}
		if i == len(pieces)-1 {
			r.state.Last = &session.LastTurn{
				Mission: string(r.id), Turn: number, PromptID: t.PromptID, Key: r.key(),
				Code: t.Code, Base: t.Base, Head: git.Hex(r.headNow()), Prompt: t.Prompt, Started: t.Started, Before: before,
			}
		}
		begin = start{base: t.Code.Hash(), head: r.snap.Head.Commit} // the next piece begins where this one ended
		if i < len(pieces)-1 {
			before = r.cursorAt(f.from+int64(p.end), after)
		}
	}
	r.state.Open = nil
	return r.advance(f, pieces[len(pieces)-1].end, after)
}

// headNow is HEAD as it will be when the refs have moved.
func (r *recording) headNow() plumbing.Hash {
	if !r.branch.IsZero() {
		return r.branch
	}
	return r.snap.Head.Commit
}

// advance moves the session's cursor behind what was taken: end bytes of the segment.
func (r *recording) advance(f flushed, end, turn int) error {
	if f.none {
		return nil
	}
	c := f.Cursor
	if end < len(f.Bytes) {
		var err error
		if c, err = transcript.At(r.Transcript, f.from+int64(end)); err != nil {
			return err
		}
	}
	if r.state.Cursors == nil {
		r.state.Cursors = make(map[string]session.Cursor)
	}
	r.state.Cursors[string(r.id)] = session.Cursor{Offset: c.Offset, Check: c.Check, Turn: turn}
	r.state.Transcript = r.Transcript
	return nil
}

// start is the state that the first turn to be recorded began with.
func (r *recording) start(ctx context.Context) (start, error) {
	var s start
	var err error
	switch last := r.state.Last; {
	case r.state.Open != nil:
		o := r.state.Open
		s = start{base: o.Base.Hash(), head: o.Head.Hash(), promptID: o.PromptID, prompt: o.Prompt, at: o.Started}
	case r.rerecords():
		s = start{base: last.Base.Hash(), head: last.Head.Hash(), promptID: last.PromptID, prompt: last.Prompt, at: last.Started}
	default:
		return r.startWithoutPrompt()
	}
	jumped := s.base.IsZero() || r.elsewhere()
	if !jumped {
		if _, err := r.objects.TreeOf(s.base); err != nil {
			jumped = true // `git gc --prune=now` has taken what only the local state knew
		}
	}
	if head := r.snap.Head.Commit; !jumped && s.head != head && !s.head.IsZero() {
		descends := false
		if !head.IsZero() {
			if descends, err = r.Repo.IsAncestor(ctx, git.Hex(s.head), git.Hex(head)); err != nil {
				return s, err
			}
		}
		jumped = !descends
	}
	if jumped {
		s.base, err = r.headOrRoot()
		s.head = r.snap.Head.Commit
	}
	return s, err
}

// record builds one turn and adds it to the ledger and to the notes. Only the last turn of a signal
// has seen the worktree; one before it is not known to have changed anything.
func (r *recording) record(ctx context.Context, number, after int, s start, p piece, f flushed) (*Turn, error) {
	t := r.describe(number, s, p)
	if r.rerecords() {
		if old, err := r.readTurn(number); err == nil {
			if err := t.replaces(old); err != nil {
				return nil, err
			}
		}
	}
	if p.last {
		code, _, err := r.code(ctx, s, func() string { return r.message(r.subject(number, t.Prompt), number) })
		if err != nil {
			return nil, err
		}
		t.Code = git.Hex(code)
	} else {
		t.Code = git.Hex(s.base)
	}
	if err := r.compare(ctx, t); err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	if !f.none {
		t.Transcript = &Segment{After: after, From: f.from + int64(p.start), To: f.from + int64(p.end), Missing: f.missing}
		if p.start == 0 {
			t.Transcript.From = f.from
		}
		if f.missing == "size" {
			t.Transcript.To = f.Cursor.Offset
		}
		if f.missing == "" {
			r.segmentFile(t, files, f.Bytes[p.start:p.end])
		}
	}
	if t.Transcript != nil && t.Transcript.Missing != "" {
		r.warn("turn %s has no transcript segment: %s", t.ID(), t.Transcript.Missing)
	}
	line, err := t.Encode()
	if err != nil {
		return nil, err
	}
	files[ledger.TurnPath("turns", number, ".json")] = append(line[:len(line):len(line)], '\n')
	keep := []plumbing.Hash{t.Code.Hash()}
	if reached, err := r.reaches(t, s); err != nil {
		return nil, err
	} else if !reached {
		keep = append(keep, t.Base.Hash())
	}
	if r.ledger.Mission.Title == "" {
		r.ledger.Mission.Title = head(firstLine(t.Prompt), maxSubject)
	}
	if err := r.append(fmt.Sprintf("turn %d", number), files, keep...); err != nil {
		return nil, err
	}
	return t, r.note(t, line)
}

// reaches reports whether the turn's base is reachable from its code commit, as far as that shows without a walk:
// the base is the code commit or its parent, or HEAD's commit at the start, which HEAD now descends from.
func (r *recording) reaches(t *Turn, s start) (bool, error) {
	if t.Base == t.Code || s.base == s.head {
		return true, nil
	}
	code, err := object.GetCommit(r.objects, t.Code.Hash())
	if err != nil {
		return false, err
	}
	return slices.Contains(code.ParentHashes, t.Base.Hash()), nil
}

// describe fills in what the client and its transcript tell.
func (r *recording) describe(number int, s start, p piece) *Turn {
	sum := p.summary
	t := &Turn{
		V: ledger.Version, Kind: kind, Mission: r.id, Turn: number,
		At: r.At.UTC(), Started: s.at.UTC(), Outcome: r.outcome(), Agent: r.Agent, Session: r.Session,
		PromptID: p.promptID, Model: sum.Model,
		Base: git.Hex(s.base), Head: git.Hex(r.snap.Head.Commit), Branch: valid(shortBranch(r.snap.Head.Branch)),
		Tools: sum.Tools, Context: sum.Context, Output: sum.Output, Compactions: sum.Compactions,
	}
	if s.at.IsZero() {
		t.Started = sum.Started.UTC()
	}
	prompt, reply := sum.Prompt, sum.Reply
	if p.promptID == "" || p.promptID == s.promptID {
		t.PromptID = s.promptID
		// The event's prompt is as the user typed it, where the transcript wraps a paste; but it may be another one's,
		// typed while this turn ran.
		if prompt == "" || s.prompt != "" && strings.Contains(redact.String(clip(prompt)), s.prompt) {
			prompt = s.prompt
		}
	}
	if p.last {
		if r.PromptID != "" && r.Event != Prompted && r.Event != Ended {
			t.PromptID = r.PromptID
		}
		if r.Event != Prompted {
			prompt = firstOf(prompt, r.Prompt)
			reply = firstOf(r.Reply, reply)
		}
		for _, skip := range r.snap.Skipped[:min(len(r.snap.Skipped), maxSkipped)] {
			t.Skipped = append(t.Skipped, snapshot.Skip{Path: valid(skip.Path), Why: skip.Why})
		}
	} else {
		t.Outcome = Interrupted
	}
	if t.Outcome == Interrupted && sum.APIError && !sum.Interrupted && r.Outcome == "" {
		t.Outcome = Failed
	}
	t.Prompt = head(valid(redact.String(clip(prompt))), maxPrompt)
	t.Reply = tail(valid(redact.String(clipEnd(reply))), maxReply)
	return t
}

// valid makes a text JSON: bytes that are not UTF-8 become U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clipEnd is clip for a text of which the end is kept.
func clipEnd(reply string) string {
	const limit = 64 << 10 // bytes
	if len(reply) > limit {
		return reply[len(reply)-limit:]
	}
	return reply
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func shortBranch(full string) string {
	const prefix = "refs/heads/"
	if len(full) > len(prefix) {
		return full[len(prefix):]
	}
	return ""
}

// segmentFile redacts the turn's share of the transcript and adds it to files.
// What can't be redacted is not stored, and the turn says so.
func (r *recording) segmentFile(t *Turn, files map[string][]byte, raw []byte) {
	path := ledger.TurnPath("transcript", t.Turn, ".jsonl")
	data, err := redact.JSONLines(raw)
	if err != nil {
		t.Transcript.Missing = "redaction"
		files[path] = nil
		return
	}
	t.Transcript.Path, t.Transcript.Bytes = path, len(data)
	if data == nil {
		data = []byte{}
	}
	files[path] = data
}

// compare fills in what the turn changed.
func (r *recording) compare(ctx context.Context, t *Turn) error {
	from, err := r.objects.TreeOf(t.Base.Hash())
	if err != nil {
		return err
	}
	to, err := r.objects.TreeOf(t.Code.Hash())
	if err != nil || from == to {
		return err
	}
	stats, ok, err := r.objects.Stat(from, to)
	if err == nil && !ok {
		stats, err = r.compareByGit(ctx, from, to)
	}
	if err != nil {
		return err
	}
	t.Files = len(stats)
	for i, s := range stats {
		t.Insertions += s.Insertions
		t.Deletions += s.Deletions
		if i < maxPaths {
			t.Paths = append(t.Paths, valid(s.Path))
		}
	}
	return nil
}

// compareByGit is for a change that is too large to be compared in-process; git needs the objects on the disk.
func (r *recording) compareByGit(ctx context.Context, from, to plumbing.Hash) ([]git.FileStat, error) {
	if err := r.objects.Flush(); err != nil {
		return nil, err
	}
	return r.Repo.DiffTrees(ctx, from, to)
}

// note adds the turn's line to the note on its code commit. In a note that has become long the
// line is a short one: the ledger has the rest.
func (r *recording) note(t *Turn, line []byte) error {
	note, err := r.notes.Get(t.Code.Hash())
	if err != nil && !errors.Is(err, gitnotes.ErrNotFound) {
		return err
	}
	if len(note)+len(line) >= maxNote {
		if line, err = t.short(); err != nil {
			return err
		}
	}
	return r.notes.Append(t.Code.Hash(), line)
}
