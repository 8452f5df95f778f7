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
		st       session.Known
		liveness session.Liveness
		want     record.ExitType // "" for nothing to hand off
	}{
		{"lives", session.Known{Mission: "m", Open: open}, session.Lives, ""},
		{"its process holds another conversation", session.Known{Mission: "m", Open: open}, session.MovedOn, record.Clean},
		{"gone in the middle of a turn", session.Known{Mission: "m", Open: open}, session.Gone, record.Killed},
		{"gone between turns", session.Known{Mission: "m"}, session.Gone, record.Crash},
		{"gone between turns, of a client that does not tell", session.Known{Mission: "m", Agent: "qwen-code"}, session.Gone, record.Clean},
		{"gone in the middle of a turn, of such a client", session.Known{Mission: "m", Agent: "qwen-code", Open: open}, session.Gone, record.Killed},
		{"has ended, and was cut off before it had handed off", session.Known{Mission: "m", Ended: true}, session.Ended, record.Clean},
		{"has handed off", session.Known{Mission: "m", Ended: true, HandedOff: true}, session.Ended, ""},
		{"has recorded nothing", session.Known{Open: open}, session.Gone, ""},
	} {
		if got := exitOf(session.Peer{Known: &tt.st, Liveness: tt.liveness}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
