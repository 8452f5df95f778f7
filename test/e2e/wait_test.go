//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// pollEvery is the pause between two looks. The registry is written within 20 to 70 ms of a
// change.
const pollEvery = 20 * time.Millisecond

// await polls ok until it is true. If the run is ended meanwhile,
// the test fails and says what was waited for and all that the rig knows.
func (r *rig) await(what string, ok func() bool) {
	r.t.Helper()
	if ok() {
		return
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	ended, stop := runEnds()
	defer stop()
	for {
		select {
		case <-ended:
			r.t.Fatalf("did not come true: %s\n%s", what, r.report())
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

// runEnds tells until stop when whoever runs the tests ends them: the only limit is that of the whole run.
func runEnds() (ended <-chan os.Signal, stop func()) {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	return quit, func() { signal.Stop(quit) }
}
