package blame

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A History is what is known of the turns. It is not safe for concurrent use.
type History struct {
	// Untrusted are the missions left out because no part of them is trusted.
	Untrusted []record.ID
	Unread    error // what could not be read and was left out; nil if nothing

	w        *workspace.Workspace
	objects  *git.Objects
	conf     git.Config
	promisor string                 // the remote of a partial clone, "" for other clones
	turns    []*pastTurn            // each once, in order of their starts
	places   map[recorded]int       // in turns; nil before they are needed
	ids      map[record.TurnID]bool // of turns; nil before they are needed
	states   map[object.Hash]*savedState
	asked    object.Hash // the commit of the last question
	// kept is the graph of an earlier question, and what was looked up in it;
	// nil if there is none. It does for another commit in it, too, as nothing
	// comes from what is after a commit.
	kept  *graph
	chart *chart // nil if there is none to be kept
	past  *past
	tips  map[record.ID]object.Hash
	files map[string]*versions
	next  []string // files that may be asked about next
}

// A pastTurn is what is kept of a turn's record.
type pastTurn struct {
	id          record.TurnID // as the record names it
	in          *ledger.Ledger
	started, at time.Time
	code, base  object.Hash // zero where the record of an imported turn doesn't know it
	// others and shared are where its own change begins, and where what is surely
	// its own does; zero if nobody else worked, or nothing is unsure.
	others, shared object.Hash
	commits        []object.Hash // that its own calls made, if others worked, and those of its worktrees
	worktrees      []record.Worktree
	session        string
	with           []string // the sessions that worked beside it
	// start is the state that was saved when it started, if one was: after a
	// switch of branches it is not base.
	start          object.Hash
	head           object.Hash // at the end; zero if that is not known
	branch         string      // HEAD's at the end, "" if it was detached
	before         *pastTurn   // the one before it in its mission; nil if it is the first
	paths          []string    // that it changed, in its worktrees too
	more, imported bool        // it changed more paths than these; it was imported
}

// A savedState is a commit that holds a mission's worktree at some moment.
type savedState struct {
	// made is set if the commit was made for that moment, not by the user or
	// agent: then the state before it stands for its ancestors.
	made    bool
	mission record.ID   // of one that was made
	chain   object.Hash // of one that was made: the state before it; zero for the first one
	turn    *pastTurn   // that ended in it, or was running; nil if it was saved between two
	starts  []*pastTurn // that started in it
	beside  *pastTurn   // of a state that is a turn's end without its own change
	// elsewhere is whether it may be of another worktree than that of the
	// mission which keeps it: an adoption saved it, or an undo after one.
	elsewhere bool
}

// Open reads the missions that the user may rely on.
func Open(ctx context.Context, w *workspace.Workspace) (*History, error) {
	h := &History{w: w, objects: w.Repo.Objects(ctx), states: make(map[object.Hash]*savedState)}
	if err := h.read(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Close ends the git processes of the history, and keeps for the next one what
// was asked about commits.
func (h *History) Close() {
	ctx, _ := h.objects.Of()
	_ = h.keep(ctx) // nothing depends on it
	h.objects.Close()
}

// maxFiles limits the files with versions that are kept.
const maxFiles = 16

// versions returns what a file was in the commits that matter for one commit
// and some turns, as far as that is known: nothing of a file that is asked
// about for the first time.
func (h *History) versions(ctx context.Context, commit object.Hash, list []*pastTurn, name string) (*versions, error) {
	if h.kept == nil || !h.kept.has(commit) || !h.kept.holds(list) {
		if h.asked == commit { // there are questions about several files
			list = slices.DeleteFunc(slices.Clone(h.turns), func(t *pastTurn) bool { return t.code.IsZero() })
		}
		g, err := h.graph(ctx, h.objects, commit, list)
		if err != nil {
			return nil, err
		}
		h.kept, h.files = g, nil
	}
	h.asked = commit
	v := h.files[name]
	if v == nil {
		if h.files == nil || len(h.files) == maxFiles {
			h.files = make(map[string]*versions)
		}
		v = newVersions(h.w.Repo, h.objects, h, h.kept)
		h.files[name] = v
	}
	v.next = h.next
	return v, nil
}

func (h *History) read(ctx context.Context) error {
	conf, err := h.w.Repo.Config(ctx)
	if err != nil {
		return err
	}
	h.conf, h.promisor = conf, conf.Promisor()
	h.readKept()
	var unread ledger.ReadErrors
	tips, err := ledger.ListAll(ctx, h.w.Repo)
	if err != nil && tips == nil {
		return err
	}
	unread.Add(err)
	h.tips = tips
	relied := h.w.TrustCache(ctx, h.objects)
	if err := relied.Look(tips); err != nil {
		return err
	}
	var list []*ledger.Ledger
	known := make(map[recorded]*pastTurn)
	for _, id := range slices.Sorted(maps.Keys(tips)) {
		usable := relied.Level(id, tips[id]).Commit
		if usable.IsZero() {
			h.Untrusted = append(h.Untrusted, id)
			continue
		}
		l, err := ledger.At(h.objects, id, usable)
		if err != nil {
			unread.Add(ledger.Unreadable(id, err))
			continue
		}
		list = append(list, l)
		unread.Add(h.readTurns(l, known))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	h.Unread = unread.Err()
	h.turns = slices.SortedFunc(maps.Values(known), byStart)
	return h.readStates(ctx, list)
}

func byStart(a, b *pastTurn) int {
	return cmp.Or(a.started.Compare(b.started), cmp.Compare(a.id.Mission, b.id.Mission), cmp.Compare(a.id.Turn, b.id.Turn), a.at.Compare(b.at))
}

// recorded identifies the record of a turn: forks inherit it, and a mission
// continued in two clones may use a number twice.
type recorded struct {
	id   record.TurnID
	at   time.Time
	code object.Hash
}

// readTurns reads a mission's records. An inherited turn belongs to the mission
// that recorded it, if that is here.
func (h *History) readTurns(l *ledger.Ledger, known map[recorded]*pastTurn) error {
	var after *pastTurn
	return turns.EachIn(h.objects, l, func(t *turns.Turn) error {
		key := recorded{t.ID(), t.At, t.Code}
		r := known[key]
		if r == nil {
			key.id.Mission = record.ID(strings.Clone(string(t.Mission))) // of the whole record only that stays
			r = &pastTurn{
				id: key.id, in: l, started: t.Before().At, at: t.At, head: t.Head,
				paths: cloned(t.Paths), branch: strings.Clone(t.Branch), more: t.Files > len(t.Paths), imported: t.Imported != "",
			}
			if t.CodeKnown() == nil {
				r.code, r.base = t.Code, t.Before().Commit
				r.session, r.worktrees = strings.Clone(t.Session), t.Worktrees
				for _, w := range t.Worktrees {
					r.paths, r.more = append(r.paths, cloned(w.Paths)...), r.more || w.Files > len(w.Paths)
				}
				if c := t.Change(); !c.Alone() {
					r.others, r.with, r.commits = c.From, cloned(c.With), slices.Clone(t.Own.Commits)
					if c.Unsure() {
						r.shared = c.Sure
					}
				}
			}
			known[key] = r
		} else if t.Mission == l.ID {
			r.in = l
		}
		if after != nil {
			after.before = r
		}
		after = r
		return nil
	})
}

func cloned(list []string) []string {
	list = slices.Clone(list)
	for i, s := range list {
		list[i] = strings.Clone(s)
	}
	return list
}

func (t *pastTurn) record() (*turns.Turn, error) { return turns.ReadIn(t.in, t.id.Turn) }

// readStates finds the states that ledgers keep, and the one before each.
func (h *History) readStates(ctx context.Context, list []*ledger.Ledger) error {
	events, err := h.events(ctx, list)
	if err != nil {
		return err
	}
	made, err := h.made(events)
	if err != nil {
		return err
	}
	byID, byCode := make(map[record.TurnID][]*pastTurn), make(map[object.Hash][]*pastTurn)
	for _, t := range h.turns {
		byID[t.id], byCode[t.code] = append(byID[t.id], t), append(byCode[t.code], t)
		if !t.code.IsZero() {
			h.state(t.code)
			h.withoutIt(t, t.id.Mission)
		}
		if !t.base.IsZero() {
			h.starts(t, t.base)
		}
	}
	type end struct {
		state   object.Hash
		adopted bool // by then the work had been adopted: what is saved while it is taken back may be elsewhere
	}
	last := make(map[object.Hash]end) // by event: what it left behind
	for _, l := range list {
		var chain []*ledger.CommitEvent
		at := l.Tip
		for e := events[at]; e != nil; e = events[at] {
			delete(events, at) // what a fork inherited is read once
			chain = append(chain, e)
			at = e.Before
		}
		before, adopted := last[at].state, last[at].adopted
		var saved []*save
		for _, e := range slices.Backward(chain) {
			pair := made.pair(e)
			if adopted = adopted || pair > 1; adopted && pair > 0 {
				h.elsewhere(e, made)
				last[e.Hash] = end{before, adopted}
				continue
			}
			next := before
			for _, commit := range e.Keeps {
				s := h.state(commit)
				name, is := made[keep{commit, e.At.Unix()}]
				if !is {
					if t := recordedIn(byCode[commit], e.At.Unix()); t != nil {
						h.began(t, saved)
						saved, next = nil, commit
						break // what follows is where it began
					}
					if next == before {
						next = commit
					}
					continue
				}
				s.made, s.mission = true, name.Mission
				if t := ended(byID[name.TurnID], e.At.Unix(), commit); t != nil {
					s.turn, s.chain, next = t, other(h.withoutIt(t, name.Mission), commit), commit
					h.began(t, saved)
					saved = nil
					break
				}
				if s.chain.IsZero() {
					s.chain = other(next, commit)
				}
				next = commit
				saved = append(saved, &save{keep{commit, e.At.Unix()}, len(e.Keeps) == 1})
			}
			before = next
			last[e.Hash] = end{before, adopted}
		}
	}
	return nil
}

// withoutIt returns the state before a turn's end: its base or, if others worked
// in it, what they and it made, less its own change. That comes after the base.
func (h *History) withoutIt(t *pastTurn, in record.ID) object.Hash {
	before := t.base
	for _, commit := range []object.Hash{t.others, t.shared} {
		if !commit.IsZero() && commit != t.code {
			s := h.state(commit)
			s.made, s.mission, s.beside, s.chain = true, in, t, other(before, commit)
			before = commit
		}
	}
	return before
}

// by reports whether a commit that may be of the turn was made for it or by its
// agent, and not by others who worked beside it.
func (h *History) by(t *pastTurn, commit object.Hash) bool {
	return t.others.IsZero() || commit == t.code && h.state(commit).made || slices.Contains(t.commits, commit)
}

// own is where what is surely the turn's own change begins.
func (t *pastTurn) own() object.Hash { return cmp.Or(t.shared, t.others, t.base) }

// elsewhere marks the states that an event keeps as possibly of another
// worktree: they neither follow nor precede the ledger's other states.
func (h *History) elsewhere(e *ledger.CommitEvent, made makings) {
	for _, commit := range e.Keeps {
		if name, is := made[keep{commit, e.At.Unix()}]; is {
			s := h.state(commit)
			s.made, s.mission, s.elsewhere = true, name.Mission, true
		}
	}
}

// recordedIn returns the turn in the list that was recorded at a second.
func recordedIn(list []*pastTurn, at int64) *pastTurn {
	for _, t := range list {
		if t.at.Unix() == at {
			return t
		}
	}
	return nil
}

// began finds, among the states since the turn before, those that a turn
// started in and that were saved while it ran.
func (h *History) began(t *pastTurn, saved []*save) {
	started := t.started.Unix()
	start := slices.IndexFunc(saved, func(k *save) bool { return k.commit == t.base })
	known := start >= 0 // what came after it came in the turn
	if !known && t.base == t.head {
		// After a switch base is HEAD, and the state's parent another.
		start = slices.IndexFunc(saved, func(k *save) bool { return k.at == started && k.alone && !h.on(k.commit, t.base) })
		known = start >= 0
	}
	if known {
		t.start = saved[start].commit
		h.starts(t, t.start)
	}
	for _, k := range saved[start+1:] { // all, if none is the start
		if k.at > started || k.at == started && (known || k.alone && h.on(k.commit, t.base)) {
			h.state(k.commit).turn = t
		}
	}
}

// on reports whether a commit was made on another one.
func (h *History) on(commit, parent object.Hash) bool {
	parents, err := h.objects.Parents(commit)
	return err == nil && slices.Contains(parents, parent)
}

// starts notes that a turn started in a state.
func (h *History) starts(t *pastTurn, commit object.Hash) {
	if s := h.state(commit); !slices.Contains(s.starts, t) {
		s.starts = append(s.starts, t)
	}
}

// other is a commit, or zero if it is that one.
func other(commit, than object.Hash) object.Hash {
	if commit == than {
		return object.Hash{}
	}
	return commit
}

// ended is the turn that ended in a commit which an event keeps: of those with
// the name that the commit has, the one that was recorded last, and no earlier.
// It may have been recorded again since.
func ended(named []*pastTurn, at int64, code object.Hash) *pastTurn {
	var best *pastTurn
	for _, t := range named {
		if t.code == code {
			return t
		}
		if t.at.Unix() >= at && (best == nil || t.at.Before(best.at)) {
			best = t
		}
	}
	return best
}

// state is what is known of a commit that holds a state.
func (h *History) state(commit object.Hash) *savedState {
	s := h.states[commit]
	if s == nil {
		s = new(savedState)
		h.states[commit] = s
	}
	return s
}
