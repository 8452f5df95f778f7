package turns_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, list := l.Three()
	lines := strings.Repeat("a line\n", 30)
	l.Write("long.txt", lines)
	after := l.ForkTo("f0f0f0f0", list[1], false)
	c := after.Client()
	after.Turn(c, "move", func() {
		after.Write("moved.txt", after.Read("dir/edited.txt"))
		after.Git("rm", "-q", "-f", "dir/edited.txt")
	})
	after.Turn(c, "more", func() {
		after.Write("image.bin", "a\x00b")
		after.Write("a.txt", "a\nb\nc\n")
	})
	before := l.ForkTo("e0e0e0e0", list[1], true)
	before.Turn(before.Client(), "in its own way", before.Writes("a.txt", "b\nb\n"))

	one := l.Compare("f0f0f0f0", nil)
	if one.Turns != 2 || len(one.Said) != 2 || one.Said[0].Prompt != "move" || one.Said[0].Turn != 3 || one.Last.Prompt != "more" || !one.Newest || one.Foreign {
		t.Errorf("the fork of the end of a turn: %+v", one)
	}
	if one.Output == 0 || one.Context == 0 || one.Ended.IsZero() {
		t.Errorf("what it took: %+v", one)
	}
	// The files are git's, renames and binary files included.
	got := ""
	for _, f := range one.Changes {
		got += fmt.Sprintln(f.Path, f.Insertions, f.Deletions, f.Binary)
	}
	if want := "a.txt 2 0 false\nimage.bin 0 0 true\nmoved.txt 0 0 false\n"; got != want {
		t.Errorf("changed: %s\nwant %s", got, want)
	}
	two := l.Compare("e0e0e0e0", nil)
	if two.Turns != 1 || two.Last.Turn != 2 || two.Point.Of != list[1].ID() {
		t.Errorf("the fork of the start of a turn: %+v", two)
	}
	d := one.Against(context.Background(), l.GitRepo(), two)
	if d.Both != 1 || len(d.Changes) != 3 || d.Unknown != nil {
		t.Errorf("against each other: %+v", d)
	}

	// Up to a state of it.
	turns3 := after.List("f0f0f0f0")[2]
	for _, tt := range []struct {
		of    *turns.State
		turns int
		files int
	}{{turns3.After(), 1, 1}, {turns3.Before(), 0, 0}} {
		c := l.Compare("f0f0f0f0", tt.of)
		if c.Turns != tt.turns || len(c.Changes) != tt.files || c.Newest {
			t.Errorf("up to %s: %d turns, %d files", tt.of, c.Turns, len(c.Changes))
		}
	}
	inherited := after.List("f0f0f0f0")[0].After()
	if _, err := turns.Compare(context.Background(), l.Workspace(l.Dir), "f0f0f0f0", inherited); !errors.Is(err, turns.ErrNoFork) {
		t.Errorf("up to an inherited turn: %v", err)
	}
	source := l.Compare(list[0].Mission, list[1].After())
	if source.Forked() || source.Turns != 2 || source.Point.Of != (record.TurnID{Mission: list[0].Mission}) || source.Point.Commit != list[0].Before().Commit {
		t.Errorf("of no fork: %+v", source)
	}
	forks, err := turns.Forks(context.Background(), l.GitRepo(), list[1].ID(), "")
	if err != nil || len(forks) != 2 {
		t.Errorf("forks: %v, %v", forks, err)
	}

	// An object that is gone makes one of them unknown.
	blob := l.Git("rev-parse", two.Commit.String()+":a.txt")
	gittest.Must(t, os.Remove(filepath.Join(l.Dir, ".git", "objects", blob[:2], blob[2:])))
	if c := l.Compare("e0e0e0e0", nil); c.Unknown == nil || c.Turns != 1 {
		t.Errorf("with an object missing: %+v", c)
	}
	if c := l.Compare("f0f0f0f0", nil); c.Unknown != nil || len(c.Changes) != 3 {
		t.Errorf("the other one: %+v", c)
	}
}

func TestCompareManyTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, list := l.Three()
	l.ForkTo("f0f0f0f0", list[2], false)
	n := gittest.Size(300, 30)
	records := make(map[string]string)
	for i := 4; i < n+4; i++ {
		records[ledger.TurnPath("turns", i, ".json")] = fmt.Sprintf(`{"v":1,"kind":"turn","mission":"f0f0f0f0","turn":%d,"at":"2026-11-21T10:00:00Z",`+
			`"started":"2026-11-21T09:59:00Z","outcome":"done","prompt":"prompt %[1]d","code":"%s","output":10}`, i, list[0].Code)
	}
	records["turns/0000/000010.json"] = "torn"
	l.Plant("f0f0f0f0", records)
	got := l.Compare("f0f0f0f0", nil)
	if got.Turns != n-1 || len(got.Said) != 20 || got.Said[0].Prompt != "prompt 4" || got.Said[19].Turn != 24 || got.Last.Turn != n+3 {
		t.Errorf("%d turns, %d kept, from %+v to %+v; the last %+v", got.Turns, len(got.Said), got.Said[0], got.Said[len(got.Said)-1], got.Last)
	}
	if got.Output != int64(10*(n-1)) || got.Took != time.Duration(n-1)*time.Minute {
		t.Errorf("%d written in %v", got.Output, got.Took)
	}
	// One that can't be read is left out, and said. All are a stranger's.
	if got.Unread == nil || !strings.Contains(got.Unread.Error(), "f0f0f0f0/10") || !got.Foreign || got.By != trust.Unknown {
		t.Errorf("by %s, unread: %v", got.By, got.Unread)
	}
}

// TestCompareWithStranger: looking at a worktree runs nothing of a stranger's.
func TestCompareWithStranger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	turn, ran := l.Stranger()
	fork := l.ForkTo("f0f0f0f0", turn, false)
	unrecorded := func(want bool) {
		t.Helper()
		c := l.Compare("f0f0f0f0", nil)
		if changed, err := c.Unrecorded(context.Background(), fork.GitRepo()); changed != want || err != nil {
			t.Errorf("Unrecorded = %t, %v; want %t", changed, err, want)
		}
	}
	unrecorded(false)
	fork.Write("zzz", "filtered again\n")
	unrecorded(true)
	if got := ran(); !slices.Contains(got, "filter") {
		t.Errorf("of one's own, git has run only %q", got)
	}
	l.Plant("f0f0f0f0", map[string]string{"turns/0000/000009.json": "a stranger's"})
	unrecorded(true)
	if got := ran(); len(got) > 0 {
		t.Errorf("of a stranger's, git has run %q", got)
	}
}

// TestCompareOnStranger: a turn of somebody unknown makes all of it a stranger's, also where it was accepted and
// somebody known went on.
func TestCompareOnStranger(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	l.Keyless = true
	l.Turn(c, "unsigned", l.Writes("a.txt", "a\n"))
	if got := l.Compare(lab.Own(c), nil); got.Foreign || got.By != trust.Clone {
		t.Errorf("where it was recorded it is by %s, foreign %t", got.By, got.Foreign)
	}
	clone := l.At(gittest.TempDir(t))
	clone.Keyless = false
	clone.Git("init", "-q", "-b", "other")
	clone.Git("fetch", "-q", l.Dir, "refs/*:refs/*")
	if got := clone.Compare(lab.Own(c), nil); !got.Foreign || got.By != trust.Unknown {
		t.Errorf("in a clone it is by %s, foreign %t", got.By, got.Foreign)
	}
	gittest.Must(t, clone.Workspace(clone.Dir).Trust.Accept(object.NewHash(clone.Git("rev-parse", lab.Own(c).Ref())), lab.Own(c)))
	c.Cwd = clone.Dir
	clone.Turn(c, "signed", clone.Writes("b.txt", "b\n"))
	if got := clone.Compare(lab.Own(c), nil); !got.Foreign || got.By != trust.Clone || got.Turns != 2 {
		t.Errorf("where somebody went on it is by %s, foreign %t, of %d turns", got.By, got.Foreign, got.Turns)
	}
}

// TestCompareFailed: a turn that failed at once has sent nothing, and the fork's context is what it was.
func TestCompareFailed(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, list := l.Three()
	l.ForkTo("f0f0f0f0", list[2], false)
	line := func(n, context int, outcome string) string {
		return fmt.Sprintf(`{"v":1,"kind":"turn","mission":"f0f0f0f0","turn":%d,"at":"2026-11-24T00:00:00Z","outcome":"%s","code":"%s","output":3,"context":%d}`,
			n, outcome, list[2].Code, context)
	}
	l.Plant("f0f0f0f0", map[string]string{"turns/0000/000004.json": line(4, 120, "done"), "turns/0000/000005.json": line(5, 0, "failed")})
	if c := l.Compare("f0f0f0f0", nil); c.Context != 120 || c.Output != 6 || c.Last.Outcome != record.Failed {
		t.Errorf("%+v", c)
	}
}

// TestCompareOdd: numbers and texts that nobody would write are bounded.
func TestCompareOdd(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, list := l.Three()
	l.ForkTo("f0f0f0f0", list[2], false)
	record := func(n int) string {
		return fmt.Sprintf(`{"v":1,"kind":"turn","mission":"f0f0f0f0","turn":%d,"at":"9999-01-01T00:00:00Z","started":"0001-02-01T00:00:00Z","outcome":"\u001b[2J",`+
			`"prompt":"%s","code":"%s","output":%d,"context":-5}`, n, strings.Repeat("long ", 1000), list[0].Code, int64(math.MaxInt64))
	}
	l.Plant("f0f0f0f0", map[string]string{"turns/0000/000004.json": record(4), "turns/0000/000005.json": record(5)})
	c := l.Compare("f0f0f0f0", nil)
	if c.Turns != 2 || utf8.RuneCountInString(c.Said[0].Prompt) > 500 || c.Context != 0 || c.Output != math.MaxInt64 || c.Took != math.MaxInt64 {
		t.Errorf("%+v", c)
	}
	if len(c.Changes) != 1 || c.Changes[0].Path != "b.txt" {
		t.Errorf("changed: %+v, %v", c.Changes, c.Unknown)
	}
}
