package handoffstore

import (
	"os"
	"os/exec"
	"testing"

	"gitagent/internal/session"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	me := session.ReadClient(os.Getpid())
	gone := session.Client{PID: cmd.ProcessState.Pid(), Start: "1", Boot: me.Boot, Domain: me.Domain}
	before := me
	before.Boot = "another"
	live := session.Registration{PID: me.PID, Session: "other", Start: me.Start, Domain: me.Domain}
	mine := live
	mine.Session = "s"
	stale := session.Registration{PID: gone.PID, Session: "s", Start: "1", Domain: me.Domain}
	elsewhere := session.Registration{PID: 1 << 22, Session: "s", Start: "1", Domain: "linux:another:pid:[1]"}
	open := &session.OpenTurn{}
	for _, tt := range []struct {
		name     string
		st       session.State
		registry []session.Registration
		want     ExitType // "" for not over
	}{
		{"lives", session.State{Mission: "m", Client: me, Open: open}, nil, ""},
		{"lives, and is registered", session.State{Mission: "m", Client: me}, []session.Registration{mine}, ""},
		{"its process holds another conversation", session.State{Mission: "m", Client: me, Open: open}, []session.Registration{live}, Clean},
		{"gone in the middle of a turn", session.State{Mission: "m", Client: gone, Open: open}, nil, Killed},
		{"gone between turns", session.State{Mission: "m", Client: gone}, nil, Crash},
		{"gone, and its registration is still there", session.State{Mission: "m", Client: gone, Open: open}, []session.Registration{stale}, Killed},
		{"gone, and taken up again in another process", session.State{Mission: "m", Client: gone, Open: open}, []session.Registration{mine}, ""},
		{"gone, and taken up again where nobody can see it", session.State{Mission: "m", Client: gone, Open: open}, []session.Registration{elsewhere}, ""},
		{"the machine was started anew", session.State{Mission: "m", Client: before, Open: open}, nil, Killed},
		{"nobody knows its process", session.State{Mission: "m", Open: open}, nil, ""},
		{"has handed off", session.State{Mission: "m", Client: gone, Ended: true, HandedOff: true}, nil, ""},
		{"has ended, and was cut off before it had handed off", session.State{Mission: "m", Client: gone, Ended: true}, nil, Clean},
		{"has recorded nothing", session.State{Client: gone, Open: open}, nil, ""},
	} {
		if me.Start == "" && tt.name == "its process holds another conversation" {
			continue // the system does not tell processes apart
		}
		tt.st.Session = "s"
		exit, over := judge(&tt.st, tt.registry)
		if exit != tt.want || over != (tt.want != "") {
			t.Errorf("%s: %q, %t; want %q", tt.name, exit, over, tt.want)
		}
	}
}
