package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/lock"
	"gitagent/internal/statedir"
)

// locked returns a file that is locked until the test ends or release is called, as clients have
// one for each session.
func locked(t *testing.T) (path string, release func()) {
	t.Helper()
	dir := statedir.In(t.TempDir(), "locks")
	l, err := lock.Try(dir, "thread.lock")
	if l == nil || err != nil {
		t.Fatal(l, err)
	}
	t.Cleanup(l.Release)
	if seen, err := lock.Held(dir.Path("thread.lock")); !seen || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("this system does not tell who holds a lock: %v", err)
	}
	return dir.Path("thread.lock"), l.Release
}

func TestReadHold(t *testing.T) {
	t.Parallel()
	path, release := locked(t)
	h := ReadHold(path)
	if h != (Hold{}) && h != (Hold{path, Domain()}) {
		t.Errorf("ReadHold = %+v", h)
	}
	release()
	for _, path := range []string{path, filepath.Join(t.TempDir(), "none"), ""} {
		if h := ReadHold(path); h != (Hold{}) {
			t.Errorf("ReadHold of a free file %q = %+v", path, h)
		}
	}
}

// TestFateOfHeld: what has become of a session whose client locks a file for it. The cases are those
// of Codex 0.169.0, each seen with the real client.
func TestFateOfHeld(t *testing.T) {
	t.Parallel()
	held, _ := locked(t)
	left, release := locked(t)
	release()
	me := ReadClient(os.Getpid())
	gone := Client{PID: 1 << 22, Start: "1", Boot: me.Boot, Domain: me.Domain}
	here := func(path string) Hold { return Hold{path, Domain()} }
	removed := filepath.Join(filepath.Dir(left), "removed.lock")
	unseen := filepath.Join(filepath.Dir(left), "none", "thread.lock")
	open := &OpenTurn{}
	other := Registration{PID: me.PID, Start: me.Start, Domain: me.Domain, Session: "other"}
	for _, tt := range []struct {
		name     string
		st       State
		registry []Registration
		want     Fate
	}{
		{"exec runs", State{Client: me, Hold: here(held), Open: open}, nil, Lives},
		{"exec has ended", State{Client: gone, Ended: true, Hold: here(removed)}, nil, Ended},
		{"exec under TERM or KILL", State{Client: gone, Hold: here(left), Open: open}, nil, Gone},
		{"and the next client has removed the file", State{Client: gone, Hold: here(removed), Open: open}, nil, Gone},
		{"TUI between two turns", State{Client: me, Hold: here(held)}, nil, Lives},
		{"TUI after /new, which keeps the old thread", State{Client: me, Hold: here(held)}, []Registration{other}, Lives},
		{"TUI under KILL", State{Client: gone, Hold: here(left)}, nil, Gone},
		{"in the daemon, whose process is not the session's", State{Hold: here(held), Open: open}, nil, Lives},
		{"the TUI was quit or killed: the daemon keeps the thread for a minute", State{Hold: here(held)}, nil, Lives},
		{"then the daemon ends it", State{Hold: here(removed), Ended: true}, nil, Ended},
		{"the daemon was killed", State{Hold: here(left), Open: open}, nil, Gone},
		{"the daemon was killed, and the thread is in another one", State{Hold: here(held), Open: open}, nil, Lives},
		{"begun without the daemon, taken up in it", State{Client: gone, Hold: here(held)}, nil, Lives},
		{"a process with the client's pid still runs", State{Client: me, Hold: here(left)}, nil, Gone},
		{"taken up where another file is locked", State{Hold: here(left)}, []Registration{{Session: "s", Held: true}}, Lives},
		{"in another container", State{Hold: Hold{left, "linux:another:pid:[1]"}}, nil, Lives},
		{"in another container, by its pid alone", State{Client: gone, Hold: Hold{left, "linux:another:pid:[1]"}}, nil, Gone},
		{"where its configuration is not mounted", State{Hold: here(unseen), Open: open}, nil, Lives},
		{"where that is not mounted, and its client is gone", State{Client: gone, Hold: here(unseen), Open: open}, nil, Gone},
		{"nothing is known, and others hold locks", State{Open: open}, []Registration{{Session: "other", Held: true}}, Lives},
	} {
		tt.st.Session = "s"
		if got := FateOf(&tt.st, tt.registry); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
