package session

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"gitagent/test/gittest"
)

func TestLivenessOf(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	gittest.Must(t, cmd.Run())
	me := ReadClient(os.Getpid())
	gone := Client{PID: cmd.ProcessState.Pid(), Start: "1", Boot: me.Boot, Domain: me.Domain}
	before := me
	before.Boot = "another"
	live := Registration{PID: me.PID, Session: "other", Start: me.Start, Domain: me.Domain}
	mine := live
	mine.Session = "s"
	stale := Registration{PID: gone.PID, Session: "s", Start: "1", Domain: me.Domain}
	elsewhere := Registration{PID: 1 << 22, Session: "s", Start: "1", Domain: "linux:another:pid:[1]"}
	open := &OpenTurn{}
	for _, tt := range []struct {
		name     string
		st       Known
		registry []Registration
		want     Liveness
	}{
		{"lives", Known{Mission: "m", Client: me, Open: open}, nil, Lives},
		{"lives, and is registered", Known{Mission: "m", Client: me}, []Registration{mine}, Lives},
		{"its process holds another conversation", Known{Mission: "m", Client: me, Open: open}, []Registration{live}, MovedOn},
		{"gone in the middle of a turn", Known{Mission: "m", Client: gone, Open: open}, nil, Gone},
		{"gone between turns", Known{Mission: "m", Client: gone}, nil, Gone},
		{"gone, and its registration is still there", Known{Mission: "m", Client: gone, Open: open}, []Registration{stale}, Gone},
		{"gone, and taken up again in another process", Known{Mission: "m", Client: gone, Open: open}, []Registration{mine}, Lives},
		{"gone, and taken up again where nobody can see it", Known{Mission: "m", Client: gone, Open: open}, []Registration{elsewhere}, Lives},
		{"the machine was started anew", Known{Mission: "m", Client: before, Open: open}, nil, Gone},
		{"nobody knows its process", Known{Mission: "m", Open: open}, nil, Lives},
		{"has handed off", Known{Mission: "m", Client: gone, Ended: true, HandedOff: true}, nil, Ended},
		{"has ended, and was cut off before it had handed off", Known{Mission: "m", Client: gone, Ended: true}, nil, Ended},
		{"has recorded nothing", Known{Client: gone, Open: open}, nil, Gone},
	} {
		if me.Start == "" && tt.name == "its process holds another conversation" {
			continue // the system does not tell processes apart
		}
		tt.st.Session = "s"
		if got := LivenessOf(&tt.st, tt.registry); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// Whether a peer is company.
func TestBeside(t *testing.T) {
	t.Parallel()
	const here, there = "/repo/.git", "/repo/.git/worktrees/there"
	mine, theirs := Client{PID: 7, Start: "1"}, Client{PID: 8, Start: "1"}
	open := &OpenTurn{}
	for _, tt := range []struct {
		name string
		peer Known
		want bool
	}{
		{"another session", Known{Session: "b", Mission: "m", Worktree: here, Client: theirs}, true},
		{"of the same mission", Known{Session: "b", Mission: "mine", Worktree: here, Client: theirs}, true},
		{"in another worktree", Known{Session: "b", Mission: "m", Worktree: there, Client: theirs}, false},
		{"nobody knows where", Known{Session: "b", Mission: "m", Client: theirs}, false},
		{"has recorded nothing", Known{Session: "b", Worktree: here, Client: theirs}, false},
		{"the same in another client", Known{Session: "a", Mission: "mine", Worktree: here, Client: theirs}, false},
		{"the one before it in its client", Known{Session: "b", Mission: "m", Worktree: here, Client: mine}, false},
		{"in a turn of the same client", Known{Session: "b", Mission: "m", Worktree: here, Client: mine, Open: open}, true},
		{"the same process id of another process", Known{Session: "b", Mission: "m", Worktree: here, Client: Client{PID: 7, Start: "2"}}, true},
		{"of a client that is not known", Known{Session: "b", Mission: "m", Worktree: here}, true},
	} {
		me := &Known{Session: "a", Mission: "mine", Worktree: here, Client: mine}
		if got := (Peer{Known: &tt.peer}).Beside(me, here); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	if !(Peer{Known: &Known{Session: "b", Mission: "m", Worktree: here}}).Beside(&Known{Session: "a"}, here) {
		t.Error("two clients that are not known are taken for one")
	}
}

// Whether a peer runs, if its client may not be known.
func TestPeerRuns(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	client, open := Client{PID: os.Getpid()}, &OpenTurn{}
	for _, tt := range []struct {
		name     string
		peer     Peer
		registry []Registration
		want     bool
	}{
		{"its client runs", Peer{&Known{Client: client, Seen: now.Add(-100 * time.Hour)}, Lives}, nil, true},
		{"its client is gone", Peer{&Known{Client: client, Open: open, Seen: now}, Gone}, nil, false},
		{"ended", Peer{&Known{Client: client, Seen: now, Ended: true}, Ended}, nil, false},
		{"moved on", Peer{&Known{Client: client, Seen: now}, MovedOn}, nil, false},
		{"registered", Peer{&Known{Session: "s"}, Lives}, []Registration{{Session: "s", Held: true}}, true},
		{"its client locks a file", Peer{&Known{ClientLock: ClientLock{Path: "/home/dev/s.lock"}}, Lives}, nil, true},
		{"unknown, between turns", Peer{&Known{Seen: now}, Lives}, nil, false},
		{"unknown, in a turn", Peer{&Known{Open: open, Seen: now.Add(-time.Hour)}, Lives}, nil, true},
		{"unknown, in a turn of long ago", Peer{&Known{Open: open, Seen: now.Add(-25 * time.Hour)}, Lives}, nil, false},
	} {
		if got := tt.peer.Runs(tt.registry, now); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
