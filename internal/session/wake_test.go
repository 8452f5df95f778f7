package session

import (
	"sync"
	"sync/atomic"
	"testing"

	"gitagent/test/gittest"
)

// The Stop hook may be installed twice, and run twice at once: a wake is taken by one of them.
func TestWakeOnce(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if w, err := s.TakeWake(t.Context(), "a"); w != nil || err != nil {
		t.Fatalf("TakeWake before AskWake = %v, %v", w, err)
	}
	gittest.Must(t, save(s, &Known{V: stateVersion, Session: "a", Mission: "a1b2c3d4"}))
	gittest.Must(t, s.AskWake(t.Context(), "a", Wake{Pane: "%3"}))
	if w, err := s.TakeWake(t.Context(), "b"); w != nil || err != nil {
		t.Errorf("TakeWake of another session = %v, %v", w, err)
	}
	var taken atomic.Int32
	var hooks sync.WaitGroup
	for range 8 {
		hooks.Go(func() {
			w, err := s.TakeWake(t.Context(), "a")
			if err != nil {
				t.Error(err)
			}
			if w != nil {
				taken.Add(1)
				if w.Pane != "%3" {
					t.Errorf("TakeWake = %+v", w)
				}
			}
		})
	}
	hooks.Wait()
	if n := taken.Load(); n != 1 {
		t.Errorf("the wake was taken %d times, want once", n)
	}
	if st := s.Load("a"); st.Mission != "a1b2c3d4" {
		t.Errorf("the session's state was lost: %+v", st)
	}
}
