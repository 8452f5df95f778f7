//go:build unix

package kill

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// TestForeignLock: a lock that somebody else holds, or has left an hour ago, is never removed. The
// turn is recorded all the same, and whoever reads the log learns which lock is in the way.
func TestForeignLock(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name     string
		attached bool
		lock     string // in the git directory; MISSION is replaced by the mission
		inTheWay bool   // of what the Stop hook does
	}{
		{"HEAD, attached", true, "HEAD.lock", true},
		{"index, attached", true, "index.lock", true},
		{"branch, attached", true, "refs/heads/agent/mission/MISSION.lock", true},
		{"packed refs, attached", true, "packed-refs.lock", false},
		{"HEAD, passive", false, "HEAD.lock", false},
		{"index, passive", false, "index.lock", false},
		{"branch, passive", false, "refs/heads/main.lock", false},
		{"packed refs, passive", false, "packed-refs.lock", false},
	} {
		for name, age := range map[string]time.Duration{"held": 0, "an hour old": time.Hour} {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				t.Parallel()
				gittest.Sample(t)
				l := quiet(t, tt.attached)
				l.turn()
				l.must(l.prompted())
				gitDir := l.Git("rev-parse", "--path-format=absolute", "--git-dir")
				if tt.lock != "index.lock" {
					l.RefFiles()
				}
				if strings.Contains(tt.lock, "refs") {
					gitDir = l.common
				}
				lock := strings.ReplaceAll(tt.lock, "MISSION", l.attached)
				intact := plant(t, filepath.Join(gitDir, lock), age)
				before := len(l.log())
				c := l.stopped()
				r := l.must(c)
				l.acknowledge(c, r)
				if said := l.log()[before:] + r.stdout + r.stderr; tt.inTheWay && !strings.Contains(said, filepath.Base(lock)) {
					t.Errorf("nobody is told of %s: %q", lock, said)
				}
				l.acknowledged()
				l.must(l.prompted())
				intact()
				l.turn()
				l.followed()
				l.traces()
			})
		}
	}
	for name, age := range map[string]time.Duration{"held": 0, "an hour old": time.Hour} {
		t.Run("packed refs, remove, "+name, func(t *testing.T) {
			t.Parallel()
			l := quiet(t, false)
			l.turn()
			c := remove(l)
			lock := "packed-refs.lock"
			if l.InTables() {
				lock = filepath.Join("reftable", "tables.list.lock")
			}
			intact := plant(t, filepath.Join(l.common, lock), age)
			if r := l.run(c); r.status != 1 || !strings.Contains(r.stderr, filepath.Base(lock)) {
				t.Errorf("%q: %v, want an error that names the lock", c.args, r)
			}
			intact()
			c.then(l, result{})
			l.turn()
			l.check()
		})
	}
}

// quiet is a lab in which nothing is killed.
func quiet(t *testing.T, attached bool) *lab {
	return newLab(t, &series{
		scenario: scenario{files: 30, attached: attached}, random: rand.New(rand.NewPCG(*seed, 0)),
		measured: make(map[string][]time.Duration), kinds: make(map[string]bool),
	})
}

// plant makes a lock file as somebody else's git does. intact checks that it still is that file, and
// takes it away.
func plant(t *testing.T, path string, age time.Duration) (intact func()) {
	t.Helper()
	const text = "somebody else's\n"
	gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
	gittest.Must(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	return func() {
		t.Helper()
		if data, err := os.ReadFile(path); err != nil || string(data) != text {
			t.Errorf("somebody else's lock: %v, %q", err, data)
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}
