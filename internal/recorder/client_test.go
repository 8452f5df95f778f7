package recorder

import (
	"testing"

	"gitagent/internal/session"
)

// TestNextClient: a prompt says in which process a session lives and which file is locked for it, also
// when nobody knows; other events add the process if they know it.
func TestNextClient(t *testing.T) {
	t.Parallel()
	old, pid := session.Client{PID: 5}, session.Client{PID: 6}
	held, moved := session.ClientLock{Path: "/a"}, session.ClientLock{Path: "/b"}
	for _, tt := range []struct {
		s      Signal
		client session.Client
		hold   session.ClientLock
	}{
		{Signal{Event: Prompted, Client: pid, ClientLock: moved}, pid, moved},
		{Signal{Event: Prompted, ClientLock: moved}, session.Client{}, moved},
		{Signal{Event: Prompted}, session.Client{}, session.ClientLock{}},
		{Signal{Event: Stopped, Client: pid}, pid, held},
		{Signal{Event: Stopped}, old, held},
	} {
		f := inputs{Signal: tt.s, state: session.Known{Client: old, ClientLock: held}}
		if st := f.next(plan{}, outturn{}, nil); st.Client != tt.client || st.ClientLock != tt.hold {
			t.Errorf("%+v: client %v, hold %v", tt.s, st.Client, st.ClientLock)
		}
	}
}
