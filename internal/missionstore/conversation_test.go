package missionstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestForkManyTurns: a conversation of more segments than are read one by one is taken along whole.
func TestForkManyTurns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	for i := range 25 {
		l.Turn(c, fmt.Sprintf("prompt %d", i+1), nil)
	}
	list := l.List(lab.Own(c))
	last := list[len(list)-1]
	l.Conversation(last)
	done := l.Fork(l.ForkOf(last))
	placed, err := os.ReadFile(done.File)
	if err != nil || strings.Count(string(placed), `"content":"prompt `) != 25 {
		t.Errorf("%v, the fork's conversation is\n%s", err, placed)
	}
}

// TestForkLosesSegment: what was written of a conversation is gone when the rest can't be read, however it is read.
func TestForkLosesSegment(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, turns := range []int{1, 25} {
		t.Run(fmt.Sprint(turns), func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			c := l.Client()
			for range turns {
				l.Turn(c, strings.Repeat("long ", 40_000), nil) // more than is kept before it is written
			}
			list := l.List(lab.Own(c))
			lost := *list[turns-1]
			lost.Turn, lost.Transcript = 99, &record.Segment{After: turns, Bytes: 7}
			f := l.ForkOf(l.PutTurn(lost))
			done, err := missionstore.Fork(t.Context(), l.Workspace(l.Dir), f)
			if err != nil || done.File != "" || !errors.Is(done.Why, git.ErrNotFound) {
				t.Fatalf("Fork: %+v, %v, want a reason", done, err)
			}
			if left, _ := filepath.Glob(filepath.Join(l.Config, "projects", "*fork*")); len(left) > 0 {
				t.Errorf("it leaves %q", left)
			}
		})
	}
}
