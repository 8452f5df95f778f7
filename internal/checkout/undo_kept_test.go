package checkout_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// TestUndoCollected: git gc runs between a step and its undo, for which the tree that the step made is
// needed as well.
func TestUndoCollected(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, step := range map[string]func(l *lab.Lab, list []*turns.Turn) error{
		"revert": func(l *lab.Lab, list []*turns.Turn) error {
			_, err := checkout.Revert(t.Context(), l.Workspace(l.Dir), time.Now(), list[0].Before(), list[0].After(), checkout.Merging{})
			return err
		},
		"restore of a path": func(l *lab.Lab, list []*turns.Turn) error {
			only := gitdiff.Paths{Specs: []string{"gone"}}
			_, err := checkout.Restore(t.Context(), l.Workspace(l.Dir), time.Now(), list[0].Before(), only, checkout.RestorePlan{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			l.Write("gone", "gone\n")
			l.Write("long", strings.Repeat("line\n", 20))
			l.Commit("more")
			c := l.Client()
			l.Turn(c, "one", func() { l.Remove("gone") })
			l.Turn(c, "two", l.Writes("new", "new\n"))
			gittest.Must(t, step(l, l.List(lab.Own(c))))
			if l.Read("gone") != "gone\n" {
				t.Fatal("it did not come back")
			}
			l.Write("since", "since\n")
			l.Remove("new")
			l.Git("reflog", "expire", "--expire=now", "--all")
			l.Git("gc", "-q", "--prune=now")
			if _, _, err := l.Undo(checkout.Merging{}); err != nil {
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
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("file", "1\n"))
	l.Turn(c, "two", l.Writes("file", "2\n"))
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	noted := filepath.Join(l.Dir, ".git", "agent", "step")
	data, err := os.ReadFile(noted)
	gittest.Must(t, err)
	changed := strings.Replace(string(data), l.Tree(), gittest.Hash("1"), 1)
	if err := os.WriteFile(noted, []byte(changed), 0o600); err != nil || changed == string(data) {
		t.Fatal(err)
	}
	l.Write("file", "3\n")
	if _, _, err := l.Undo(checkout.Merging{}); err == nil || !strings.Contains(err.Error(), "is not here any more") {
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
	l := lab.New(t)
	c := l.Client()
	all := func(what string) func() {
		return func() {
			for _, name := range []string{"a", "b", "c", "d"} {
				l.Write(name, what)
			}
		}
	}
	one, two := strings.Repeat("1\n", 1000), strings.Repeat("2\n", 1000)
	l.Turn(c, "one", all(one))
	l.Turn(c, "two", all(two))
	before := files(t, l.Dir)
	first := l.List(lab.Own(c))[0]
	if _, err := l.Restore(first, false); err != nil {
		t.Fatal(err)
	}
	cutOff(l)
	l.Write("c", two) // it did not come to these
	l.Write("d", two)
	if _, what, err := l.Undo(checkout.Merging{}); err != nil || what != "restore of turn "+first.ID().String() {
		t.Fatalf("took back %q, %v", what, err)
	}
	cutOff(l)
	l.Write("a", one)
	l.Write("b", two[:777]) // a part of what it was writing
	l.Write("since", "since\n")
	if _, what, err := l.Undo(checkout.Merging{}); err != nil || what != "restore of turn "+first.ID().String() {
		t.Fatalf("took back %q, %v", what, err)
	}
	l.Remove("since")
	if now := files(t, l.Dir); !maps.Equal(now, before) {
		t.Errorf("there are %q, and were %q", now, before)
	}
}

// TestUndoCutLarge: a killed checkout has left the beginning of a file that nobody would hold in memory.
func TestUndoCutLarge(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t) // it writes 200 MB
	l := lab.New(t)
	l.Write("large", "0\n")
	l.Commit("what is tracked is recorded whatever its size")
	c := l.Client()
	large := strings.Repeat("a line of a large file\n", 4<<20)
	l.Turn(c, "one", l.Writes("large", large))
	l.Turn(c, "two", l.Writes("large", "2\n"))
	if _, err := l.Restore(l.List(lab.Own(c))[0], false); err != nil {
		t.Fatal(err)
	}
	cutOff(l)
	l.Write("large", large[:len(large)-1234])
	if _, _, err := l.Undo(checkout.Merging{}); err != nil || l.Read("large") != "2\n" {
		t.Errorf("%v, and %d bytes", err, len(l.Read("large")))
	}
}
