package handoffstore

import (
	"context"
	"errors"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// A Start is a conversation that begins, or begins anew.
type Start struct {
	At      time.Time
	Source  string // startup, resume, fork, clear or compact, as the client says
	Session string
	Client  session.Client
	Asked   string // what GIT_AGENT_MISSION says; followed if it names a mission of this repository
}

// An Extent is how much of a handoff a conversation is told.
type Extent int

// The extents.
const (
	Nothing Extent = iota
	Waiting        // only that there is one: a stranger's, which a person has to accept
	Line           // one line
	Full
)

// A Told is what a conversation is to be told. The caller closes it.
type Told struct {
	Extent Extent
	*Found // nil if Nothing
}

// Close ends the reading.
func (t *Told) Close() {
	if t.Found != nil {
		t.Found.Close()
	}
}

// Next decides what a conversation that starts is told. In a mission that has a branch, or is named, it is that mission's last handoff;
// in a checkout of the user's own that of the session which worked there before.
func (s *Store) Next(ctx context.Context, b Start) (*Told, error) {
	if b.Source == "fork" {
		return &Told{}, nil // it knows all that the conversation knew that it is a copy of
	}
	recent := s.local().Recent(maxSessions)
	me := s.local().Load(b.Session)
	id, err := s.named(ctx, b)
	if err != nil {
		return nil, err
	}
	if id == "" && b.Source == "compact" {
		id, _ = ledger.ParseID(me.Mission) // none: it has recorded nothing
	}
	if id != "" || b.Source == "compact" {
		told, _, err := s.consider(ctx, id, nil, b, me, recent)
		return told, err
	}
	for _, st := range s.before(b, recent) {
		id, err := ledger.ParseID(st.Mission)
		if err != nil {
			continue
		}
		if told, ok, err := s.consider(ctx, id, st, b, me, recent); ok || err != nil {
			return told, err
		}
	}
	return &Told{}, nil
}

// named is the mission that HEAD's branch or the environment names, "" if none.
func (s *Store) named(ctx context.Context, b Start) (ledger.ID, error) {
	branch, err := s.Repo.HeadRef(ctx)
	if err != nil {
		return "", err
	}
	if branch == "" {
		branch = s.Repo.RebasedBranch()
	}
	if id, ok := ledger.OfBranch(branch, s.Capture.BranchPrefix); ok {
		return id, nil
	}
	if id, err := ledger.ParseID(b.Asked); err == nil {
		return id, nil
	}
	return "", nil
}

// before lists the other sessions that worked in this worktree, the last one first. After a /clear it is the one that the same client
// process held.
func (s *Store) before(b Start, recent []*session.State) []*session.State {
	var others []*session.State
	for _, st := range recent {
		if st.Session == b.Session || st.Worktree != s.Repo.GitDir || st.Mission == "" {
			continue
		}
		if b.Source == "clear" && b.Client.PID != 0 && st.Client == b.Client {
			return []*session.State{st}
		}
		others = append(others, st)
	}
	return others
}

// consider looks at the last handoff of a mission. ok is false if another mission is to be looked at:
// st is the session that worked there, if it may still live.
func (s *Store) consider(ctx context.Context, id ledger.ID, st *session.State, b Start, me *session.State, recent []*session.State) (told *Told, ok bool, err error) {
	if id == "" {
		return &Told{}, true, nil
	}
	f, err := open(ctx, s.Repo, id, 0)
	if errors.Is(err, git.ErrNotFound) {
		return &Told{}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	keep := false
	defer func() {
		if !keep {
			f.Close()
		}
	}()
	t, err := lastTurn(f.Ledger)
	if err != nil {
		return nil, false, err
	}
	if st != nil && !st.HandedOff && !(f.fresh(t) && f.Session == st.Session) {
		return &Told{}, false, nil // it goes on, beside this one
	}
	extent := decide(f, t, b, me, taken(f.ID(), b, recent))
	if extent == Nothing {
		return &Told{}, true, nil
	}
	trusted, err := s.Trusted(ctx, f)
	if err != nil {
		return nil, false, err
	}
	if !trusted {
		extent = Waiting
	}
	keep = true
	return &Told{extent, f}, true, nil
}

// fresh reports whether the agent wrote the handoff, and has ended no turn since but the one it wrote it in.
func (f *Found) fresh(last turn) bool {
	return !f.Written.IsZero() && last.Turn <= f.LastTurn+1
}

// decide says how much of a mission's last handoff a conversation is told. me is what is known of its session, t the mission's last turn,
// and taken says that another session has been told all of it and has gone on from it.
func decide(f *Found, t turn, b Start, me *session.State, taken bool) Extent {
	switch {
	case f.Mission != f.In:
		return Nothing // inherited from the mission that this one was forked from
	case b.Source == "compact":
		return Full // what the conversation was told before is gone
	case f.Session == b.Session, told(me, f.ID()) != nil, taken:
		return Nothing
	case t.Turn > f.LastTurn && t.Session != f.Session:
		return Nothing // somebody has gone on from it
	case b.Source == "resume" && (me.Seen.IsZero() || !f.At.After(me.Seen)):
		return Nothing // nobody has worked here since, as far as is known
	case f.ExitType != Clean, !f.Written.IsZero():
		return Full
	case b.Source == "clear":
		return Nothing // the user wants a conversation without the last one
	}
	return Line
}

// told returns when a session was told a handoff, nil if it was not.
func told(st *session.State, id ID) *session.Injection {
	for i, told := range st.Injected {
		if told.Handoff == id.String() {
			return &st.Injected[i]
		}
	}
	return nil
}

// taken reports whether another session was told a handoff, and goes on beside this one or has had a turn since.
func taken(id ID, b Start, recent []*session.State) bool {
	for _, st := range recent {
		injection := told(st, id)
		if st.Session == b.Session || injection == nil {
			continue
		}
		worked := st.Open != nil && st.Open.Started.After(injection.At) || st.Last != nil && st.Last.Started.After(injection.At)
		beside := !st.Ended && st.Client.Live() && (b.Client.PID == 0 || st.Client != b.Client)
		if worked || beside {
			return true
		}
	}
	return false
}

// Begin notes that a session runs, in which process, and what it was told. That it has ended before no longer
// holds. A session that is new here and was told nothing leaves no trace.
func (s *Store) Begin(ctx context.Context, b Start, what *Told) error {
	return s.change(ctx, b.Session, func(st *session.State) bool {
		fresh := st.Seen.IsZero()
		if fresh && what.Extent != Full {
			return false
		}
		if fresh {
			st.Seen, st.Worktree = b.At, s.Repo.GitDir // of another one it stays when it has worked last
		}
		st.Ended, st.HandedOff = false, false
		if b.Client.PID != 0 {
			st.Client = b.Client
		}
		if what.Extent == Full && told(st, what.ID()) == nil {
			st.Injected = append(st.Injected, session.Injection{Handoff: what.ID().String(), At: b.At})
		}
		return true
	})
}

// An Orphan is a mission whose last session worked elsewhere, or left no trace here, and has not handed off.
type Orphan struct {
	Mission ledger.ID
	Session string
	Agent   string
}

// Orphan finds out whether the mission that HEAD's branch names is one. Its last turn must be our own committer's:
// what a stranger said must not come back as something that we have handed off.
func (s *Store) Orphan(ctx context.Context, b Start, registry []session.Registration) (*Orphan, error) {
	id, err := s.named(ctx, b)
	if err != nil || id == "" || b.Source == "compact" {
		return nil, err
	}
	objects := s.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, s.Repo, objects, id)
	if errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := lastTurn(l)
	if err != nil || t.Turn == 0 || t.Mission != id || t.Session == "" || t.Session == b.Session {
		return nil, err
	}
	number, err := l.LastHandoff()
	if err != nil {
		return nil, err
	}
	if number > 0 {
		if h, err := readAt(l, number); err != nil || h.LastTurn >= t.Turn {
			return nil, err
		}
	}
	if s.local().Load(t.Session).Mission != "" {
		return nil, nil // it is known here: see Left
	}
	for _, r := range registry {
		if r.Session == t.Session && (!r.Here() || r.Runs()) {
			return nil, nil
		}
	}
	own, err := s.own(ctx, l.Tip, ledger.TurnPath("turns", t.Turn, ".json"))
	if err != nil || !own {
		return nil, err
	}
	return &Orphan{id, t.Session, t.Agent}, nil
}
