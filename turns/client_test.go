package turns

import (
	"testing"

	"gitagent/internal/session"
)

// TestNextClient: a prompt says in which process a session lives and which file is locked for it, also
// when nobody knows; other events add the process if they know it.
func TestNextClient(t *testing.T) {
	t.Parallel()
	old, pid := session.Client{PID: 5}, session.Client{PID: 6}
	held, moved := session.Hold{Path: "/a"}, session.Hold{Path: "/b"}
	for _, tt := range []struct {
		s      Signal
		client session.Client
		hold   session.Hold
	}{
		{Signal{Event: Prompted, Client: pid, Hold: moved}, pid, moved},
		{Signal{Event: Prompted, Hold: moved}, session.Client{}, moved},
		{Signal{Event: Prompted}, session.Client{}, session.Hold{}},
		{Signal{Event: Stopped, Client: pid}, pid, held},
		{Signal{Event: Stopped}, old, held},
	} {
		f := facts{Signal: tt.s, state: session.State{Client: old, Hold: held}}
		if st := f.next(plan{}, outturn{}, nil); st.Client != tt.client || st.Hold != tt.hold {
			t.Errorf("%+v: client %v, hold %v", tt.s, st.Client, st.Hold)
		}
	}
}
