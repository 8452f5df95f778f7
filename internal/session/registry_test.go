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

// TestElsewhere: whoever is in another pid namespace, as in a container, can't be seen. Containers mostly have no
// machine's id.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	const host, container = "linux:0123:pid:[4026531836]", "linux::pid:[4026532281]"
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{host, host, false},
		{host, container, true},
		{host, "linux:0123:pid:[4026532281]", true},
		{host, "linux:4567:pid:[4026531836]", true},
		{host, "linux::pid:[4026531836]", false},
		{container, container, false},
		{container, "linux::pid:[4026532282]", true},
		{host, "", false},
		{"", "", false},
	} {
		if elsewhere(tt.a, tt.b) != tt.want || elsewhere(tt.b, tt.a) != tt.want {
			t.Errorf("elsewhere(%q, %q) = %t, want %t", tt.a, tt.b, !tt.want, tt.want)
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
