package recorder_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/ledger"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// TestBroken: one record that can't be read is named. The others are listed, and the next turn is
// recorded behind all of them.
func TestBroken(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, tt := range map[string]struct {
		record string
		next   int // the number of the turn that is recorded then
		unread bool
	}{
		"turns/0000/000003.json":                           {"torn", 4, true},
		"turns/0000/000042.json":                           {strings.Repeat(" ", ledger.MaxTurn+1), 43, true},
		"turns/0042/004242.json":                           {`{"v":1,"kind":"turn","mission":"a1b2c3d4","turn":7}`, 4243, true},
		"turns/92233720368547758/9223372036854775807.json": {"far away", 3, false},
		"turns/10000/1000000.json":                         {"one too far", 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			id := lab.Own(c)
			l.Turn(c, "first", l.Writes("one", "1\n"))
			l.Turn(c, "second", nil)
			l.Plant(id, map[string]string{name: tt.record})
			l.Accept(id)
			l.Turn(c, "third", l.Writes("two", "2\n"))
			list, err := turns.List(t.Context(), l.GitRepo(), id)
			if (err != nil) != tt.unread || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("%s/%d:", id, tt.next-1)) {
				t.Errorf("List: %v, want an error for turn %d: %t", err, tt.next-1, tt.unread)
			}
			var numbers []int
			for _, turn := range list {
				numbers = append(numbers, turn.Turn)
			}
			if want := []int{1, 2, tt.next}; !slices.Equal(numbers, want) {
				t.Errorf("the turns are %d, want %d", numbers, want)
			}
			lines, err := turns.Missions(t.Context(), l.GitRepo())
			if err != nil || len(lines) != 1 || lines[0].Turns != tt.next {
				t.Errorf("Missions: %+v, %v", lines, err)
			}
			l.Fsck()
		})
	}
}

// TestFull: a mission whose numbers are used up says so, and what to do.
func TestFull(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	id := lab.Own(c)
	l.Turn(c, "first", nil)
	l.Plant(id, map[string]string{"turns/9999/999999.json": "the last"})
	l.Accept(id)
	tip := l.Git("rev-parse", id.Ref())
	c.Prompt("second")
	c.Hook = func(e replay.Event) {
		if _, err := l.TryRecord(e); err == nil || !strings.Contains(err.Error(), "999999 is the last") || !strings.Contains(err.Error(), "git agent-turn start") {
			t.Errorf("%s: %v, want an error about the number", e.Name, err)
		}
	}
	c.Stop("done")
	if now := l.Git("rev-parse", id.Ref()); now != tip {
		t.Error("the ledger was written to")
	}
}

// TestBrokenNotes: notes that can't be read are left as they are; the ledger has all of it.
func TestBrokenNotes(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, spoil := range map[string]func(l *lab.Lab, ref string){
		"no commit": func(l *lab.Lab, ref string) { l.Git("update-ref", ref, "HEAD:file") },
		"a note that is too large": func(l *lab.Lab, ref string) {
			blob, err := l.Feed(strings.Repeat(" ", 5<<20), "hash-object", "-w", "--stdin")
			gittest.Must(l.T, err)
			l.Git("notes", "--ref", ref, "add", "-f", "-C", blob, "HEAD")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			l.Write("file", "1\n")
			l.Commit("file")
			c := l.Client()
			id := lab.Own(c)
			l.Turn(c, "first", nil)
			spoil(l, id.NotesRef())
			before := l.Git("rev-parse", id.NotesRef())
			var warned []string
			c.Hook = func(e replay.Event) { warned = append(warned, l.Record(e).Warnings...) }
			l.Turn(c, "second", nil)
			if list := l.List(id); len(list) != 2 {
				t.Errorf("%d turns, want 2", len(list))
			}
			if after := l.Git("rev-parse", id.NotesRef()); after != before {
				t.Error("the notes were written to")
			}
			if !strings.Contains(strings.Join(warned, "\n"), "the notes of mission "+string(id)) {
				t.Errorf("the log has %q", warned)
			}
		})
	}
}
