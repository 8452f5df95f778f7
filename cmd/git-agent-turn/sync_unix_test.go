//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// pair is two clones of one repository behind a git daemon: the host must not die with them.
func pair(t *testing.T) (bare *gittest.Repo, a, b *host) {
	bare = gittest.New(t, "--bare")
	bare.ForwardOnly()
	dir := filepath.Dir(bare.Dir)
	url := "git://" + gittest.Serve(t, func() *exec.Cmd { return gittest.Daemon(dir) }) + "/repo"
	a, b = newHost(t), newHost(t)
	for _, h := range []*host{a, b} {
		h.Git("remote", "add", "origin", url)
		h.Git("config", "agent."+url+".push", "all")
	}
	a.Git("push", "-q", "origin", "main")
	return bare, a, b
}

// record records a turn by hand, without pushing it.
func (h *host) record(mission, prompt string) {
	h.t.Helper()
	h.Write("file", prompt+"\n")
	url := h.Git("remote", "get-url", "origin")
	h.Git("-c", "agent."+url+".push=none", "agent-turn", "record", "--mission", mission, "--prompt", prompt)
}

// killed runs the program and kills it, with every git that it has started, after at most the given
// time. It reports whether it was killed before it had ended.
func (h *host) killed(after time.Duration, args ...string) bool {
	h.t.Helper()
	cmd := exec.Command("git-agent-turn", args...)
	cmd.Dir, cmd.Env = h.Dir, h.env
	h.family.Join(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	gittest.Must(h.t, cmd.Start())
	timer := time.AfterFunc(after, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode() < 0
}

// TestSyncKilled kills pushes and fetches at any moment. What comes next works as ever, and nothing
// is lost.
func TestSyncKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	kills := gittest.Size(12, 6)
	bare, a, b := pair(t)
	const mission = "a1b2c3d4"
	a.record(mission, "turn 0")
	began := time.Now()
	a.Git("agent-turn", "push")
	usual := time.Since(began)
	random := rand.New(rand.NewPCG(6, 6))
	moment := func() time.Duration { return time.Duration(random.Int64N(int64(usual))) }
	died := 0
	for n := 1; died < kills; n++ {
		a.record(mission, fmt.Sprintf("turn %d", n))
		for _, dies := range []bool{a.killed(moment(), "push"), b.killed(moment(), "fetch")} {
			if dies {
				died++
			}
		}
		if n%5 == 0 {
			a.Git("agent-turn", "push")
			b.Git("agent-turn", "fetch")
			want := ours(bare)
			if got := ours(b.Repo); !maps.Equal(got, want) {
				t.Fatalf("after %d kills the other clone has %v, want %v", died, got, want)
			}
			if got := ours(a.Repo); !maps.Equal(got, want) {
				t.Fatalf("after %d kills we have %v, the host %v", died, got, want)
			}
		}
	}
	a.fsck()
	b.fsck()
}

// TestSyncAtOnce: while one clone records, pushes and fetches run in it and in another one, several
// at a time.
func TestSyncAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	bare, a, b := pair(t)
	const mission = "a1b2c3d4"
	a.record(mission, "turn 0")
	turns := gittest.Size(10, 3)
	recorded := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(recorded)
		for n := range turns {
			a.record(mission, fmt.Sprintf("turn %d", n+1))
		}
	})
	for _, run := range []struct {
		h    *host
		args []string
	}{
		{a, []string{"push"}},
		{a, []string{"push", "--mission", mission}},
		{a, []string{"push", "--queued", "--", "origin"}},
		{a, []string{"fetch"}},
		{b, []string{"fetch"}},
		{b, []string{"fetch", "origin"}},
	} {
		all.Go(func() {
			for {
				if out, err := run.h.Try(append([]string{"agent-turn"}, run.args...)...); err != nil {
					t.Errorf("%q: %v\n%s", run.args, err, out)
				}
				select {
				case <-recorded:
					return
				default:
				}
			}
		})
	}
	all.Wait()
	a.Git("agent-turn", "push")
	b.Git("agent-turn", "fetch")
	want := ours(a.Repo)
	for name, got := range map[string]map[string]string{"the host": ours(bare), "the other clone": ours(b.Repo)} {
		if len(want) != 2 || !maps.Equal(got, want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
	if n := len(b.list("--mission", mission)); n != turns+1 {
		t.Errorf("the other clone has %d turns, want %d", n, turns+1)
	}
	a.fsck()
	b.fsck()
}
