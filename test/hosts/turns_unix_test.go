//go:build unix

package hosts_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// slow is 200 ms there and back, and 50 KB a second.
var slow = line{delay: 100 * time.Millisecond, rate: 50 << 10}

// TestTurns: what a push or a fetch costs on a line where each answer takes its time, against plain git's of the same
// refs: connections, and how often the client speaks after the host has. At night the line is slow, and the log says how
// long each took.
func TestTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := begin(t, through(t))
	l.a, l.b = l.person("a"), l.person("b")
	c := l.person("c") // has plain git
	record := func(prompt string) {
		l.a.Git("config", "--unset", remote(l.at.url)) // so that nothing is pushed by itself
		data := make([]byte, gittest.Size(150<<10, 10<<10))
		_, _ = rand.Read(data)
		gittest.Must(t, os.WriteFile(filepath.Join(l.a.Dir, "data"), data, 0o666))
		l.record(l.a, mission, prompt, "answer")
		l.a.Git("config", remote(l.at.url), "all")
	}
	refs := []string{"refs/agent/missions/" + mission, "refs/notes/agent/" + mission}
	gittest.Must(t, os.Rename(seeded(t).Dir, filepath.Join(filepath.Dir(l.at.repo.Dir), "plain")))
	plainPush := append([]string{"push", "-q", "git://" + l.at.line.address + "/plain"}, refs...)
	plainFetch := []string{"fetch", "-q", "--no-tags", l.at.url, refs[0] + ":refs/plain/ledger", refs[1] + ":refs/plain/notes"}
	if gittest.Whole() {
		l.at.line.line.Store(&slow)
	}
	type cost struct {
		connections, turns int64
		took               time.Duration
	}
	of := func(do func()) cost {
		connections, turns, began := l.at.line.connections.Load(), l.at.line.turns.Load(), time.Now()
		do()
		l.at.line.open.Wait() // the last that was said may not have been heard
		return cost{l.at.line.connections.Load() - connections, l.at.line.turns.Load() - turns, time.Since(began)}
	}
	for _, step := range []struct {
		name               string
		before             func()
		person             person
		ours               []string
		plainly            person
		plain              []string
		connections, turns int64 // at most, besides those of plain git
	}{
		{"push of a new mission", func() { record("one") }, l.a, []string{"push", "--mission", mission}, l.a, plainPush, 0, 0},
		{"fetch of it", nil, l.b, []string{"fetch"}, c, plainFetch, 1, 3},
		{"push of a turn", func() { record("two") }, l.a, []string{"push", "--mission", mission}, l.a, plainPush, 0, 0},
		{"fetch of it", nil, l.b, []string{"fetch"}, c, plainFetch, 1, 3},
		{"fetch of nothing", nil, l.b, []string{"fetch"}, c, plainFetch, 0, 0},
		{"push of all that is new", func() { record("three") }, l.a, []string{"push"}, l.a, plainPush, 1, 3},
		{"push of nothing", nil, l.a, []string{"push"}, l.a, plainPush, 0, 1},
	} {
		if step.before != nil {
			step.before()
		}
		ours := of(func() { step.person.Git(append([]string{"agent-turn"}, step.ours...)...) })
		plain := of(func() { step.plainly.Git(step.plain...) })
		t.Logf("%s: %.2f s, %.2f times plain git's; %d connections and %d turns, %d and %d of plain git", step.name,
			ours.took.Seconds(), ours.took.Seconds()/plain.took.Seconds(), ours.connections, ours.turns, plain.connections, plain.turns)
		if ours.connections > plain.connections+step.connections || ours.turns > plain.turns+step.turns {
			t.Errorf("%s: %d connections and %d turns, more than %d and %d beyond plain git's %d and %d", step.name,
				ours.connections, ours.turns, step.connections, step.turns, plain.connections, plain.turns)
		}
	}
}
