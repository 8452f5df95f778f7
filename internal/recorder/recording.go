package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gitagent/gitnotes"
	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/journal"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/internal/usage"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A recording is one attempt to record a signal: it collects the facts, lets
// [decide] plan, and carries the plan out.
type recording struct {
	*workspace.Workspace
	inputs
	tx        *ledgertx.Tx
	onBranch  bool // HEAD is on the mission's branch
	moves     bool // the branch moves with the turn
	result    Result
	during    *journal.Span    // the turn that ends, in the worktree's journal; nil before it was read
	hidden    map[string]bool  // files that are there, and in no state any more: they were ignored since
	seen      []session.Beside // the worktrees that the turn has taken
	startHead object.Hash      // HEAD then
	began     object.Hash      // the tree in which a visit began; zero for the snapshot's
	withheld  places.Withheld  // of the session, and of what its file may be a copy of
	spent     *usage.Tokens    // of the session, up to the last turn that ended; nil if the conversation tells
}

// run records the signal and reports whether that changed anything; then
// r.state is the session's new state. An error wrapping [git.ErrConflict] asks
// to retry.
func (r *recording) run(ctx context.Context) (changed bool, err error) {
	if r.onBranch, r.moves, err = r.tx.OnBranch(ctx); err != nil {
		return false, err
	}
	segment := ledgertx.Async(func() (flushed, error) { return r.flush(ctx) })
	defer func() { _, _ = segment() }()
	if repeated(r.Signal, &r.state, r.spokeSince) || r.IfChanged && r.ends() && r.state.Open == nil && !r.again() {
		return false, nil
	}
	if r.Event == Ended && r.state.Open == nil && r.state.Last != nil {
		// Most sessions end with no turn open; then the worktree is not read.
		if r.segment, err = segment(); err != nil || len(decide(r.inputs).ends) == 0 {
			return false, err
		}
	}
	if err := r.tx.Look(ctx, r.moves); err != nil {
		return false, err
	}
	if r.IfChanged && r.ends() {
		same, err := r.unchanged(ctx)
		if err != nil {
			return false, err
		}
		if same {
			_, _ = segment() // which reads the state
			r.state.Open = nil
			return true, nil
		}
	}
	r.result.Skipped = r.tx.Snap.Skipped
	if r.moves && r.tx.Snap.Head.Branch != r.tx.Branch(r.id) {
		return false, fmt.Errorf("HEAD moved to another branch: %w", git.ErrConflict)
	}
	r.head = r.tx.Snap.Head.Commit
	r.branch = valid(cmp.Or(r.tx.Snap.Head.Branch, r.Repo.RebasedBranch()))
	if r.segment, err = segment(); err != nil {
		return false, err
	}
	if r.tx.Ledger == nil {
		r.tx.Begin(r.mission())
	}
	switch adopted, err := r.catchUp(); {
	case err != nil:
		return false, err
	case adopted, r.cutBack(): // the cursor has changed
		if r.segment, err = r.flush(ctx); err != nil {
			return false, err
		}
	}
	if err := r.inherit(ctx); err != nil {
		return false, err
	}
	if err := r.findJumps(); err != nil {
		return false, err
	}
	for _, e := range r.Store.LoadBeside(r.Session) {
		if e.GitDir == r.Repo.GitDir && r.elsewhere() && r.tx.Objects.Has(e.Base) == nil {
			r.found = e.Base
		}
	}
	if r.last, err = r.tx.Ledger.LastTurn(); err != nil {
		return false, err
	}
	return r.carryOut(ctx, decide(r.inputs))
}

func (r *recording) carryOut(ctx context.Context, p plan) (changed bool, err error) {
	if p.ends == nil && p.opens == nil {
		return false, nil
	}
	if p.ends != nil {
		r.tx.Prepare()
	}
	s, err := r.validStart(ctx, p.start)
	if err == nil && p.ends != nil && p.start.exact && !r.byHand() {
		first := slices.IndexFunc(p.ends, func(e ending) bool { return !e.past })
		s, err = r.untold(s, s.base == p.start.base, p.ends[first].summary.Started)
	}
	if err != nil {
		return false, err
	}
	if p.ends != nil && r.strayed(ctx) {
		if s.base, _, err = commit(r.tx, s, r.onBranch, ledger.CodeMessage(fmt.Sprintf("before turn %d", r.last+1), r.id, 0, r.Session)); err != nil {
			return false, err
		}
	}
	var done outturn
	seen := p.ends == nil
	before, again := r.subagentsBefore(), map[string]session.SubagentCursor(nil)
	if r.again() {
		again = r.state.Last.SubagentsBefore
	}
	for i, e := range p.ends {
		if e.past {
			t, err := r.past(ctx, e)
			if err != nil {
				return false, err
			}
			done.turns = append(done.turns, t)
			continue
		}
		var sub sides
		if i == len(p.ends)-1 { // it is not known in which of several turns they ran
			sub = r.segment.sides
		}
		t, err := r.end(ctx, e, s, sub)
		if err != nil {
			return false, err
		}
		done.turns, done.ended, seen = append(done.turns, t), s, e.seen
		s = start{base: t.Code, head: s.head, branch: s.branch} // the next one begins where this one ended
		if r.IfChanged && r.onlyOthers(t, done.ended) {
			r.state.Open = nil
			return true, nil
		}
	}
	done.opens = s
	if p.opens != nil && p.ends == nil && !p.opens.running {
		if r.Away {
			done.opens, err = r.arrive(s)
		} else {
			done.opens.base, err = r.saveChanges(s)
		}
		if err != nil {
			return false, err
		}
	}
	if err := r.tx.Commit(ctx); err != nil {
		return false, err
	}
	r.tookBeside(ctx)
	if p.opens != nil {
		r.observe(journal.Prompt)
	} else {
		r.observe(journal.Stop)
	}
	r.result.Turns, r.result.Quarantined = done.turns, r.tx.Quarantined
	if r.result.Stayed = r.tx.Stayed; r.result.Stayed != nil {
		r.warn("the branch of mission %s was left where it is; the next turn catches up: %v", r.id, r.result.Stayed)
	}
	if r.tx.Unnoted != nil {
		r.warn("the notes of mission %s were left as they are: %v", r.id, r.tx.Unnoted)
	}
	done.head = r.tx.HeadNow()
	if seen && (p.ends != nil || !r.Away) {
		done.opens.head, done.opens.branch = done.head, r.branch
	}
	r.state = r.next(p, done, func(offset int64, turn int) (c session.Cursor) {
		c, err = r.cursorAt(offset, turn)
		return c
	})
	r.scrubState()
	if p.ends != nil {
		r.keepSubagents(before, again)
		r.state.Last.Spent = r.spent
	}
	return true, err
}

// strayed reports whether the session came to this worktree in the turn that ends
// and, as its client tells of calls, has called nothing here: what is here is not
// the turn's.
func (r *recording) strayed(ctx context.Context) bool {
	return r.state.Open != nil && r.elsewhere() && r.found.IsZero() && r.heard() && worktreeOf(ctx, r.Repo, r.state.Worktree) != nil
}

// scrubState removes purged texts from the session's state, which is no object.
func (r *recording) scrubState() {
	if o := r.state.Open; o != nil {
		o.Prompt = string(r.Purged().Replace([]byte(o.Prompt)))
	}
	if last := r.state.Last; last != nil {
		last.Prompt = string(r.Purged().Replace([]byte(last.Prompt)))
	}
}

func (r *recording) mission() *record.Mission {
	m := &record.Mission{Created: r.At, Agent: r.Agent, Base: r.tx.Snap.Head.Commit.String(), Predecessor: r.predecessor()}
	if r.onBranch {
		m.Branch = r.tx.Branch(r.id)
	}
	return m
}

// predecessor returns the mission of the client's session before a /clear.
func (r *recording) predecessor() record.ID {
	if r.Client.PID == 0 {
		return ""
	}
	last := r.Store.Last(func(st *session.Known) bool {
		return st.Session != r.Session && st.Client == r.Client && st.Mission != ""
	})
	if last == nil || last.Mission == r.id {
		return ""
	}
	return last.Mission
}

func (r *recording) validStart(ctx context.Context, s start) (start, error) {
	_, err := r.tx.Objects.TreeOf(s.base)
	stands, err := s.valid(err == nil && !s.base.IsZero(), r.head, r.branch, func() (bool, error) {
		return r.Repo.IsAncestor(ctx, s.head, r.head)
	})
	if err != nil || stands {
		return s, err
	}
	s.base, err = r.tx.Head(ledger.CodeMessage("before the first commit", r.id, 0, r.Session))
	s.head, s.branch = r.head, r.branch
	return s, err
}

// saveChanges returns the commit that holds the current worktree. If the last
// turn left another state, that is a new code commit, so that the next turn's
// diff is the agent's alone. It does not say whose the changes are.
func (r *recording) saveChanges(s start) (object.Hash, error) {
	subject := fmt.Sprintf("before turn %d", r.last+1)
	code, fresh, err := commit(r.tx, s, r.onBranch, ledger.CodeMessage(subject, r.id, 0, r.Session))
	if err != nil || !fresh {
		return code, err
	}
	r.moveBranch(code)
	return code, r.append(subject, nil, code) // the ledger keeps it until the turn does
}

// commit returns the commit that holds the snapshot, and whether it is new.
func commit(tx *ledgertx.Tx, s start, onBranch bool, message string) (code object.Hash, fresh bool, err error) {
	at := place{tree: tx.Snap.Tree, head: tx.Snap.Head.Commit, start: s, onBranch: onBranch}
	if at.headTree, err = tx.Objects.TreeOf(at.head); err != nil {
		return code, false, err
	}
	if at.baseTree, err = tx.Objects.TreeOf(s.base); err != nil {
		return code, false, err
	}
	code, parent := at.commit()
	if !code.IsZero() {
		return code, false, nil
	}
	var parents []object.Hash
	if !parent.IsZero() {
		parents = []object.Hash{parent}
	}
	code, err = tx.CommitTree(at.tree, parents, message)
	return code, true, err
}

func (r *recording) moveBranch(to object.Hash) {
	if r.moves {
		r.tx.MoveBranch(to)
	}
}

// end adds one turn to the ledger and the notes. Only a signal's last turn has
// seen the worktree; earlier ones are recorded as changing nothing.
func (r *recording) end(ctx context.Context, e ending, s start, sub sides) (*turns.Turn, error) {
	if _, err := record.Next("turn", e.number-1); err != nil {
		return nil, fmt.Errorf("mission %s: %w", r.id, err)
	}
	t := describe(&r.inputs, e, s, r.tx.Snap)
	var old *turns.Turn
	if r.again() {
		if was, err := turns.ReadIn(r.tx.Ledger, e.number); err == nil {
			if err := t.Replaces(was); err != nil {
				return nil, err
			}
			old = was
		}
	}
	t.Code = s.base
	if e.seen {
		r.addSpent(t)
		message := ledger.CodeMessage(subject(e.number, t.Prompt, r.Settings.Capture.SubjectPrompt), r.id, e.number, r.Session)
		code, fresh, err := commit(r.tx, s, r.onBranch, message)
		if err != nil {
			return nil, err
		}
		if fresh {
			r.moveBranch(code)
		}
		t.Code = code
	}
	if err := r.compare(ctx, t); err != nil {
		return nil, err
	}
	var own share
	if e.seen {
		var err error
		if own, err = r.own(ctx, t, s, r.segment.Bytes[e.start:e.end]); err != nil {
			return nil, err
		}
		t.Own = own.record
		own.keep = append(own.keep, r.beside(ctx, t, old)...)
	}
	files := make(map[string][]byte)
	if t.Transcript != nil && t.Transcript.Missing == "" {
		segmentFile(t, files, r.segment.Bytes[e.start:e.end], r.rules, r.tx.Purged())
	}
	if t.Transcript != nil && t.Transcript.Missing != "" {
		r.warn("turn %s has no transcript segment: %s", t.ID(), t.Transcript.Missing)
	}
	addSubagents(t, old, sub, files, r.rules, r.tx.Purged())
	r.prove(t, r.agent().Reader, r.segment.Bytes[e.start:e.end], sub)
	if sub.err != nil {
		r.warn("turn %s lacks sub-agents: %v", t.ID(), sub.err)
	}
	line, err := t.Encode()
	if err != nil {
		return nil, err
	}
	files[ledger.TurnPath("turns", e.number, ".json")] = append(line[:len(line):len(line)], '\n')
	r.spend(t, old)
	keep := []object.Hash{t.Code}
	if reached, err := r.reaches(t); err != nil {
		return nil, err
	} else if !reached {
		keep = append(keep, t.Base)
	}
	keep = append(keep, own.keep...)
	if r.tx.Ledger.Mission.Title == "" {
		r.tx.Ledger.Mission.Title = ledger.Head(turns.FirstLine(t.Prompt), turns.MaxSubject)
	}
	if err := r.append(fmt.Sprintf("turn %d", e.number), files, keep...); err != nil {
		return nil, err
	}
	return t, r.note(t, line)
}

// reaches reports whether the turn's base is its code commit or a parent of it,
// or unknown.
func (r *recording) reaches(t *turns.Turn) (bool, error) {
	if t.Base == t.Code || t.Base.IsZero() {
		return true, nil
	}
	parents, err := r.tx.Objects.Parents(t.Code)
	return slices.Contains(parents, t.Base), err
}

func (r *recording) append(subject string, files map[string][]byte, keep ...object.Hash) error {
	r.tx.Ledger.Mission.AddSession(r.Session)
	return r.tx.Append(subject, files, keep...)
}

// segmentFile adds the redacted segment to files. If redaction fails, nothing
// is stored, and the turn says so.
func segmentFile(t *turns.Turn, files map[string][]byte, raw []byte, rules *redact.Rules, purged *scrub.Finder) {
	path := ledger.TurnPath("transcript", t.Turn, ".jsonl")
	data, err := rules.JSONLines(transcript.Unblank(raw), agent.Structure)
	if err != nil {
		t.Transcript.Missing = "redaction"
		files[path] = nil
		return
	}
	data = scrub.Unquoted(purged.ReplaceJSON(data), purged.IsPrompt)
	t.Transcript.Path, t.Transcript.Bytes = path, len(data)
	if data == nil {
		data = []byte{}
	}
	files[path] = data
}

func (r *recording) compare(ctx context.Context, t *turns.Turn) error {
	if t.Base.IsZero() {
		return nil
	}
	from, err := r.tx.Objects.TreeOf(t.Base)
	if err != nil {
		return err
	}
	to, err := r.tx.Objects.TreeOf(t.Code)
	if err != nil || from == to {
		return err
	}
	stats, err := r.lines(ctx, t, from, to)
	t.Files, t.Insertions, t.Deletions, t.Paths = count(stats)
	return err
}

// lines compares two trees of a turn.
func (r *recording) lines(ctx context.Context, t *turns.Turn, from, to object.Hash) ([]gitdiff.FileStat, error) {
	stats, ok, err := gitdiff.Stat(r.tx.Objects, from, to)
	lost := err
	if err != nil && !git.Lost(err) {
		return nil, err
	}
	if !ok {
		// Too large to compare in-process; git needs the objects on disk. What is
		// staged beside them is written only if the turn is recorded here.
		if err := r.tx.Objects.FlushTrees(from, to); err != nil {
			return nil, err
		}
		if stats, err = gitdiff.Trees(ctx, r.Repo, from, to); git.NamesObject(err) {
			lost = err
			stats, err = gitdiff.Names(ctx, r.Repo, from, to)
		}
		if err != nil {
			return nil, err
		}
	}
	if lost != nil { // in a partial clone a file that was never checked out
		r.warn("the lines that turn %s changed are not all counted: %v", t.ID(), lost)
	}
	return stats, nil
}

// count adds up a comparison as records have it.
func count(stats []gitdiff.FileStat) (files, insertions, deletions int, paths []string) {
	for i, s := range stats {
		insertions += s.Insertions
		deletions += s.Deletions
		if i < record.MaxPaths {
			paths = append(paths, valid(s.Path))
		}
	}
	return len(stats), insertions, deletions, paths
}

// note adds the turn's line, or a short one, to the note on its code commit.
func (r *recording) note(t *turns.Turn, line []byte) error {
	line, err := t.NoteLine(line, r.noteOn(t))
	if err != nil {
		return err
	}
	if r.tx.Notes == nil {
		return nil
	}
	if err := r.tx.Note(t.Code, line); err != nil {
		r.tx.LeaveNotes(err)
	}
	return nil
}

// noteOn returns the note on a turn's code commit, or nil.
func (r *recording) noteOn(t *turns.Turn) []byte {
	if r.tx.Notes == nil {
		return nil
	}
	note, err := r.tx.Notes.Get(t.Code)
	if err != nil && !errors.Is(err, gitnotes.ErrNotFound) {
		r.tx.LeaveNotes(err)
	}
	return note
}

func (r *recording) cursorAt(offset int64, turn int) (session.Cursor, error) {
	c, err := transcript.At(r.Transcript, offset)
	return session.Cursor{Offset: c.Offset, Check: c.Check, Turn: turn}, err
}

func (r *recording) warn(format string, args ...any) {
	r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
}
