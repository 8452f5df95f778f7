//go:build unix

package remote_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/test/gittest"
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
func leadTo(c *clone, url string) {
	c.t.Helper()
	c.Git("remote", "set-url", "origin", url)
	c.agree(url, "all")
}

// failed records the last background attempts as failures: the next one is a minute away.
func failed(c *clone, times int) { failedAt(c, times, time.Now()) }

// failedAt is failed as of a time. In a year, as if the clock had been set back since, the next attempt is a year away.
func failedAt(c *clone, times int, at time.Time) {
	c.t.Helper()
	memory, err := json.Marshal(map[string]any{"failures": times, "failed": at})
	if err != nil {
		c.t.Fatal(err)
	}
	c.Write(".git/agent/push/origin/memory.json", string(memory))
}

// drains runs, until the test ends, what the hooks start in the background.
func drains(c *clone) {
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan error)
	go func() { ended <- remote.Drain(ctx, c.origin()) }()
	c.t.Cleanup(func() { cancel(); <-ended })
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
				tool(t, "ssh")
			}
			address, connections := refusing(t)
			c := cloneOf(t, newHost(t).Dir)
			leadTo(c, scheme+"://"+address+"/repo")
			other := record.ID("00000001")
			c.turn(mission, "one")
			c.turn(other, "one")
			for what, push := range map[string]func() error{
				"one":        func() error { _, err := remote.Push(t.Context(), c.origin(), mission); return err },
				"everything": func() error { _, err := remote.PushAll(t.Context(), c.origin(), nil); return err },
			} {
				if err := push(); err == nil {
					t.Errorf("push of %s: no error", what)
				}
				if n := connections.Swap(0); n != 1 {
					t.Errorf("push of %s: %d connections, want 1", what, n)
				}
			}
			for _, id := range []record.ID{mission, other} {
				if err := c.origin().Later(id); err != nil {
					t.Fatal(err)
				}
			}
			failedAt(c, 10, time.Now().AddDate(1, 0, 0))
			drains(c)
			if c.origin().Await(t.Context(), mission) {
				t.Error("the mission is said to have arrived")
			}
			if n := connections.Swap(0); n != 1 {
				t.Errorf("the end of a session: %d connections, want 1", n)
			}
			arrived := make(chan bool)
			for _, id := range []record.ID{mission, other} {
				go func() { arrived <- c.origin().Await(t.Context(), id) }()
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
	c := cloneOf(t, newHost(t).Dir)
	c.turn(mission, "one")
	if err := c.origin().Later(mission); err != nil {
		t.Fatal(err)
	}
	failedAt(c, 10, time.Now().AddDate(1, 0, 0))
	drains(c)
	c.turn("00000001", "one") // gives it time to begin resting
	c.push("00000001")
	failed(c, 0)
	if !c.origin().Await(t.Context(), mission) {
		t.Error("it rests on, and what waits does not arrive")
	}
}
