package session

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"gitagent/test/gittest"
)

// TestTell: of many processes that have something to say one says it, for each session, kind and
// repository, and none of it touches the repository.
func TestTell(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	a, b := Open(t.TempDir()), Open(t.TempDir())
	for _, tt := range []struct {
		store    Store
		id, kind string
	}{{a, "1", "turn"}, {a, "2", "turn"}, {a, "1", "log"}, {b, "1", "turn"}} {
		if tt.store.WasTold(tt.id, tt.kind) {
			t.Errorf("%v was told before", tt)
		}
		var told atomic.Int32
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if tt.store.Tell(tt.id, tt.kind, "what is lost") {
					told.Add(1)
				}
			})
		}
		all.Wait()
		if told.Load() != 1 || !tt.store.WasTold(tt.id, tt.kind) {
			t.Errorf("%v was told %d times", tt, told.Load())
		}
	}
	if list := a.Notices(); len(list) != 3 || list[0].Text != "what is lost" || list[0].At.IsZero() {
		t.Errorf("told is %v", list)
	}
	if list := Open(t.TempDir()).Notices(); len(list) != 0 {
		t.Errorf("elsewhere told is %v", list)
	}
	if _, err := a.Dir().Lstat("."); err == nil {
		t.Error("the repository was written to")
	}
}

// TestOwed: what is owed in a session is told there by one process, and forgotten with the repository's notices.
func TestOwed(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s := Open(t.TempDir())
	for _, text := range []string{"one", "two"} {
		gittest.Must(t, s.Owe("1", text))
	}
	if got := s.Owed("2"); got != "" {
		t.Errorf("another session is told %q", got)
	}
	if list := s.Notices(); len(list) != 0 {
		t.Errorf("told is %v", list)
	}
	var told atomic.Int32
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			switch got := s.Owed("1"); got {
			case "one\ntwo":
				told.Add(1)
			case "":
			default:
				t.Errorf("told is %q", got)
			}
		})
	}
	all.Wait()
	if told.Load() != 1 {
		t.Errorf("told %d times", told.Load())
	}
	gittest.Must(t, s.Owe("1", "three"))
	gittest.Must(t, s.untell())
	if got := s.Owed("1"); got != "" {
		t.Errorf("told is %q, which was forgotten", got)
	}
}

// TestTellAmongOthers: what others have put where temporary files are makes nobody silent, and gets
// nothing to read.
func TestTellAmongOthers(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"nothing":                      func(string) error { return nil },
		"a directory that all may use": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":                       func(path string) error { return os.Symlink(t.TempDir(), path) },
		"a file":                       func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			t.Setenv("XDG_RUNTIME_DIR", top)
			s := Open(t.TempDir())
			path := notes().Path(".")
			gittest.Must(t, plant(path))
			if name != "nothing" {
				_ = os.Chmod(path, 0o777)
			}
			for n := range 2 {
				if told := s.Tell("1", "turn", "secret"); told != (n == 0 || name != "nothing") {
					t.Errorf("time %d: told is %t", n, told)
				}
			}
			if name == "nothing" {
				return
			}
			if found, _ := filepath.Glob(filepath.Join(path, "*")); len(found) > 0 {
				t.Errorf("others find %v", found)
			}
		})
	}
}
