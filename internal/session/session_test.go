package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

var then = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// save makes a state the session's.
func save(s Store, st *Known) error {
	return s.Update(context.Background(), st.Session, func(old *Known) error { *old = *st; return nil })
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if s.Enabled() || len(s.All()) != 0 || s.LogTail(5) != nil {
		t.Error("a store that was only opened holds something")
	}
	if _, err := os.Stat(s.Dir().Path(".")); err == nil {
		t.Error("opening made the directory")
	}
	st := s.Load("a")
	if st.Session != "a" || st.Mission != "" || st.Open != nil {
		t.Errorf("a new state is %+v", st)
	}
	st.Mission, st.Seen = "a1b2c3d4", then
	st.Cursors = map[record.ID]Cursor{"a1b2c3d4": {Offset: 7, Check: "x", Turn: 3}}
	st.Open = &OpenTurn{PromptID: "p", Prompt: "go\non", Started: then}
	st.Last = &LastTurn{Mission: "a1b2c3d4", Turn: 3, Started: then, Before: Cursor{Offset: 1}}
	st.Client = Client{PID: 7, Start: "99", Boot: "b"}
	gittest.Must(t, save(s, st))
	if got := s.Load("a"); !reflect.DeepEqual(got, st) {
		t.Errorf("loaded %+v, saved %+v", got, st)
	}
	if got := s.Load("b"); got.Mission != "" {
		t.Errorf("another session's state is %+v", got)
	}
	gittest.Must(t, save(s, s.Load("b")))
	if all := s.All(); len(all) != 2 {
		t.Errorf("All = %+v", all)
	}
	info, err := os.Stat(s.Dir().Path("sessions/a.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state quotes a prompt, its mode is %v (%v)", info.Mode(), err)
	}
}

// Each state is written over the one before the last, which may be longer, torn by a kill, or gone.
func TestSaveOverWhatWasThere(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	spare := s.Dir().Path(sparePath(path("a")))
	for i, n := range []int{9000, 10, 5000, 0, 1, 70000, 2} {
		st := &Known{V: stateVersion, Session: "a", Mission: "a1b2c3d4", Transcript: strings.Repeat("x", n)}
		gittest.Must(t, save(s, st))
		if got := s.Load("a"); !reflect.DeepEqual(got, st) {
			t.Errorf("state %d: loaded %+v, saved %+v", i, got, st)
		}
		if all := s.All(); len(all) != 1 {
			t.Errorf("state %d: All = %+v", i, all)
		}
		switch i {
		case 3:
			_ = os.Remove(spare)
		case 4:
			gittest.Must(t, os.WriteFile(spare, []byte(`{"v":1,"session":"a","tran`+strings.Repeat("y", 90000)), 0o600))
		}
	}
	gittest.Must(t, s.Forget(t.Context(), "a1b2c3d4"))
	if left, err := os.ReadDir(filepath.Dir(spare)); err != nil || len(left) != 0 {
		t.Errorf("forgotten, it leaves %v, %v", left, err)
	}
}

func TestLoadWhatCantBeRead(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "torn": `{"v":1,"sess`, "newer": `{"v":2,"session":"a","mission":"m"}`, "another's": `{"v":1,"session":"b","mission":"m"}`, "binary": "\x00\xff",
	} {
		s := Open(t.TempDir())
		gittest.Must(t, os.MkdirAll(s.Dir().Path("sessions"), 0o700))
		gittest.Must(t, os.WriteFile(s.Dir().Path("sessions/a.json"), []byte(content), 0o600))
		if st := s.Load("a"); st.Mission != "" || st.Session != "a" {
			t.Errorf("%s: %+v", name, st)
		}
		st := s.Load("a")
		st.Mission = "new"
		if err := save(s, st); err != nil || s.Load("a").Mission != "new" {
			t.Errorf("%s: can't be replaced: %v", name, err)
		}
	}
}

func TestEnable(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	for i, tt := range []struct{ on, news bool }{{false, false}, {true, true}, {true, false}, {false, true}, {false, false}, {true, true}} {
		news, err := s.Enable(tt.on)
		if err != nil || news != tt.news || s.Enabled() != tt.on {
			t.Errorf("step %d: Enable(%t) = %t, %v; enabled is %t", i, tt.on, news, err, s.Enabled())
		}
	}
}

// TestUpdate lets many change one session at once, in different ways: nothing is lost.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	const rounds = 40
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range rounds {
				err := s.Update(t.Context(), "a", func(st *Known) error {
					if st.Cursors == nil {
						st.Cursors = make(map[record.ID]Cursor)
					}
					st.Cursors[record.ID(fmt.Sprint(w, "-", i))] = Cursor{Turn: i}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				if err := s.AskWake(t.Context(), "a", Wake{Pane: "%1"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	st := s.Load("a")
	if len(st.Cursors) != 4*rounds || st.Wake == nil {
		t.Errorf("%d of %d changes are there, wake %v", len(st.Cursors), 4*rounds, st.Wake)
	}
}

// TestUpdateThatFails leaves the state as it was.
func TestUpdateThatFails(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	gittest.Must(t, save(s, &Known{V: stateVersion, Session: "a", Mission: "old"}))
	for _, want := range []error{ErrUnchanged, errors.New("no")} {
		err := s.Update(t.Context(), "a", func(st *Known) error { st.Mission = "new"; return want })
		if want == ErrUnchanged && err != nil || want != ErrUnchanged && !errors.Is(err, want) {
			t.Errorf("Update = %v, want %v", err, want)
		}
		if got := s.Load("a").Mission; got != "old" {
			t.Errorf("after an Update with the error %v the mission is %q", want, got)
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	s.Log(then, "first\nwith a second line\n")
	s.Log(then.Add(time.Second), "second")
	want := []Logged{{then, "first\nwith a second line"}, {then.Add(time.Second), "second"}}
	if got := s.LogTail(5); !reflect.DeepEqual(got, want) {
		t.Errorf("the log is %v, want %v", got, want)
	}
	if got := s.LogTail(1); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("its end is %v", got)
	}
	long := strings.Repeat("x", 1000)
	for i := range 2000 {
		gittest.Must(t, s.Log(then, fmt.Sprint(i, " ", long)))
	}
	info, err := os.Stat(s.Dir().Path("log"))
	if err != nil || info.Size() > config.MaxLogSize+2000 || info.Size() < config.MaxLogSize/2 {
		t.Errorf("after 2 MB the log has %d bytes (%v)", info.Size(), err)
	}
	for i, l := range s.LogTail(100) {
		if want := fmt.Sprintf("%d x", 1900+i); !l.At.Equal(then) || !strings.HasPrefix(l.Text, want) || !strings.HasSuffix(l.Text, "x") {
			t.Errorf("entry %d is %v %.60s, want %s", i, l.At, l.Text, want)
		}
	}
	gittest.Must(t, s.Log(then, strings.Repeat("y", 10<<20)))
	if info, err := os.Stat(s.Dir().Path("log")); err != nil || info.Size() > 2*config.MaxLogSize {
		t.Errorf("one line of 10 MB makes a log of %d bytes (%v)", info.Size(), err)
	}
}

// TestLogNowhere: where nothing can be written, nothing happens.
func TestLogNowhere(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	gittest.Must(t, os.WriteFile(file, nil, 0o600))
	s := Open(file)
	if err := s.Log(then, "lost"); err == nil {
		t.Error("logged into a file")
	}
	if err := save(s, s.Load("a")); err == nil {
		t.Error("saved into a file")
	}
	if _, err := s.Lock(context.Background(), "x"); err == nil {
		t.Error("locked in a file")
	}
}

func TestReadClient(t *testing.T) {
	t.Parallel()
	if c := ReadClient(0); c != (Client{}) {
		t.Errorf("nobody is %+v", c)
	}
	if c := ReadClient(-1); c != (Client{}) {
		t.Errorf("a negative pid is %+v", c)
	}
	me := ReadClient(os.Getpid())
	if me.PID != os.Getpid() || me != ReadClient(os.Getpid()) {
		t.Errorf("this process is %+v, then %+v", me, ReadClient(os.Getpid()))
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil && (me.Start == "" || me.Boot == "" || me.Start == ReadClient(1).Start) {
		t.Errorf("this process is %+v, the first one %+v", me, ReadClient(1))
	}
	if c := ReadClient(1 << 30); c.PID != 1<<30 || c.Start != "" {
		t.Errorf("a process that does not exist is %+v", c)
	}
}

func TestMonitor(t *testing.T) {
	t.Parallel()
	type kept struct {
		N    int
		Text string
	}
	s := Open(t.TempDir())
	var v kept
	if s.LoadMonitor("a", &v) {
		t.Error("something was kept about a session that nothing is known of")
	}
	keep := func(k kept, wantKnown bool) {
		t.Helper()
		var v kept
		err := s.UpdateMonitor(t.Context(), "a", &v, func(known bool) {
			if known != wantKnown {
				t.Errorf("known is %t", known)
			}
			v = k
		})
		gittest.Must(t, err)
	}
	keep(kept{N: 7, Text: strings.Repeat("long ", 1000)}, false)
	if !s.LoadMonitor("a", &v) || v.N != 7 || len(v.Text) != 5000 {
		t.Errorf("kept %+v, want 7", v)
	}
	keep(kept{N: 8}, true)
	if v = (kept{}); !s.LoadMonitor("a", &v) || v != (kept{N: 8}) {
		t.Errorf("kept %+v, want 8 in the place of something longer", v)
	}
	for size, valid := range map[int]bool{maxMonitor - 100: true, maxMonitor: false} {
		v = kept{Text: strings.Repeat("x", size)}
		gittest.Must(t, s.saveMonitor("a", &v))
		if got := s.LoadMonitor("a", &v); got != valid {
			t.Errorf("one of %d bytes is valid: %t", size, got)
		}
	}
	if s.LoadMonitor("b", &v) {
		t.Error("sessions are mixed up")
	}
	if all := s.All(); len(all) != 0 {
		t.Errorf("taken for a session's state: %+v", all)
	}
	gittest.Must(t, os.WriteFile(s.Dir().Path(monitorPath("a")), []byte(`{"N":`), 0o600))
	if s.LoadMonitor("a", &v) {
		t.Error("half a file was read")
	}
	if err := s.Prune(time.Now().Add(time.Hour)); err != nil || s.LoadMonitor("a", &v) {
		t.Errorf("Prune left it: %v", err)
	}
}

func TestLogOfOthers(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "no time", "2026 no time"} {
		if got, want := parseLine(line), (Logged{Text: line}); got != want {
			t.Errorf("parseLine(%q) = %v, want %v", line, got, want)
		}
	}
}

// Who locks all others out waits for one that is at work, and has nothing meanwhile that anybody needs.
func TestLockOut(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	busy, err := s.LockMission(t.Context(), "a1b2c3d4")
	gittest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if held, err := s.LockOut(ctx); held != nil || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "mission-") {
		t.Fatalf("LockOut beside another = %d locks, %v", len(held), err)
	}
	other, err := s.TryLock("session-00")
	if other == nil || err != nil {
		t.Fatalf("a lock is still held: %v", err)
	}
	other.Release()
	busy.Release()
	held, err := s.LockOut(t.Context())
	gittest.Must(t, err)
	if l, err := s.TryLock("session-00"); l != nil || err != nil {
		t.Errorf("a lock is free: %v", err)
	}
	for _, l := range held {
		l.Release()
	}
}
