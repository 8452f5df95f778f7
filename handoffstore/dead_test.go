package handoffstore

import (
	"testing"

	"gitagent/internal/record"
	"gitagent/internal/session"
)

func TestExitOf(t *testing.T) {
	t.Parallel()
	open := &session.OpenTurn{}
	for _, tt := range []struct {
		name     string
		st       session.State
		liveness session.Liveness
		want     record.ExitType // "" for nothing to hand off
	}{
		{"lives", session.State{Mission: "m", Open: open}, session.Lives, ""},
		{"its process holds another conversation", session.State{Mission: "m", Open: open}, session.MovedOn, record.Clean},
		{"gone in the middle of a turn", session.State{Mission: "m", Open: open}, session.Gone, record.Killed},
		{"gone between turns", session.State{Mission: "m"}, session.Gone, record.Crash},
		{"has ended, and was cut off before it had handed off", session.State{Mission: "m", Ended: true}, session.Ended, record.Clean},
		{"has handed off", session.State{Mission: "m", Ended: true, HandedOff: true}, session.Ended, ""},
		{"has recorded nothing", session.State{Open: open}, session.Gone, ""},
	} {
		if got := exitOf(session.Peer{State: &tt.st, Liveness: tt.liveness}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
