package handoffstore

import (
	"os"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/test/gittest"
	"gitagent/turns"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const me, other, third = "s-me", "s-other", "s-third"
	handoff := func(exit record.ExitType, written bool) *Handoff {
		h := &Handoff{Mission: "a1b2c3d4", Number: 3, At: at, ExitType: exit, Session: other, LastTurn: 7}
		if written {
			h.Written = at
		}
		return h
	}
	for _, tt := range []struct {
		name, source string
		h            *Handoff
		turn         turns.Turn
		me           session.Known
		taken        bool
		in           string // the mission in whose ledger it lies, if another one
		want         Scope
	}{
		{"a crash", "startup", handoff(record.Crash, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "", Full},
		{"a kill", "startup", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "", Full},
		{"a document", "startup", handoff(record.Clean, true), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "", Full},
		{"a clean end", "startup", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "", Line},
		{"a document, after /clear", "clear", handoff(record.Clean, true), turns.Turn{Turn: 8, Session: other}, session.Known{}, false, "", Full},
		{"a clean end, after /clear", "clear", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "", Nothing},
		{"a kill that was told", "startup", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{Injected: []session.Injection{{Handoff: "a1b2c3d4/3"}}}, false, "", Nothing},
		{"another one was told", "startup", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{Injected: []session.Injection{{Handoff: "a1b2c3d4/2"}}}, false, "", Full},
		{"taken by a peer", "startup", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, true, "", Nothing},
		{"somebody has gone on from it", "startup", handoff(record.Killed, false), turns.Turn{Turn: 8, Session: third}, session.Known{}, false, "", Nothing},
		{"its own session has gone on", "startup", handoff(record.Clean, true), turns.Turn{Turn: 8, Session: other}, session.Known{}, false, "", Full},
		{"inherited by a fork", "startup", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "0badcafe", Nothing},
		{"resumed, and another session has worked since", "resume", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{Seen: at.Add(-time.Hour)}, false, "", Full},
		{"resumed, and it was there before", "resume", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{Seen: at.Add(time.Hour)}, false, "", Nothing},
		{"resumed, of which nothing is known", "resume", handoff(record.Killed, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "", Nothing},
		{"compacted", "compact", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{}, false, "", Full},
		{"compacted, and told before", "compact", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{Injected: []session.Injection{{Handoff: "a1b2c3d4/3"}}}, false, "", Full},
		{"compacted, and told after it", "compact", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{Injected: []session.Injection{{Handoff: "a1b2c3d4/3", Last: at}}}, false, "", Nothing},
		{"compacted, and told of it in a line", "compact", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{Injected: []session.Injection{{Handoff: "a1b2c3d4/3", Last: at, Line: true}}}, false, "", Full},
		{"compacted, and told long ago", "compact", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{Injected: []session.Injection{{Handoff: "a1b2c3d4/3", Last: at.Add(-time.Hour)}}}, false, "", Full},
		{"told in a line", "resume", handoff(record.Clean, false), turns.Turn{Turn: 7, Session: other}, session.Known{Injected: []session.Injection{{Handoff: "a1b2c3d4/3", Line: true}}}, false, "", Nothing},
	} {
		f := &Found{Handoff: tt.h, In: tt.h.Mission}
		if tt.in != "" {
			f.In = "0badcafe"
		}
		if got := decide(f, &tt.turn, Start{At: at, Source: tt.source, Session: me}, &tt.me, tt.taken); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	own := &Found{Handoff: handoff(record.Killed, true), In: "a1b2c3d4"}
	own.Session = me
	for source, want := range map[string]Scope{"startup": Nothing, "resume": Nothing, "clear": Nothing, "compact": Full} {
		if got := decide(own, &turns.Turn{Turn: 7, Session: me}, Start{Source: source, Session: me}, &session.Known{}, false); got != want {
			t.Errorf("its own handoff, %s: %d, want %d", source, got, want)
		}
	}
}

func TestTaken(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	me := session.ReadClient(os.Getpid())
	told := []session.Injection{{Handoff: "a1b2c3d4/3", At: at}}
	for _, tt := range []struct {
		name string
		st   session.Known
		want bool
	}{
		{"told another one", session.Known{Client: me, Injected: []session.Injection{{Handoff: "a1b2c3d4/2", At: at}}}, false},
		{"lives, and was told in a line", session.Known{Client: me, Injected: []session.Injection{{Handoff: "a1b2c3d4/3", At: at, Line: true}}}, false},
		{"lives", session.Known{Client: me, Injected: told}, true},
		{"lives, in the process that starts anew", session.Known{Client: session.Client{PID: 7, Start: "7"}, Injected: told}, false},
		{"has ended without a turn", session.Known{Client: me, Ended: true, Injected: told}, false},
		{"has ended, with a turn before it was told", session.Known{Ended: true, Injected: told, Last: &session.LastTurn{Started: at.Add(-time.Hour)}}, false},
		{"has ended, with a turn since", session.Known{Ended: true, Injected: told, Last: &session.LastTurn{Started: at.Add(time.Hour)}}, true},
		{"was killed in its first turn", session.Known{Ended: true, Injected: told, Open: &session.OpenTurn{Started: at.Add(time.Hour)}}, true},
	} {
		b := Start{Session: "s", Client: session.Client{PID: 7, Start: "7"}}
		if got := taken(ID{"a1b2c3d4", 3}, b, []session.Peer{{Known: &tt.st, Liveness: session.LivenessOf(&tt.st, nil)}}); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestBeginInSecondClient: a session is resumed in another client. A turn that runs in the first one stays that one's.
func TestBeginInSecondClient(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	live, other := session.ReadClient(os.Getpid()), session.Client{PID: 7, Start: "7"}
	dead := live
	dead.Start = "1"
	running := &session.OpenTurn{Started: l.now}
	for _, tt := range []struct {
		name string
		in   session.Client
		open *session.OpenTurn
		want session.Client
	}{
		{"a turn runs", live, running, live},
		{"a turn ran in a client that is gone", dead, running, other},
		{"a turn runs in a client that nobody knows", session.Client{}, running, other},
		{"no turn runs", live, nil, other},
	} {
		gittest.Must(t, l.Workspace.Store.Update(t.Context(), "s", func(st *session.Known) error {
			st.Seen, st.Client, st.Open = l.now, tt.in, tt.open
			return nil
		}))
		gittest.Must(t, l.Begin(t.Context(), Start{At: l.now, Source: "resume", Session: "s", Client: other}, new(Briefing)))
		if got := l.Workspace.Store.Load("s").Client; got != tt.want {
			t.Errorf("%s: the session is in %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
