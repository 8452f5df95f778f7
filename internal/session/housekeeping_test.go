package session

import (
	"os"
	"testing"
	"time"
)

func TestDue(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if err := s.dir.WriteFile("log", nil); err != nil { // makes the directory
		t.Fatal(err)
	}
	now := time.Now()
	due := func(what string, at time.Time, want bool) {
		t.Helper()
		if got := s.Due(at); got != want {
			t.Errorf("%s: due is %t", what, got)
		}
	}
	due("when it is first asked", now, false)
	due("an hour later", now.Add(time.Hour), false)
	due("a day later", now.Add(25*time.Hour), true)
	due("still", now.Add(25*time.Hour), true)
	past := now.Add(-48 * time.Hour)
	if err := os.Chtimes(s.dir.Path(housekept), past, past); err != nil {
		t.Fatal(err)
	}
	due("since the day before yesterday", now, true)
	if err := s.Housekept(now); err != nil {
		t.Fatal(err)
	}
	due("done", now, false)
	if err := os.Chtimes(s.dir.Path(housekept), now, now.Add(1000*time.Hour)); err != nil {
		t.Fatal(err)
	}
	due("the clock was wrong", now, true)
}
