package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/statedir"
)

// locked returns a file that is locked until the test ends or release is called, as clients have
// one for each session.
func locked(t *testing.T) (path string, release func()) {
	t.Helper()
	dir := statedir.In(t.TempDir(), "locks")
	l, err := dir.TryLock("thread.lock")
	if l == nil || err != nil {
		t.Fatal(l, err)
	}
	t.Cleanup(l.Release)
	if seen, err := statedir.Locked(dir.Path("thread.lock")); !seen || errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("this system does not tell who holds a lock: %v", err)
	}
	return dir.Path("thread.lock"), l.Release
}

func TestReadClientLock(t *testing.T) {
	t.Parallel()
	path, release := locked(t)
	l := ReadClientLock(path)
	if l != (ClientLock{}) && l != (ClientLock{path, Domain()}) {
		t.Errorf("ReadClientLock = %+v", l)
	}
	release()
	for _, path := range []string{path, filepath.Join(t.TempDir(), "none"), ""} {
		if l := ReadClientLock(path); l != (ClientLock{}) {
			t.Errorf("ReadClientLock of a free file %q = %+v", path, l)
		}
	}
}

// TestLivenessOfLocked: the liveness of a session whose client locks a file for it. The cases are those
// of Codex 0.169.0, each seen with the real client.
func TestLivenessOfLocked(t *testing.T) {
	t.Parallel()
	held, _ := locked(t)
	left, release := locked(t)
	release()
	me := ReadClient(os.Getpid())
	gone := Client{PID: 1 << 22, Start: "1", Boot: me.Boot, Domain: me.Domain}
	here := func(path string) ClientLock { return ClientLock{path, Domain()} }
	removed := filepath.Join(filepath.Dir(left), "removed.lock")
	unseen := filepath.Join(filepath.Dir(left), "none", "thread.lock")
	open := &OpenTurn{}
	other := Registration{PID: me.PID, Start: me.Start, Domain: me.Domain, Session: "other"}
	for _, tt := range []struct {
		name     string
		st       Known
		registry []Registration
		want     Liveness
	}{
		{"exec runs", Known{Client: me, ClientLock: here(held), Open: open}, nil, Lives},
		{"exec has ended", Known{Client: gone, Ended: true, ClientLock: here(removed)}, nil, Ended},
		{"exec under TERM or KILL", Known{Client: gone, ClientLock: here(left), Open: open}, nil, Gone},
		{"and the next client has removed the file", Known{Client: gone, ClientLock: here(removed), Open: open}, nil, Gone},
		{"TUI between two turns", Known{Client: me, ClientLock: here(held)}, nil, Lives},
		{"TUI after /new, which keeps the old thread", Known{Client: me, ClientLock: here(held)}, []Registration{other}, Lives},
		{"TUI under KILL", Known{Client: gone, ClientLock: here(left)}, nil, Gone},
		{"in the daemon, whose process is not the session's", Known{ClientLock: here(held), Open: open}, nil, Lives},
		{"the TUI was quit or killed: the daemon keeps the thread for a minute", Known{ClientLock: here(held)}, nil, Lives},
		{"then the daemon ends it", Known{ClientLock: here(removed), Ended: true}, nil, Ended},
		{"the daemon was killed", Known{ClientLock: here(left), Open: open}, nil, Gone},
		{"the daemon was killed, and the thread is in another one", Known{ClientLock: here(held), Open: open}, nil, Lives},
		{"begun without the daemon, taken up in it", Known{Client: gone, ClientLock: here(held)}, nil, Lives},
		{"a process with the client's pid still runs", Known{Client: me, ClientLock: here(left)}, nil, Gone},
		{"taken up where another file is locked", Known{ClientLock: here(left)}, []Registration{{Session: "s", Held: true}}, Lives},
		{"in another container", Known{ClientLock: ClientLock{left, "linux:another:pid:[1]"}}, nil, Lives},
		{"in another container, by its pid alone", Known{Client: gone, ClientLock: ClientLock{left, "linux:another:pid:[1]"}}, nil, Gone},
		{"where its configuration is not mounted", Known{ClientLock: here(unseen), Open: open}, nil, Lives},
		{"where that is not mounted, and its client is gone", Known{Client: gone, ClientLock: here(unseen), Open: open}, nil, Gone},
		{"nothing is known, and others hold locks", Known{Open: open}, []Registration{{Session: "other", Held: true}}, Lives},
	} {
		tt.st.Session = "s"
		if got := LivenessOf(&tt.st, tt.registry); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
