package main

import (
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestPopulate: missions that are made up are whole for git and for the programs, go into the archive and come out.
func TestPopulate(t *testing.T) {
	gittest.Nightly(t)
	const missions = 200
	l := &lab{ctx: t.Context()}
	defer func() {
		if f, ok := recover().(failure); ok {
			t.Fatal(f)
		}
	}()
	l.furnish()
	defer func() { check(l.clean()) }()
	r := l.newRepository("few", smallFiles)
	r.enable()
	r.populate(missions, 0)
	us := func(args ...string) string { return l.feed(r.dir, nil, l.program, args...) }
	lines := func(what, text string, want int) {
		t.Helper()
		if n := strings.Count(text+"\n", "\n"); text == "" && want > 0 || text != "" && n != want {
			t.Errorf("%s: %d lines, want %d\n%.300s", what, n, want, text)
		}
	}
	if out := r.git("fsck", "--strict", "--no-dangling"); out != "" {
		t.Error(out)
	}
	lines("refs", r.git("for-each-ref", "refs/agent", "refs/notes"), 2*missions)
	lines("missions", us("missions", "--json"), missions)
	if out := us("doctor", "--repair"); !strings.Contains(out, "nothing is damaged, missing or stale") {
		t.Error(out)
	}
	look := func() {
		t.Helper()
		for _, i := range []int{0, 77, missions - 1} {
			id := string(missionID(i))
			lines("list", us("list", "--json", "--mission", id), turnsEach)
			if out := us("show", id+"/2"); !strings.Contains(out, "A2 done: ") || !strings.Contains(out, path(i%smallFiles)) {
				t.Errorf("show of mission %d: %s", i, out)
			}
			if out := us("show", "--transcript", id+"/1"); !strings.Contains(out, "A1 done: ") {
				t.Errorf("transcript of mission %d: %s", i, out)
			}
		}
	}
	look()
	if out := us("archive"); !regexp.MustCompile(`^archived 200 missions; 400 refs fewer`).MatchString(out) {
		t.Error(out)
	}
	lines("refs once archived", r.git("for-each-ref", "refs/agent", "refs/notes"), 2)
	lines("missions --archived", us("missions", "--archived", "--json"), missions)
	look()
	us("archive", "--out", string(missionID(77)))
	lines("refs of one that came out", r.git("for-each-ref", "refs/agent", "refs/notes"), 4)
	look()
}

// TestSimulate checks the simulation against what queues are known to do.
func TestSimulate(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	second := series{{cpu: 1e9}}
	for _, tt := range []struct {
		name          string
		agents, cores int
		busy          float64 // of the cores
		p50, p99      [2]float64
	}{
		{"nearly idle", 6, 1, 0.1, [2]float64{0, 0.01}, [2]float64{0.5, 3}},
		// M/D/1 at 0.5: the mean wait is half a service time.
		{"half busy", 30, 1, 0.5, [2]float64{0, 0.3}, [2]float64{1.5, 4}},
		{"two cores", 60, 2, 0.5, [2]float64{0, 0.1}, [2]float64{0.7, 3}},
		{"too many", 120, 1, 1, [2]float64{1000, 7200}, [2]float64{1000, 7200}},
	} {
		got := simulate(tt.agents, tt.cores, second, 1)
		in := func(x float64, of [2]float64) bool { return x >= of[0] && x <= of[1] }
		if got.busy < tt.busy-0.05 || got.busy > tt.busy+0.05 || !in(got.p50.Seconds(), tt.p50) || !in(got.p99.Seconds(), tt.p99) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	if got := together(4, 2, second, second); got < 0.9 || got > 1.05 {
		t.Errorf("4 clients on 2 cores, 2 s for each: %v pushes per second, want 1", got)
	}
	if got := together(1, 2, second, second); got < 0.45 || got > 0.55 {
		t.Errorf("1 client, 2 s for each: %v pushes per second, want 0.5", got)
	}
}
