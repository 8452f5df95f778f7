package session

import (
	"os"
	"testing"
)

func TestHere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		domain string
		want   bool
	}{
		{Domain(), true},
		{"", true}, // a client that doesn't say
		{"linux:0123:pid:[1]", Domain() == ""},
	} {
		if got := (Registration{Domain: tt.domain}).Here(); got != tt.want {
			t.Errorf("Here with domain %q = %v, want %v", tt.domain, got, tt.want)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	me := ReadClient(os.Getpid())
	r := Registration{PID: me.PID, Session: "a", Start: me.Start}
	if got, want := r.Runs(), me.Start != ""; got != want {
		t.Errorf("Runs of this process = %v, want %v", got, want)
	}
	r.Start += "1" // the pid was used again
	if r.Runs() {
		t.Error("Runs of a process that had our pid = true")
	}
}
