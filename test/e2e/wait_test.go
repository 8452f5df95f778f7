//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// patience is how long a condition may take to come true.
	// A turn of the client takes less than a second; CI machines may be ten times slower.
	patience = 2 * time.Minute
	// pollEvery is the pause between two looks. The registry is written within 20 to 70 ms of a
	// change.
	pollEvery = 20 * time.Millisecond
)

// await polls ok until it is true. When patience has run out,
// the test fails and says what was waited for and all that the rig knows.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	if ok() {
		return
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	timeout := time.After(patience)
	for {
		select {
		case <-timeout:
			r.t.Fatalf("not within %v: %s\n%s", patience, what, r.report())
		case <-tick.C:
			if ok() {
				return
			}
		}
	}
}

// report describes the rig for the reader of a failed test.
func (r *rig) report() string {
	var b strings.Builder
	section := func(name, text string) {
		fmt.Fprintf(&b, "--- %s\n%s\n", name, strings.TrimRight(text, "\n"))
	}
	for _, s := range r.sessions {
		section("pane", s.term.screen())
		section("registry", fmt.Sprintf("%+v", s.registry()))
	}
	section("requests", r.mock.index())
	var events strings.Builder
	for _, e := range r.witness.events() {
		fmt.Fprintln(&events, e)
	}
	section("hook events", events.String())
	for _, p := range r.panes {
		section("pane", p.term.screen())
	}
	settings, _ := os.ReadFile(r.settings())
	section("settings", string(settings))
	log, _ := os.ReadFile(filepath.Join(r.repo.Dir, ".git", "agent", "log"))
	section("log of the hooks", string(log))
	list, err := r.tryCommand(r.repo.Dir, "list", "--json", "--all")
	if err != nil {
		list += err.Error()
	}
	section("list", list)
	return b.String()
}

// timeout fires when patience has run out.
func (r *rig) timeout() <-chan time.Time { return time.After(patience) }
