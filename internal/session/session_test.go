package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var then = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if s.Enabled() || len(s.All()) != 0 || s.LogTail(5) != nil {
		t.Error("a store that was only opened holds something")
	}
	if _, err := os.Stat(s.Dir()); err == nil {
		t.Error("opening made the directory")
	}
	st := s.Load("a")
	if st.Session != "a" || st.Mission != "" || st.Open != nil {
		t.Errorf("a new state is %+v", st)
	}
	st.Mission, st.Seen = "a1b2c3d4", then
	st.Cursors = map[string]Cursor{"a1b2c3d4": {Offset: 7, Check: "x", Turn: 3}}
	st.Open = &OpenTurn{PromptID: "p", Prompt: "go\non", Started: then}
	st.Last = &LastTurn{Mission: "a1b2c3d4", Turn: 3, Started: then, Before: Cursor{Offset: 1}}
	st.Client = Client{PID: 7, Start: "99", Boot: "b"}
	if err := s.Save(st); err != nil {
		t.Fatal(err)
	}
	if got := s.Load("a"); !reflect.DeepEqual(got, st) {
		t.Errorf("loaded %+v, saved %+v", got, st)
	}
	if got := s.Load("b"); got.Mission != "" {
		t.Errorf("another session's state is %+v", got)
	}
	if err := s.Save(s.Load("b")); err != nil {
		t.Fatal(err)
	}
	if all := s.All(); len(all) != 2 {
		t.Errorf("All = %+v", all)
	}
	info, err := os.Stat(filepath.Join(s.Dir(), "sessions", "a.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state quotes a prompt, its mode is %v (%v)", info.Mode(), err)
	}
}

func TestLoadWhatCantBeRead(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "torn": `{"v":1,"sess`, "newer": `{"v":2,"session":"a","mission":"m"}`, "another's": `{"v":1,"session":"b","mission":"m"}`, "binary": "\x00\xff",
	} {
		s := Open(t.TempDir())
		if err := os.MkdirAll(filepath.Join(s.Dir(), "sessions"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.Dir(), "sessions", "a.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if st := s.Load("a"); st.Mission != "" || st.Session != "a" {
			t.Errorf("%s: %+v", name, st)
		}
		st := s.Load("a")
		st.Mission = "new"
		if err := s.Save(st); err != nil || s.Load("a").Mission != "new" {
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

func TestLock(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	var holders, most atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			release, err := s.Lock(context.Background(), "x")
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), holders.Add(1)))
			holders.Add(-1)
			release()
		})
	}
	all.Wait()
	if n := most.Load(); n != 1 {
		t.Errorf("%d had the lock at once", n)
	}
	release, err := s.Lock(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Lock(context.Background(), "y")
	if err != nil {
		t.Fatalf("another lock: %v", err)
	}
	other()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Lock(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held, and a context that is done: %v", err)
	}
	release()
	if release, err = s.Lock(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	release()
}

// TestLockOfDeadProcess: the system releases the lock of a process that was killed.
func TestLockOfDeadProcess(t *testing.T) {
	if dir := os.Getenv("TEST_LOCK_AND_WAIT"); dir != "" {
		if _, err := Open(dir).Lock(context.Background(), "x"); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		select {}
	}
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockOfDeadProcess$")
	cmd.Env = append(os.Environ(), "TEST_LOCK_AND_WAIT="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("locked"))
	if _, err := out.Read(line); err != nil || string(line) != "locked" {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(dir).Lock(ctx, "x"); err == nil {
		t.Error("the lock of a living process was taken")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	release, err := Open(dir).Lock(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	s.Log(then, "first\nwith a second line\n")
	s.Log(then.Add(time.Second), "second")
	want := []string{`2026-11-20T12:00:00Z first\nwith a second line`, "2026-11-20T12:00:01Z second"}
	if got := s.LogTail(5); !reflect.DeepEqual(got, want) {
		t.Errorf("the log is %q, want %q", got, want)
	}
	if got := s.LogTail(1); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("its end is %q", got)
	}
	long := strings.Repeat("x", 1000)
	for i := range 1000 {
		s.Log(then, fmt.Sprint(i, " ", long))
	}
	info, err := os.Stat(filepath.Join(s.Dir(), "log"))
	if err != nil || info.Size() > maxLog+2000 || info.Size() < maxLog/2 {
		t.Errorf("after 1 MB the log has %d bytes (%v)", info.Size(), err)
	}
	for i, line := range s.LogTail(100) {
		if want := fmt.Sprintf("2026-11-20T12:00:00Z %d x", 900+i); !strings.HasPrefix(line, want) || !strings.HasSuffix(line, "x") {
			t.Errorf("line %d is %.60s, want %s", i, line, want)
		}
	}
	s.Log(then, strings.Repeat("y", 10<<20))
	if info, err := os.Stat(filepath.Join(s.Dir(), "log")); err != nil || info.Size() > 2*maxLog {
		t.Errorf("one line of 10 MB makes a log of %d bytes (%v)", info.Size(), err)
	}
}

// TestLogNowhere: where nothing can be written, nothing happens.
func TestLogNowhere(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(file)
	s.Log(then, "lost")
	if s.Tell("a") {
		t.Error("the user would be told again and again: that it was told can't be remembered")
	}
	if err := s.Save(s.Load("a")); err == nil {
		t.Error("saved into a file")
	}
	if _, err := s.Lock(context.Background(), "x"); err == nil {
		t.Error("locked in a file")
	}
}

func TestTell(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if !s.Tell("a") || s.Tell("a") || !s.Tell("b") || s.Tell("b") {
		t.Error("the user is told once in a session")
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
	if err := s.SaveMonitor("a", kept{N: 7, Text: strings.Repeat("long ", 1000)}); err != nil {
		t.Fatal(err)
	}
	if !s.LoadMonitor("a", &v) || v.N != 7 || len(v.Text) != 5000 {
		t.Errorf("kept %+v, want 7", v)
	}
	if err := s.SaveMonitor("a", kept{N: 8}); err != nil {
		t.Fatal(err)
	}
	if v = (kept{}); !s.LoadMonitor("a", &v) || v != (kept{N: 8}) {
		t.Errorf("kept %+v, want 8 in the place of something longer", v)
	}
	if s.LoadMonitor("b", &v) {
		t.Error("sessions are mixed up")
	}
	if all := s.All(); len(all) != 0 {
		t.Errorf("taken for a session's state: %+v", all)
	}
	if err := os.WriteFile(s.monitorPath("a"), []byte(`{"N":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.LoadMonitor("a", &v) {
		t.Error("half a file was read")
	}
	if err := s.Prune(time.Now().Add(time.Hour)); err != nil || s.LoadMonitor("a", &v) {
		t.Errorf("Prune left it: %v", err)
	}
}
