//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

// TestKilled kills hooks at any moment, 200 times. After each, the next event of the session works
// as ever: it is not blocked by what the dead one left, the turn that was cut off is recorded
// exactly once, and no turn that was acknowledged is gone.
func TestKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, tt := range map[string]struct {
		branch bool
		group  bool // the whole process group dies, the git that the hook has started included
	}{
		"attached":                {true, false},
		"passive":                 {false, false},
		"passive, and git killed": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kills := gittest.Size(40, 5)
			h := newHost(t)
			k := &killer{host: h, group: tt.group, random: rand.New(rand.NewPCG(uint64(len(name)), 1))}
			c := h.client()
			mission := c.Session[len(c.Session)-8:]
			if tt.branch {
				mission = "a1b2c3d4"
				h.Git("checkout", "-q", "-b", "agent/mission/"+mission)
			}
			c.Prompt("turn 1") // which begins the mission, and tells how long a hook takes
			h.Write("file", "turn 1\n")
			began := time.Now()
			c.Stop("did turn 1")
			k.usual = time.Since(began)
			k.acknowledged, k.unseen = map[int]bool{1: true}, make(map[int]bool)
			n := 1
			for k.killed < kills {
				n++
				victim := "Stop"
				if k.random.IntN(4) == 0 {
					victim = "UserPromptSubmit"
				}
				c.Hook = func(e claude.Event) {
					switch {
					case e.Name == "Stop" && victim == "Stop":
						k.acknowledged[n] = k.deliver(e)
					case e.Name == victim:
						// A turn of which nobody saw the end before the next one had ended has no
						// tree of its own.
						k.unseen[n-1] = !k.deliver(e) && !k.acknowledged[n-1]
					default:
						k.acknowledged[n] = true
						h.deliver(e)
					}
				}
				c.Prompt(fmt.Sprintf("turn %d", n))
				h.Write("file", fmt.Sprintf("turn %d\n", n))
				h.Write(fmt.Sprintf("files/%d", n%7), fmt.Sprintf("turn %d\n", n))
				c.Stop(fmt.Sprintf("did turn %d", n))
				if n%20 == 0 {
					h.deliver(claude.Event{Name: "SessionEnd", Session: c.Session, Transcript: c.Path, Cwd: c.Cwd, PID: c.PID})
					k.check(mission, n)
				}
				if t.Failed() {
					t.Fatalf("after %d kills, the last one of the %s hook after %v of %v", k.killed, victim, k.last, k.usual)
				}
			}
			c.Hook = func(e claude.Event) { h.deliver(e) }
			c.End("other")
			k.check(mission, n)
		})
	}
}

// A killer kills hooks.
type killer struct {
	*host
	group  bool
	random *rand.Rand
	usual  time.Duration // that a hook takes at most; so that two of three die
	last   time.Duration // after which one was killed
	killed int

	acknowledged map[int]bool // the turn's Stop hook ended
	unseen       map[int]bool // neither the turn's end nor the next one's beginning was seen
}

// deliver is the hook of an event, killed at some moment. It reports whether the hook ended before.
func (k *killer) deliver(e claude.Event) bool {
	k.t.Helper()
	cmd := exec.Command("git-agent-turn", "hook")
	cmd.Dir, cmd.Stdin, cmd.Env = e.Cwd, bytes.NewReader(e.Payload()), k.env
	k.family.Join(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	gittest.Must(k.t, cmd.Start())
	k.last = time.Duration(k.random.Int64N(int64(k.usual)))
	for began := time.Now(); time.Since(began) < k.last; {
		// At any moment, also in the middle of a system call of ours.
	}
	victim := cmd.Process.Pid
	if k.group {
		victim = -victim
	}
	_ = syscall.Kill(victim, syscall.SIGKILL) // it may have ended
	err := cmd.Wait()
	if k.group {
		k.AgeLocks()
	}
	if err == nil {
		k.usual -= k.usual / 10
		return true
	}
	k.killed++
	k.usual += k.usual / 20
	return false
}

// check compares what is recorded with what was run: turns 1 to n, each of them once.
func (k *killer) check(mission string, n int) {
	k.t.Helper()
	list := k.list("--mission", mission)
	if len(list) != n {
		k.t.Errorf("%d turns, want %d: %+v", len(list), n, list)
		return
	}
	var names []string
	for _, l := range list {
		names = append(names, l.Code+":file")
	}
	out, err := k.Feed(strings.Join(names, "\n")+"\n", "cat-file", "--batch=")
	gittest.Must(k.t, err)
	files := strings.Fields(strings.ReplaceAll(out, "turn ", ""))
	end := int64(0)
	for i, l := range list {
		if l.Prompt != fmt.Sprintf("turn %d", i+1) || files[i] != fmt.Sprint(i+1) && !k.unseen[i+1] {
			k.t.Errorf("turn %d is %+v with the file of turn %s", i+1, l, files[i])
		}
		if k.acknowledged[i+1] && l.Outcome != "done" {
			k.t.Errorf("turn %d was acknowledged, and is %s", i+1, l.Outcome)
		}
		if l.Transcript.From != end || l.Transcript.After != i {
			k.t.Errorf("the segment of turn %d is %+v, want it from %d", i+1, l.Transcript, end)
		}
		end = l.Transcript.To
	}
	k.sound()
}
