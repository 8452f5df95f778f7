package session

import (
	"os"
	"os/exec"
	"testing"

	"gitagent/test/gittest"
)

func TestLive(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	gittest.Must(t, cmd.Run())
	me := ReadClient(os.Getpid())
	gone := Client{PID: cmd.ProcessState.Pid(), Start: "1", Boot: me.Boot, Domain: me.Domain}
	elsewhere := gone
	elsewhere.Domain = "linux:another:pid:[1]"
	for name, tt := range map[string]struct {
		c    Client
		want bool
	}{
		"unknown":      {Client{}, true},
		"this process": {me, true},
		"it has ended": {gone, false},
		"of a system that does not tell the start": {Client{PID: me.PID}, true},
		"ended, start unknown":                     {Client{PID: gone.PID}, false},
	} {
		if got := tt.c.Live(); got != tt.want {
			t.Errorf("%s: Live = %t, want %t", name, got, tt.want)
		}
	}
	if me.Start == "" {
		return // nothing here tells one process from another of the same id
	}
	for name, change := range map[string]func(*Client){
		"another process with the same id":                func(c *Client) { c.Start = "1" },
		"a process from before the machine started again": func(c *Client) { c.Boot = "another" },
	} {
		c := me
		if change(&c); c.Live() {
			t.Errorf("%s is taken for the client", name)
		}
	}
	if me.Domain != "" && !elsewhere.Live() {
		t.Error("a process of another container is called dead: nobody can see it from here")
	}
}

func TestStartOf(t *testing.T) {
	t.Parallel()
	const rest = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 396479 20 21\n"
	for stat, want := range map[string]string{
		"7 (claude) S" + rest:      "396479",
		"7 (a) Z (b\nc) R" + rest:  "396479",
		"7 (claude) Z" + rest:      "", // ended, and nobody has looked
		"7 (claude) X" + rest:      "",
		"7 (claude) S 1 2":         "",
		"":                         "",
		"7 claude S" + rest:        "",
		"7 (claude) S" + rest[:20]: "",
	} {
		if got := startOf(stat); got != want {
			t.Errorf("startOf(%q) = %q, want %q", stat, got, want)
		}
	}
}
