package session

import (
	"os"
	"os/exec"
	"testing"

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
