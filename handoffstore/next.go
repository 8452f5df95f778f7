package handoffstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/turns"
)

// A Start is the start or restart of a conversation.
type Start struct {
	At      time.Time
	Source  string // startup, resume, fork, clear or compact, as the client says
	Session string
	Client  session.Client
	Asked   string // GIT_AGENT_MISSION; used if it names a mission of this repository
}

// A Scope is how much of a handoff a conversation is told.
type Scope int

const (
	Nothing Scope = iota
	Waiting       // only that there is an untrusted one, for a person to accept
	Line          // one line
	Full
)

// A Briefing is what a conversation is to be told. The caller closes it.
type Briefing struct {
	Scope  Scope
	*Found // nil if Nothing
}

// Close releases the handoff.
func (t *Briefing) Close() {
	if t.Found != nil {
		t.Found.Close()
	}
}

// Next decides what a starting conversation is told: the last handoff of the
// mission that the branch or the environment names, or else, in the user's own
// checkout, of the peer that last worked there.
func (s *Store) Next(ctx context.Context, b Start, peers []session.Peer) (*Briefing, error) {
	if b.Source == "fork" {
		return &Briefing{}, nil // a copy knows all that its original knew
	}
	me := s.Workspace.Store.Load(b.Session)
	id, err := s.named(ctx, b)
	if err != nil {
		return nil, err
	}
	if id == "" && b.Source == "compact" {
		id, _ = record.ParseID(me.Mission) // "" if it has recorded nothing
	}
	if id != "" || b.Source == "compact" {
		told, _, err := s.consider(ctx, id, nil, b, me, peers)
		return told, err
	}
	for _, n := range s.before(b, peers) {
		id, err := record.ParseID(n.Mission)
		if err != nil {
			continue
		}
		if told, ok, err := s.consider(ctx, id, n.Known, b, me, peers); ok || err != nil {
			return told, err
		}
	}
	return &Briefing{}, nil
}

// named returns the mission that HEAD's branch or the environment names, or "".
func (s *Store) named(ctx context.Context, b Start) (record.ID, error) {
	id, err := s.Mission(ctx)
	if err == nil && id == "" {
		id, _ = record.ParseID(b.Asked)
	}
	return id, err
}

// before lists the peers of this worktree, the latest first. After a /clear it
// is only the same client process's last session.
func (s *Store) before(b Start, peers []session.Peer) []session.Peer {
	var here []session.Peer
	for _, n := range peers {
		if n.Worktree != s.Repo.GitDir || n.Mission == "" {
			continue
		}
		if b.Source == "clear" && b.Client.PID != 0 && n.Client == b.Client {
			return []session.Peer{n}
		}
		here = append(here, n)
	}
	return here
}

// consider looks at a mission's last handoff. ok is false if there is none, or
// if st, the session that worked on it, may still be at work.
func (s *Store) consider(ctx context.Context, id record.ID, st *session.Known, b Start, me *session.Known, peers []session.Peer) (told *Briefing, ok bool, err error) {
	if id == "" {
		return &Briefing{}, true, nil
	}
	f, err := open(ctx, s.Repo, id, 0)
	if errors.Is(err, git.ErrNotFound) {
		return &Briefing{}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if told == nil || told.Found == nil {
			f.Close()
		}
	}()
	t, err := turns.Last(f.Ledger)
	if err != nil {
		return nil, false, err
	}
	if t == nil {
		t = new(turns.Turn)
	}
	if st != nil && !st.HandedOff && !(f.fresh(t) && f.Session == st.Session) {
		return &Briefing{}, false, nil // it is still at work, beside this one
	}
	scope := decide(f, t, b, me, taken(f.ID(), b, peers))
	if scope == Nothing {
		return &Briefing{}, true, nil
	}
	trusted, here, err := s.standing(ctx, f)
	if err != nil {
		return nil, false, err
	}
	if !trusted {
		scope = Waiting
	} else if !here {
		if about, err := s.about(ctx, f.Head); err != nil || !about {
			return &Briefing{}, true, err
		}
	}
	return &Briefing{scope, f}, true, nil
}

// fresh reports whether the agent wrote the handoff in the last turn or later.
func (f *Found) fresh(last *turns.Turn) bool {
	return !f.Written.IsZero() && last.Turn <= f.LastTurn+1
}

// decide says how much of a handoff a conversation is told. me is its session,
// t the mission's last turn; taken says that another session works from it.
func decide(f *Found, t *turns.Turn, b Start, me *session.Known, taken bool) Scope {
	switch {
	case f.Mission != f.In:
		return Nothing // inherited from the mission that this one was forked from
	case b.Source == "compact":
		if i := told(me, f.ID()); i != nil && !i.Line && !i.Last.IsZero() && b.At.Sub(i.Last) < sameStart {
			return Nothing // the event has arrived twice
		}
		return Full // the conversation has lost what it was told before
	case f.Session == b.Session, told(me, f.ID()) != nil, taken:
		return Nothing
	case t.Turn > f.LastTurn && t.Session != f.Session:
		return Nothing // another session has gone on from it
	case b.Source == "resume" && (me.Seen.IsZero() || !f.At.After(me.Seen)):
		return Nothing // no work is known of since
	case f.ExitType != record.Clean, !f.Written.IsZero():
		return Full
	case b.Source == "clear":
		return Nothing // the user wants a conversation without the last one
	}
	return Line
}

// sameStart is how soon after being told another start after a compaction is a
// repeated event, unless [Store.Forget] came between.
const sameStart = time.Minute

// told returns when a session was told a handoff, nil if it was not.
func told(st *session.Known, id ID) *session.Injection {
	i := slices.IndexFunc(st.Injected, func(told session.Injection) bool { return told.Handoff == id.String() })
	if i < 0 {
		return nil
	}
	return &st.Injected[i]
}

// taken reports whether another session was told a handoff, and is alive in
// another client or has had a turn since.
func taken(id ID, b Start, peers []session.Peer) bool {
	return slices.ContainsFunc(peers, func(n session.Peer) bool {
		injection := told(n.Known, id)
		if injection == nil || injection.Line {
			return false
		}
		worked := n.Open != nil && n.Open.Started.After(injection.At) || n.Last != nil && n.Last.Started.After(injection.At)
		beside := n.Liveness == session.Lives && (b.Client.PID == 0 || n.Client != b.Client)
		return worked || beside
	})
}

// Begin notes that a session runs, in which process, and what it was told. A
// new session that was told nothing leaves no trace.
func (s *Store) Begin(ctx context.Context, b Start, what *Briefing) error {
	return s.Workspace.Store.Update(ctx, b.Session, func(st *session.Known) error {
		fresh := st.Seen.IsZero()
		tells := what.Scope == Full || what.Scope == Line
		if fresh && !tells {
			return session.ErrUnchanged
		}
		if fresh {
			st.Seen, st.Worktree = b.At, s.Repo.GitDir // an older session keeps the time of its last work
		}
		st.Ended, st.HandedOff = false, false
		// A turn that runs in another client is that one's, until this one has a prompt.
		beside := st.Open != nil && st.Client.PID != 0 && st.Client.Live()
		if b.Client.PID != 0 && !beside {
			st.Client = b.Client
		}
		if !tells {
			return nil
		}
		i := told(st, what.ID())
		if i == nil {
			st.Injected = append(st.Injected, session.Injection{Handoff: what.ID().String(), At: b.At})
			i = &st.Injected[len(st.Injected)-1]
		}
		i.Last, i.Line = b.At, what.Scope == Line
		return nil
	})
}

// Forget notes that a compaction is about to lose what a conversation was told.
func (s *Store) Forget(ctx context.Context, id string) error {
	return s.Workspace.Store.Update(ctx, id, func(st *session.Known) error {
		if len(st.Injected) == 0 {
			return session.ErrUnchanged
		}
		for i := range st.Injected {
			st.Injected[i].Last = time.Time{}
		}
		return nil
	})
}

// Orphan returns what to hand off for the current mission if its last session
// is not known here and has not handed off, or nil. Untrusted words must not
// come back as our handoff.
func (s *Store) Orphan(ctx context.Context, b Start, registry []session.Registration) (*Request, error) {
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
	t, err := turns.Last(l)
	if err != nil || t == nil || t.Mission != id || t.Session == "" || t.Session == b.Session {
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
	// Sessions that are known here are left to Abandoned.
	if s.Workspace.Store.Load(t.Session).Mission != "" || session.Registered(t.Session, registry) {
		return nil, nil
	}
	if about, err := s.aboutHere(ctx, objects, l, t); err != nil || !about {
		return nil, err
	}
	return &Request{At: b.At, Exit: record.Crash, Mission: id, Session: t.Session, Agent: t.Agent}, nil
}
