//go:build e2e

package e2e

import (
	"maps"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A stash that does not come back takes the work of all from the worktree: of the session that made it, of another one, and
// of a person, who has saved meanwhile. What the Stop's message and `show` offer brings all of it back.
func TestStashLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.person()
	p.begin(map[string]string{"f.txt": lines("base", 5), "g.txt": lines("base", 5), "h.txt": lines("base", 5)})
	early, ready, stashed := r.gate("early"), r.gate("ready"), r.gate("stashed")
	r.mock.play(
		on("TA1", bash("for i in 1 2 3 4 5 6 7 8 9 10; do echo A1 work $i; done >> f.txt"), bash(early.wait()),
			bash("git stash; "+stashed.wait()+"; git stash pop"), say("A1 done")),
		on("TB1", bash("for i in 1 2 3 4 5 6 7 8 9 10; do echo B1 work $i; done >> g.txt"), bash(ready.wait()), say("B1 done")),
	)
	a, b := r.driven(), r.driven()
	a.ask("TA1 hello")
	early.reached()
	b.ask("TB1 hello")
	ready.reached()
	for range 6 {
		p.appends("h.txt")
	}
	whole := r.contents()
	early.open()
	stashed.reached()
	p.appends("f.txt")
	stashed.open()
	r.stops(1)
	gone := r.contents()
	if n := missing(whole, gone); n != 26 {
		t.Fatalf("%d lines are gone\n%s", n, r.report())
	}
	ready.open()
	r.stops(2)
	a.leave()
	b.leave()

	// What the person lost was destroyed by the first one, whose Stop offers it.
	mine := func(line string) bool { return strings.HasPrefix(line, "B1") }
	for _, offer := range []struct {
		by, text string
		of       func(line string) bool // the lines that it brings back; nil for all
	}{
		{"the first's Stop", a.heard("Stop"), nil},
		{"the other's Stop", b.heard("Stop"), mine},
		{"show", r.command(r.repo.Dir, "show", passive(a.session())+"/1"), nil},
	} {
		found := offered.FindStringSubmatch(offer.text)
		if found == nil {
			t.Errorf("%s offers nothing: %s", offer.by, offer.text)
			continue
		}
		cmd := exec.Command("sh", "-c", found[1])
		cmd.Dir, cmd.Env = r.repo.Dir, r.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v\n%s", offer.by, found[1], err, out)
		}
		want := maps.Clone(whole)
		if offer.of != nil {
			maps.DeleteFunc(want, func(line string, _ int) bool { return !offer.of(line) })
		}
		if n := missing(want, r.contents()); n != 0 {
			t.Errorf("%s: after %s %d lines are missing", offer.by, found[1], n)
		}
		r.command(r.repo.Dir, "undo")
		if got := r.contents(); !maps.Equal(got, gone) {
			t.Errorf("undo leaves %v, want %v", got, gone)
		}
	}
}

// offered is a command with which something comes back.
var offered = regexp.MustCompile(`back(?: with [^:]*)?: (git agent-turn restore [^\n]*)`)

// missing counts the lines that there are no more.
func missing(before, after map[string]int) (n int) {
	for line, count := range before {
		n += max(0, count-after[line])
	}
	return n
}
