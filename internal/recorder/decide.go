package recorder

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// An inputs is everything that the meaning of a signal depends on.
type inputs struct {
	Signal
	id       record.ID     // the mission to record to
	worktree string        // git directory of the signal's worktree
	top      string        // of that worktree
	rules    *redact.Rules // what texts are redacted by
	state    session.Known // local state of the session; not older than the ledger
	found    object.Hash   // what the worktree had when the session came there in the turn; zero if unknown
	last     int           // number of the mission's last turn
	segment  flushed       // what the client has written since the cursor
	jumps    map[int]jump  // by where a turn's lines begin in the segment
	// inherited is what another session has of the beginning of a fresh one's
	// file; of -1 turns if all before the one that is recorded go with it.
	inherited repeats
	head      object.Hash // HEAD; zero on an unborn branch
	branch    string      // HEAD's, or the one that the current rebase will move; empty when detached
}

// A plan is a signal's meaning: turns that end, in order, and one that begins.
type plan struct {
	ends  []ending
	start start // of the first turn that ends or, if none does, of the one that begins
	taken int   // bytes of the segment that belong to the ended turns
	opens *opening
}

type ending struct {
	piece
	number int
	after  int // the turn whose segment precedes its own
}

type opening struct {
	prompt  string
	at      time.Time
	running bool // it began earlier, unannounced; the worktree may have changed since
}

// A start is the state in which a turn began, as the session knows it.
type start struct {
	base     object.Hash // the commit whose tree the worktree had; zero for HEAD's
	head     object.Hash // HEAD then; zero on an unborn branch
	branch   string      // HEAD's then
	exact    bool        // valid only if HEAD has not moved since
	promptID string
	prompt   string // redacted
	at       time.Time
	shared   bool // another turn of the session ran meanwhile
	unknown  bool // base is not the state in which it began, which nobody knows
}

// valid reports whether the start can be used: its commit exists (`git gc
// --prune=now` removes those that only the local state knows), and HEAD moved
// only with its branch or to descendants. A switch's changes are not the
// turn's.
func (s start) valid(there bool, head object.Hash, branch string, descends func() (bool, error)) (bool, error) {
	switch {
	case !there:
		return false, nil
	case s.head == head, s.head.IsZero() && !s.exact:
		return true, nil
	case s.exact:
		return false, nil
	case s.branch == branch: // it may have been amended, reset or rebased
		return true, nil
	case head.IsZero():
		return false, nil
	}
	return descends()
}

// A piece is one turn's share of a segment.
type piece struct {
	start, end int // bytes of the segment
	promptID   string
	summary    transcript.Summary
	seen       bool // the worktree is still as the turn left it
	past       bool // nobody told of it: it was before the session was recorded
}

// known reports whether a prompt belongs to a turn already seen: the event came
// twice, or the prompt waits in the client's queue. A queued prompt has the
// running turn's id and is not announced again.
func known(s Signal, st *session.Known) bool {
	if s.Event != Prompted || s.PromptID == "" {
		return false
	}
	return st.Open != nil && st.Open.PromptID == s.PromptID || st.Last != nil && st.Last.PromptID == s.PromptID || among(st.Beside, s.PromptID)
}

// repeated reports whether the event that recorded the last turn came again. If
// the agent has spoken since, it is a new event, unless the next turn is
// running, which then said it. Halted and another end of one turn count as the
// same: the first says how it ended.
func repeated(s Signal, st *session.Known, spoke func() bool) bool {
	if s.Event == Prompted || st.Last == nil || s.PromptID == "" {
		return false
	}
	halted := Signal{Event: Halted, Session: s.Session, PromptID: s.PromptID}
	crossed := st.Last.PromptID == s.PromptID && (s.Event == Halted || st.Last.Key == halted.key())
	if st.Last.Key != s.key() && !crossed {
		return false
	}
	if st.Open != nil {
		return st.Open.PromptID != s.PromptID
	}
	return !spoke()
}

func (f *inputs) agent() *agent.Agent { return agent.Of(cmp.Or(f.Agent, f.state.Agent)) }

// ends reports whether the signal ends a turn, but not the session.
func (s Signal) ends() bool { return s.Event == Stopped || s.Event == Erred || s.Event == Halted }

// again reports whether the signal ends the last turn once more: the agent went
// on after Stop, or the session's end came before the turn's.
func (f *inputs) again() bool {
	last := f.state.Last
	return f.ends() && f.state.Open == nil && last != nil &&
		last.PromptID == f.PromptID && f.PromptID != "" && last.Mission == f.id
}

// decide returns the meaning of the signal; the zero plan does nothing.
//
// A prompt opens a turn; one still open was interrupted and ends. If the turn
// that the event names is already running, its prompt had waited in the queue
// unannounced, and the event is about another one. The end of a session ends
// the open turn and any that ran unannounced.
func decide(f inputs) plan {
	begun := f.begun()
	named := f.named(begun)
	ours := begun
	if named >= 0 {
		ours = begun[:named]
	}
	var p plan
	switch ends := f.state.Open != nil || f.unannounced(ours); {
	case f.Event == Prompted && !ends:
		p.start = f.withoutPrompt()
	case f.Event == Ended && !ends:
		return p
	default:
		p.ends, p.start = f.endings(begun, named), f.start()
		p.taken = p.ends[len(p.ends)-1].end
	}
	if f.Event == Prompted {
		p.opens = &opening{prompt: f.Prompt, at: f.At}
		if !f.Started.IsZero() {
			p.opens.at = f.Started
		}
		if runs(begun, named) {
			p.opens = &opening{prompt: begun[named].Prompt, at: begun[named].At, running: true}
		}
	}
	return p
}

// named returns the index of the turn that a prompt event names, or -1 if the
// transcript lacks it. Some clients note a turn early: see [runs].
func (f *inputs) named(begun []transcript.FileTurn) int {
	if f.Event != Prompted || f.PromptID == "" {
		return -1
	}
	return slices.IndexFunc(begun, func(t transcript.FileTurn) bool { return t.PromptID == f.PromptID })
}

// runs reports whether the named turn began before the event. Some clients note
// a turn's beginning, run the hook, and then note its prompt.
func runs(begun []transcript.FileTurn, named int) bool {
	return named >= 0 && begun[named].Prompt != ""
}

// unannounced reports whether turns ran without an event: a queued prompt was
// interrupted. A first segment does not count, since hooks may have been
// installed in the middle of a conversation.
func (f *inputs) unannounced(ours []transcript.FileTurn) bool { return f.continues() && len(ours) > 0 }

// continues reports whether the segment begins where the session's last turn of
// this mission ended. Turns before belong to another mission.
func (f *inputs) continues() bool {
	return f.segment.from > 0 && f.state.Last != nil && f.state.Last.Mission == f.id
}

func (f *inputs) endings(begun []transcript.FileTurn, named int) []ending {
	pieces := f.pieces(begun, named)
	open := f.state.Open
	if open != nil && f.ends() && open.PromptID != "" && open.PromptID != pieces[0].promptID && open.PromptID != f.PromptID {
		pieces = append([]piece{{promptID: open.PromptID}}, pieces...) // it left nothing in the transcript
	}
	number, after := f.last, f.segment.after
	var list []ending
	for _, p := range pieces {
		number++
		if f.again() {
			number = f.state.Last.Turn
		}
		if j, jumps := f.jumps[p.start]; jumps {
			after = j.turn
			for _, e := range list {
				if j.promptID != "" && e.promptID == j.promptID {
					after = e.number
				}
			}
		}
		list = append(list, ending{p, number, after})
		if !f.segment.none {
			after = number
		}
	}
	return list
}

// maxPast is how many past turns become turns: one takes 3 ms, and the client
// waits for the hook.
const maxPast = 500

// pieces cuts the segment into turns; several if one ended without an event:
// the user interrupted it, and a queued prompt ran next.
//
// Bytes before the first turn go with it, but not those of turns that another
// session has. In a fresh one the turns before the one whose prompt was seen are
// past; the oldest of them has what was before it, if there are more than
// [maxPast]. A turn about to begin is left for the next segment.
func (f *inputs) pieces(begun []transcript.FileTurn, named int) []piece {
	bytes := f.segment.Bytes
	end := len(bytes)
	seen := !runs(begun, named)
	if named >= 0 {
		end = begun[named].Start
		begun = begun[:named]
	}
	first, current := f.which(begun)
	if current >= 0 {
		end = begun[current].End
	}
	told, from := first, 0
	if f.fresh() && f.inherited.turns >= 0 && first >= 0 {
		if first = min(f.inherited.turns, told); first > 0 && first < len(begun) {
			from = min(f.inherited.end, begun[first].Start)
		}
		first = max(first, told-maxPast)
	}
	if current < 0 || first < 0 {
		return []piece{{end: end, summary: transcript.Summarise(f.agent().Reader(), bytes[:end]), seen: seen}}
	}
	var list []piece
	for i := first; i <= current; i++ {
		p := piece{start: begun[i].Start, end: begun[i].End, promptID: begun[i].PromptID, seen: i == current && seen, past: i < told}
		p.summary = transcript.Summarise(f.agent().Reader(), bytes[p.start:p.end])
		if i == first {
			p.start = from
		}
		list = append(list, p)
	}
	if told > current { // the client has not written it yet
		list = append(list, piece{start: end, end: end, seen: seen})
	}
	return list
}

// which returns the first and the last of the turns that the segment's end is
// about; both are -1 if there is none. In a fresh session's file the turn that
// the prompt told of may be missing: then the first comes after the last.
func (f *inputs) which(begun []transcript.FileTurn) (first, current int) {
	by := func(promptID string) int { // after a fork by the client all old turns share one id: take the last
		for i, t := range slices.Backward(begun) {
			if t.PromptID == promptID {
				return i
			}
		}
		return -1
	}
	current = len(begun) - 1
	if i := by(f.PromptID); f.ends() && f.PromptID != "" && i >= 0 {
		current = i
	}
	begun = begun[:current+1]
	switch open := f.state.Open; {
	case open != nil && (open.PromptID != "" || !f.continues()):
		i := by(open.PromptID)
		switch {
		case i >= 0:
			return i, current
		case f.fresh() && open.PromptID != "" && current >= 0 && begun[current].PromptID != "":
			return current + 1, current
		}
	case f.continues() && !f.again():
		return min(0, current), current
	}
	return current, current
}

func (f *inputs) start() start {
	var s start
	switch last, o := f.state.Last, f.state.Open; {
	case o != nil:
		s = start{base: o.Base, head: o.Head, branch: o.Branch, promptID: o.PromptID, prompt: o.Prompt, at: o.Started, shared: o.Shared}
	case f.again():
		s = start{base: last.Base, head: last.From, branch: last.Branch, promptID: last.PromptID, prompt: last.Prompt, at: last.Started, unknown: last.Base.IsZero()}
	default:
		return f.withoutPrompt()
	}
	if f.elsewhere() {
		s.base = f.found // the other worktree's state says nothing about this one
		if !f.found.IsZero() {
			s.head, s.branch = f.found, f.branch
		}
	}
	return s
}

// withoutPrompt returns the start of a turn without a prompt event: the last
// code commit if HEAD has not moved since, else HEAD.
func (f *inputs) withoutPrompt() start {
	s := start{head: f.head, exact: true}
	if last := f.state.Last; last != nil && last.Mission == f.id && !f.elsewhere() {
		s.base, s.head = last.Code, last.Head
	}
	return s
}

// elsewhere reports whether the last event came from another worktree.
func (f *inputs) elsewhere() bool { return f.state.Worktree != "" && f.state.Worktree != f.worktree }

type outturn struct {
	turns []*turns.Turn // records of the turns that ended
	ended start         // the state in which the last of them began
	opens start         // the state in which the new turn began
	head  object.Hash   // HEAD, after all refs have moved
}

// next returns the session's state after the plan was carried out. at makes a
// cursor from an offset in the client's file and the turn that ends there.
func (f *inputs) next(p plan, done outturn, at func(offset int64, turn int) session.Cursor) session.Known {
	st := f.state
	if n := len(p.ends); n > 0 {
		t, e := done.turns[n-1], p.ends[n-1]
		before := session.Cursor{Offset: f.segment.from, Turn: f.segment.after}
		if c := f.cursor(); c.Offset == before.Offset {
			before.Check = c.Check
		}
		if n > 1 {
			before = at(f.segment.from+int64(p.ends[n-2].end), e.after)
		}
		st.Last = &session.LastTurn{
			Mission: f.id, Turn: t.Turn, PromptID: t.PromptID, Key: f.key(),
			Code: t.Code, Base: t.Base, From: done.ended.head, Branch: done.ended.branch, Head: done.head,
			Prompt: t.Prompt, Started: t.Started, Ended: t.At, Before: before,
			Refused: f.refused(done.turns),
		}
		st.Open = nil
		if !f.segment.none {
			c := session.Cursor{Offset: f.segment.Cursor.Offset, Check: f.segment.Cursor.Check, Turn: e.number}
			if p.taken < len(f.segment.Bytes) {
				c = at(f.segment.from+int64(p.taken), e.number)
			}
			st.Cursors = map[record.ID]session.Cursor{}
			maps.Copy(st.Cursors, f.state.Cursors)
			st.Cursors[f.id] = c
			st.Transcript = f.Transcript
		}
	}
	if p.opens != nil {
		st.Open = &session.OpenTurn{
			PromptID: f.PromptID, Prompt: f.rules.String(turns.Clip(p.opens.prompt)), Started: p.opens.at,
			Base: done.opens.base, Head: done.opens.head, Branch: done.opens.branch, Transcript: f.Transcript,
			Shared: len(st.Beside) > 0,
		}
	}
	st.Mission, st.Worktree, st.Top, st.Seen, st.Away = f.id, f.worktree, f.top, f.At, f.Away
	if f.Event != Ended {
		st.Ended, st.HandedOff = false, false // the session was resumed
	}
	if f.Agent != "" {
		st.Agent = f.Agent
	}
	if f.Client.PID != 0 || f.Event == Prompted { // an unknown process may resume a session
		st.Client = f.Client
	}
	if f.Event == Prompted {
		st.ClientLock = f.ClientLock
	}
	if len(p.ends) > 0 {
		goOn(&st)
	}
	return st
}

// cursor returns where the segment of the signal's turn begins.
func (f *inputs) cursor() session.Cursor {
	if f.again() {
		return f.state.Last.Before
	}
	return f.state.Cursors[f.id]
}

// A place holds what determines the commit for the current worktree.
type place struct {
	tree     object.Hash // of the worktree
	head     object.Hash // HEAD; zero on an unborn branch
	headTree object.Hash
	start    start // of the turn; its base commit exists
	baseTree object.Hash
	onBranch bool // HEAD is on the mission's branch
}

// commit returns the commit that holds the worktree or, if there is none, the
// parent of one to make; zero for a root commit.
//
// HEAD is used if its tree is the worktree's. In a passive mission whose HEAD
// has not moved, so is the start's commit; else it is the parent. Otherwise
// HEAD is the parent. There is only one: a turn recorded as a merge would lose
// its work in a rebase, and could not be cherry-picked.
func (p place) commit() (commit, parent object.Hash) {
	switch {
	case !p.head.IsZero() && p.tree == p.headTree:
		return p.head, object.Hash{}
	case p.onBranch, p.start.head != p.head:
		return object.Hash{}, p.head
	case p.tree == p.baseTree:
		return p.start.base, object.Hash{}
	}
	return object.Hash{}, p.start.base
}
