package recorder

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/session"
)

// TestNamed: which mission a signal is recorded to, if not to the session's own.
func TestNamed(t *testing.T) {
	t.Parallel()
	const a, b, c, d = "aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"
	for _, tt := range []struct {
		name      string
		signal    record.ID
		here      record.ID // HEAD is on its branch
		recording record.ID // the session records to it
		asked     string
		exists    record.ID // of those that might be asked for
		want      record.ID
	}{
		{name: "none"},
		{name: "all", signal: a, here: b, recording: c, asked: d, exists: d, want: a},
		{name: "its branch", here: b, recording: c, asked: d, exists: d, want: b},
		{name: "the session's", recording: c, asked: d, exists: d, want: c},
		{name: "the environment's", asked: d, exists: d, want: d},
		{name: "the environment's is not here", asked: d, exists: a},
		{name: "the environment's is a path", asked: "../../../etc", exists: "../../../etc"},
		{name: "the environment's is a letter", asked: "x", exists: "x"},
		{name: "the environment's is empty", exists: ""},
	} {
		got, err := named(Signal{Mission: tt.signal, Asked: tt.asked}, tt.here, &session.Known{Mission: tt.recording}, func(id record.ID) (bool, error) {
			if id != d {
				t.Errorf("%s: %q is looked for", tt.name, id)
			}
			return id == tt.exists, nil
		})
		if got != tt.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	broken := errors.New("broken")
	if got, err := named(Signal{Asked: d}, "", new(session.Known), func(record.ID) (bool, error) { return true, broken }); got != "" || !errors.Is(err, broken) {
		t.Errorf("nobody knows whether it exists: %q, %v", got, err)
	}
}

// TestOwnInstead: where the turn goes if the mission that is meant is damaged.
func TestOwnInstead(t *testing.T) {
	t.Parallel()
	const id = "a1b2c3d4"
	damaged := fmt.Errorf("read mission.json: %w", git.ErrDamaged)
	for _, tt := range []struct {
		name   string
		err    error
		signal Signal
		meant  record.ID
		want   bool
	}{
		{"an object is damaged", damaged, Signal{Session: "s"}, id, true},
		{"an object is lost", plumbing.ErrObjectNotFound, Signal{Session: "s"}, id, true},
		{"it is recorded", nil, Signal{Session: "s"}, id, false},
		{"a ref moved", git.ErrConflict, Signal{Session: "s"}, id, false},
		{"a mission is not there", git.ErrNotFound, Signal{Session: "s"}, id, false},
		{"nobody knows which one was meant", damaged, Signal{Session: "s"}, "", false},
		{"there is no session", damaged, Signal{}, id, false},
		{"it was asked for", damaged, Signal{Session: "s", Mission: id}, id, false},
		{"the environment asked for it", damaged, Signal{Session: "s", Asked: id}, id, true},
	} {
		if got := tt.signal.ownInstead(tt.err, tt.meant); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
