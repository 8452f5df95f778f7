package turns_test

import (
	"testing"

	"gitagent/internal/session"
	"gitagent/turns"
)

func TestActivityOf(t *testing.T) {
	t.Parallel()
	running := turns.Live{Mission: "a1b2c3d4", Open: &session.OpenTurn{}}
	waiting := turns.Live{Mission: "a1b2c3d4"}
	other := turns.Live{Mission: "c3d4e5f6", Open: &session.OpenTurn{}}
	for _, tt := range []struct {
		live []turns.Live
		want turns.Activity
	}{
		{nil, turns.IsEnded},
		{[]turns.Live{other}, turns.IsEnded},
		{[]turns.Live{other, waiting}, turns.IsWaiting},
		{[]turns.Live{waiting, running, waiting}, turns.IsRunning},
	} {
		if got := turns.ActivityOf("a1b2c3d4", tt.live); got != tt.want {
			t.Errorf("ActivityOf with %v = %s, want %s", tt.live, got, tt.want)
		}
	}
}
