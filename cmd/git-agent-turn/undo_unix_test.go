//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// TestUndoKilled kills whatever changes the worktree at any moment. If it has changed anything, an undo
// brings back every byte of what was there before; if not, one takes back what was done before it. So it
// is if somebody writes another file in between.
func TestUndoKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, group := range []bool{false, true} {
		t.Run(fmt.Sprintf("group %t", group), func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			c := h.client()
			for n := range 3 {
				c.Prompt(fmt.Sprint(n))
				for i := range 60 { // large enough to be cut off
					h.Write(fmt.Sprintf("files/%d", i), strings.Repeat(fmt.Sprintf("%d in turn %d\n", i, n), 3000))
				}
				h.Write(fmt.Sprintf("only/%d", n), "only then\n")
				_ = os.Remove(filepath.Join(h.Dir, "only", fmt.Sprint(n-1)))
				c.Stop("done")
			}
			mission := c.Session[len(c.Session)-8:]
			v := &victim{host: h, group: group, random: rand.New(rand.NewPCG(7, uint64(len(t.Name()))))}
			run := func(args ...string) {
				t.Helper()
				if out, err := v.command(args...).CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", args, err, out)
				}
			}
			h.Write("by hand", "whatever it was\n")
			began := time.Now()
			run("restore", mission+"/1")
			v.usual = time.Since(began)
			run("undo")
			kills := gittest.Size(12, 4)
			for n := 0; v.killed < kills; n++ {
				run("restore", mission+"/3", "--", "only", "files")
				args := [][]string{
					{"restore", mission + "/1"},
					{"restore", mission + "/2", "--", "files"},
					{"revert", mission + "/3"},
					{"undo"},
				}[n%4]
				undone := v.files()
				if args[0] == "undo" {
					run("restore", mission+"/1")
				}
				before := v.files()
				v.kill(args...)
				after := v.files()
				want := before
				if args[0] == "undo" && after != before && after != undone {
					want = undone // an undo that was cut off is finished
				}
				if n%8 >= 4 {
					h.Write("since", fmt.Sprint(n))
				}
				run("undo")
				now := v.files()
				_ = os.Remove(filepath.Join(h.Dir, "since"))
				switch {
				case after != before && now != want:
					t.Fatalf("kill %d of %q after %v: the undo does not bring back what was there before", v.killed, args, v.last)
				case after == before && args[0] == "undo" && now == before:
					t.Fatalf("kill %d of %q after %v: the second undo does nothing", v.killed, args, v.last)
				}
			}
			t.Logf("%d killed, %d in the middle", v.killed, v.middle)
			h.fsck()
		})
	}
}

// A victim is a command that is killed.
type victim struct {
	*host
	group  bool
	random *rand.Rand
	usual  time.Duration // that a command takes
	last   time.Duration // after which one was killed
	killed int
	middle int
}

func (v *victim) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git-agent-turn", args...)
	cmd.Dir, cmd.Env = v.Dir, v.env
	v.family.Join(cmd)
	return cmd
}

// kill runs a command and kills it at some moment.
func (v *victim) kill(args ...string) {
	v.t.Helper()
	cmd := v.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	gittest.Must(v.t, cmd.Start())
	began := time.Now()
	v.last = time.Duration(v.random.Int64N(int64(v.usual)))
	if v.random.IntN(2) == 0 { // in the middle of the checkout
		for time.Since(began) < v.usual && !v.begun() {
		}
		v.last = time.Since(began) + time.Duration(v.random.Int64N(int64(v.usual/10)))
	}
	for time.Since(began) < v.last {
		// At any moment, also in the middle of a system call of ours.
	}
	pid := cmd.Process.Pid
	if v.group {
		pid = -pid
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	if err := cmd.Wait(); err != nil {
		v.killed++
		v.usual += v.usual / 20
	} else {
		v.usual -= v.usual / 10
	}
	v.family.Await()
	if v.begun() {
		v.middle++
	}
	if v.group {
		v.AgeLocks()
	}
}

// begun reports whether a checkout has begun, and not ended.
func (v *victim) begun() bool {
	_, err := os.Lstat(filepath.Join(v.Dir, ".git", "agent", "step.begun"))
	return err == nil
}

// files is everything in the worktree, byte for byte, but what was written since.
func (v *victim) files() string {
	v.t.Helper()
	var b bytes.Buffer
	err := filepath.WalkDir(v.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		if d.Name() == "since" {
			return nil
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %q\n", path, data)
		return err
	})
	gittest.Must(v.t, err)
	return b.String()
}
