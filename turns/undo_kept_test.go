package turns_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// TestUndoCollected: git gc runs between a step and its undo, for which the tree that the step made is
// needed as well.
func TestUndoCollected(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, step := range map[string]func(l *lab, list []*turns.Turn) error{
		"revert": func(l *lab, list []*turns.Turn) error {
			_, err := l.recorder(l.Dir).Revert(t.Context(), time.Now(), list[0].Before(), list[0].After(), turns.Merging{})
			return err
		},
		"restore of a path": func(l *lab, list []*turns.Turn) error {
			only := git.Paths{Specs: []string{"gone"}}
			_, err := l.recorder(l.Dir).Restore(t.Context(), time.Now(), list[0].Before(), only, turns.RestorePlan{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.Write("gone", "gone\n")
			l.Write("long", strings.Repeat("line\n", 20))
			l.Commit("more")
			c := l.client()
			l.turn(c, "one", func() { l.remove("gone") })
			l.turn(c, "two", l.write("new", "new\n"))
			if err := step(l, l.list(own(c))); err != nil {
				t.Fatal(err)
			}
			if l.Read("gone") != "gone\n" {
				t.Fatal("it did not come back")
			}
			l.Write("since", "since\n")
			l.remove("new")
			l.Git("reflog", "expire", "--expire=now", "--all")
			l.Git("gc", "-q", "--prune=now")
			if _, _, err := l.undo(turns.Merging{}); err != nil {
				t.Fatal(err)
			}
			for name, there := range map[string]bool{"gone": false, "new": false, "since": true, "long": true} {
				if _, err := os.Stat(filepath.Join(l.Dir, name)); (err == nil) != there {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// TestUndoWithout: what a step made of the worktree is not here any more. Nothing is guessed.
func TestUndoWithout(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	l.turn(c, "one", l.write("file", "1\n"))
	l.turn(c, "two", l.write("file", "2\n"))
	if _, err := l.restore(l.list(own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	noted := filepath.Join(l.Dir, ".git", "agent", "step")
	data, err := os.ReadFile(noted)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), l.tree(), gittest.Hash("1"), 1)
	if err := os.WriteFile(noted, []byte(changed), 0o600); err != nil || changed == string(data) {
		t.Fatal(err)
	}
	l.Write("file", "3\n")
	if _, _, err := l.undo(turns.Merging{}); err == nil || !strings.Contains(err.Error(), "is not here any more") {
		t.Errorf("undo: %v", err)
	}
	if l.Read("file") != "3\n" {
		t.Errorf("file is %q", l.Read("file"))
	}
}

// TestUndoHalfUndone: a restore was killed in the middle, and so was its undo. The next one finishes that.
func TestUndoHalfUndone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	c := l.client()
	all := func(what string) func() {
		return func() {
			for _, name := range []string{"a", "b", "c", "d"} {
				l.Write(name, what)
			}
		}
	}
	one, two := strings.Repeat("1\n", 1000), strings.Repeat("2\n", 1000)
	l.turn(c, "one", all(one))
	l.turn(c, "two", all(two))
	before := files(t, l.Dir)
	first := l.list(own(c))[0]
	if _, err := l.restore(first, false); err != nil {
		t.Fatal(err)
	}
	l.cutOff()
	l.Write("c", two) // it did not come to these
	l.Write("d", two)
	if _, what, err := l.undo(turns.Merging{}); err != nil || what != "restore of turn "+first.ID().String() {
		t.Fatalf("took back %q, %v", what, err)
	}
	l.cutOff()
	l.Write("a", one)
	l.Write("b", two[:777]) // a part of what it was writing
	l.Write("since", "since\n")
	if _, what, err := l.undo(turns.Merging{}); err != nil || what != "restore of turn "+first.ID().String() {
		t.Fatalf("took back %q, %v", what, err)
	}
	l.remove("since")
	if now := files(t, l.Dir); !maps.Equal(now, before) {
		t.Errorf("there are %q, and were %q", now, before)
	}
}

// TestUndoCutLarge: a killed checkout has left the beginning of a file that nobody would hold in memory.
func TestUndoCutLarge(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t) // it writes 200 MB
	l := newLab(t)
	l.Write("large", "0\n")
	l.Commit("what is tracked is recorded whatever its size")
	c := l.client()
	large := strings.Repeat("a line of a large file\n", 4<<20)
	l.turn(c, "one", l.write("large", large))
	l.turn(c, "two", l.write("large", "2\n"))
	if _, err := l.restore(l.list(own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	l.cutOff()
	l.Write("large", large[:len(large)-1234])
	if _, _, err := l.undo(turns.Merging{}); err != nil || l.Read("large") != "2\n" {
		t.Errorf("%v, and %d bytes", err, len(l.Read("large")))
	}
}
