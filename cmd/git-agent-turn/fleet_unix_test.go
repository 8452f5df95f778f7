//go:build unix

package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

var (
	fleetClones = flag.Int("clones", 3, "how many clones a fleet has")
	fleetTurns  = flag.Int("turns", 5, "how many turns each of them records")
)

// A fleet is clones of one bare repository behind a git daemon, on which nothing can be forced and
// nothing deleted.
type fleet struct {
	t      *testing.T
	bare   *gittest.Repo
	clones []*host
	total  int
}

// newFleet makes clones. answer makes the process that answers one connection.
func newFleet(t *testing.T, answer func(dir string) *exec.Cmd) *fleet {
	f := &fleet{t: t, bare: gittest.New(t, "--bare")}
	f.bare.Git("config", "receive.fsckObjects", "true")
	f.bare.ForwardOnly()
	gittest.Must(t, os.WriteFile(filepath.Join(f.bare.Dir, "hooks", "post-receive"), []byte("#!/bin/sh\necho push >>pushes\n"), 0o777))
	dir := filepath.Dir(f.bare.Dir)
	url := "git://" + gittest.Serve(t, func() *exec.Cmd { return answer(dir) }) + "/repo"
	for range *fleetClones {
		h := newHost(t)
		h.Git("remote", "add", "origin", url)
		h.Git("config", "agent."+url+".push", "all")
		f.clones = append(f.clones, h)
	}
	f.clones[0].Git("push", "-q", f.bare.Dir, "main")
	return f
}

// work lets every clone record its turns, all at the same time.
func (f *fleet) work() {
	var all sync.WaitGroup
	for i, h := range f.clones {
		all.Go(func() {
			c := h.client()
			c.Session = fmt.Sprintf("5e550000-0000-4000-8000-00000000%04x", i)
			for n := range *fleetTurns {
				c.Prompt(fmt.Sprintf("clone %d, turn %d", i, n+1))
				h.Write("file", fmt.Sprintf("%d, %d\n", i, n))
				c.Stop("done")
			}
			h.end(c)
		})
	}
	all.Wait()
	f.total += len(f.clones) * *fleetTurns
}

func (h *host) end(c *claude.Client) { c.End("other") }

// check compares every clone with the bare repository, after a fetch.
func (f *fleet) check() {
	f.t.Helper()
	want := ours(f.bare)
	if len(want) != 2*len(f.clones) {
		f.t.Errorf("the host has %d refs, want two for each of %d missions", len(want), len(f.clones))
	}
	for i, h := range f.clones {
		h.family.Await()
		if _, err := h.Try("agent-turn", "fetch"); err != nil {
			f.t.Error(err)
		}
		if got := ours(h.Repo); !maps.Equal(got, want) {
			f.t.Errorf("clone %d has %v, want %v", i, got, want)
		}
		if n := len(h.list("--all")); n != f.total {
			f.t.Errorf("clone %d lists %d turns, want %d", i, n, f.total)
		}
	}
	if out, err := f.bare.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		f.t.Errorf("git fsck of the host: %v\n%s", err, out)
	}
}

// TestFleet: agents on many machines push to one host without ever meeting.
func TestFleet(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	f := newFleet(t, gittest.Daemon)
	began := time.Now()
	f.work()
	took := time.Since(began)
	data, err := os.ReadFile(filepath.Join(f.bare.Dir, "pushes"))
	gittest.Must(t, err)
	n := strings.Count(string(data), "push\n") - 1
	t.Logf("%d clones with %d turns each: %d pushes, %s", len(f.clones), *fleetTurns, n, took.Round(time.Millisecond))
	if n > 2*f.total { // a push may meet the beginning of a turn, too
		t.Errorf("%d turns took %d pushes", f.total, n)
	}
	for i, h := range f.clones {
		if log := h.log(); log != "" {
			t.Errorf("the log of clone %d: %s", i, log)
		}
	}
	f.check()
}

// TestFleetAndABadHost: while the host cuts connections, can't write, rejects, or has a ref locked,
// nothing is lost; when it is well again, everything arrives.
func TestFleetAndABadHost(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	var well atomic.Bool
	var ills [5]atomic.Int32
	f := newFleet(t, func(dir string) *exec.Cmd {
		daemon := gittest.Daemon(dir)
		if well.Load() {
			return daemon
		}
		ill := rand.IntN(len(ills))
		ills[ill].Add(1)
		script := ""
		switch ill {
		case 0:
			return nil // it hangs up
		case 1:
			script = fmt.Sprintf(`exec timeout -s KILL 0.%03d "$@"`, 1+rand.IntN(60)) // and in the middle
		case 2:
			script = `ulimit -f 0; exec "$@"` // the disk is full
		case 3:
			script = `exec env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=receive.maxInputSize GIT_CONFIG_VALUE_0=100 "$@"`
		case 4:
			return daemon
		}
		cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, daemon.Args...)...)
		cmd.Env = daemon.Env
		return cmd
	})
	f.work()
	t.Logf("hung up %d, cut %d, disk full %d, too large %d, well %d", ills[0].Load(), ills[1].Load(), ills[2].Load(), ills[3].Load(), ills[4].Load())
	well.Store(true)
	for _, h := range f.clones {
		h.family.Await() // they have tried again
		if _, err := h.Try("agent-turn", "push"); err != nil {
			t.Error(err)
		}
		if waits, err := filepath.Glob(filepath.Join(h.Dir, ".git", "agent", "push", "origin", "[0-9a-f]*[0-9a-f]")); err != nil || len(waits) > 0 {
			t.Errorf("there still wait %q, %v", waits, err)
		}
	}
	f.check()
}
