//go:build unix

package pusher_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// refusing listens on a port, closes every connection at once, and counts them.
func refusing(t *testing.T) (address string, connections *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	connections = new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	}()
	return l.Addr().String(), connections
}

// leads points the remote of a clone elsewhere, and agrees to sending anything there.
func leadTo(c *remotelab.Clone, url string) {
	c.T.Helper()
	c.Git("remote", "set-url", "origin", url)
	c.Agree(url, "all")
}

// failed records the last background attempts as failures: the next one is a minute away.
func failed(c *remotelab.Clone, times int) { failedAt(c, times, time.Now()) }

// failedAt is failed as of a time. In a year, as if the clock had been set back since, the next attempt is a year away.
func failedAt(c *remotelab.Clone, times int, at time.Time) {
	c.T.Helper()
	memory, err := json.Marshal(map[string]any{"failures": times, "failed": at})
	if err != nil {
		c.T.Fatal(err)
	}
	c.Write(".git/agent/push/origin/memory.json", string(memory))
}

// drains runs, until the test ends, what the hooks start in the background.
func drains(c *remotelab.Clone) {
	ctx, cancel := context.WithCancel(c.T.Context())
	ended := make(chan error)
	go func() { ended <- pusher.Drain(ctx, c.Origin()) }()
	c.T.Cleanup(func() { cancel(); <-ended })
}

// TestRefused: an unreachable remote costs an attempt one connection, and the end of a session one
// attempt.
func TestRefused(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, scheme := range []string{"http", "git", "ssh"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			if scheme == "ssh" {
				remotelab.Tool(t, "ssh")
			}
			address, connections := refusing(t)
			c := remotelab.CloneOf(t, remotelab.NewHost(t).Dir)
			leadTo(c, scheme+"://"+address+"/repo")
			other := record.ID("00000001")
			c.Turn(remotelab.Mission, "one")
			c.Turn(other, "one")
			for what, push := range map[string]func() error{
				"one":        func() error { _, err := pusher.Push(t.Context(), c.Origin(), remotelab.Mission); return err },
				"everything": func() error { _, err := pusher.PushAll(t.Context(), c.Origin(), nil); return err },
			} {
				if err := push(); err == nil {
					t.Errorf("push of %s: no error", what)
				}
				if n := connections.Swap(0); n != 1 {
					t.Errorf("push of %s: %d connections, want 1", what, n)
				}
			}
			for _, id := range []record.ID{remotelab.Mission, other} {
				if err := c.Origin().Later(id); err != nil {
					t.Fatal(err)
				}
			}
			failedAt(c, 10, time.Now().AddDate(1, 0, 0))
			drains(c)
			if c.Origin().Await(t.Context(), remotelab.Mission) {
				t.Error("the mission is said to have arrived")
			}
			if n := connections.Swap(0); n != 1 {
				t.Errorf("the end of a session: %d connections, want 1", n)
			}
			arrived := make(chan bool)
			for _, id := range []record.ID{remotelab.Mission, other} {
				go func() { arrived <- c.Origin().Await(t.Context(), id) }()
			}
			for range 2 {
				if <-arrived {
					t.Error("a mission is said to have arrived")
				}
			}
			if n := connections.Load(); n < 1 || n > 2 { // the second may begin once the first has failed
				t.Errorf("the ends of two sessions: %d connections, want 1 or 2", n)
			}
			if _, err := os.Lstat(filepath.Join(c.Dir, ".git/agent/push/origin/hurry")); err == nil {
				t.Error("nobody waits any more, and there is still somebody in a hurry")
			}
		})
	}
}

// TestRestEnds: a background process that rests after failures continues once another process has
// reached the remote.
func TestRestEnds(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	c := remotelab.CloneOf(t, remotelab.NewHost(t).Dir)
	c.Turn(remotelab.Mission, "one")
	if err := c.Origin().Later(remotelab.Mission); err != nil {
		t.Fatal(err)
	}
	failedAt(c, 10, time.Now().AddDate(1, 0, 0))
	drains(c)
	c.Turn("00000001", "one") // gives it time to begin resting
	c.Push("00000001")
	failed(c, 0)
	if !c.Origin().Await(t.Context(), remotelab.Mission) {
		t.Error("it rests on, and what waits does not arrive")
	}
}

// TestRejected: a host that takes no refs of ours is asked for each push twice, as a push that was killed may live on
// there, and once for what it has.
func TestRejected(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	host := remotelab.NewHost(t)
	writeHook(t, host, "pre-receive", "echo pushed >>pushes; exit 1\n")
	c := remotelab.CloneOf(t, host.Dir)
	c.Agree(host.Dir, "all")
	c.Turn(remotelab.Mission, "one")
	if _, err := pusher.Push(t.Context(), c.Origin(), remotelab.Mission); !errors.Is(err, pusher.ErrRejected) {
		t.Errorf("the push: %v; want an error that it was rejected", err)
	}
	if got := host.Read("pushes"); got != "pushed\npushed\n" {
		t.Errorf("the host was pushed to %d times, want 2", strings.Count(got, "\n"))
	}
}
