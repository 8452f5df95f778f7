package session

import (
	"os"
	"testing"
	"time"

	"gitagent/test/gittest"
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
	gittest.Must(t, os.Chtimes(s.dir.Path(housekept), past, past))
	due("since the day before yesterday", now, true)
	gittest.Must(t, s.Housekept(now))
	due("done", now, false)
	gittest.Must(t, os.Chtimes(s.dir.Path(housekept), now, now.Add(1000*time.Hour)))
	due("the clock was wrong", now, true)
}
