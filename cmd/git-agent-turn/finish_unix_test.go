//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

// A finisher is a host with a mission to be finished again and again.
type finishHost struct {
	*victim
	at      *host // where its agent works
	c       *claude.Client
	mission string
	turns   int
}

func newFinishHost(t *testing.T, attached, group bool) *finishHost {
	t.Helper()
	h := newHost(t)
	f := &finishHost{victim: &victim{host: h, group: group, random: rand.New(rand.NewPCG(5, uint64(len(t.Name()))))}, at: h}
	if attached {
		dir := filepath.Join(gittest.TempDir(t), "linked")
		h.Git("worktree", "add", "-q", "-b", "agent/mission/a1b2c3d4", dir)
		f.at = &host{Repo: h.In(dir), t: t, env: h.env, config: h.config, family: h.family}
		f.mission = "a1b2c3d4"
	}
	f.c = f.at.client()
	if !attached {
		f.mission = f.c.Session[len(f.c.Session)-8:]
	}
	return f
}

// turn is a turn that changes files, some of them new.
func (f *finishHost) turn() {
	f.turns++
	f.c.Prompt(fmt.Sprintf("turn %d", f.turns))
	for i := range 20 {
		f.at.Write(fmt.Sprintf("files/%d", i), strings.Repeat(fmt.Sprintf("%d in turn %d\n", i, f.turns), 200))
	}
	f.at.Write(fmt.Sprintf("new/%d", f.turns), "new\n")
	f.c.Stop("done")
}

// finish finishes the mission as a person does who sees what a dead git has left.
func (f *finishHost) finish() error {
	out, err := f.command("finish", "--no-edit", f.mission).CombinedOutput()
	if err != nil && f.group && strings.Contains(string(out), "could not merge") { // git was killed in the middle of it
		f.Git("reset", "-q", "--hard")
		f.Git("clean", "-fdq")
		out, err = f.command("finish", "--no-edit", f.mission).CombinedOutput()
	}
	if err != nil {
		err = fmt.Errorf("finish: %w\n%s", err, out)
	}
	return err
}

// check fails the test unless HEAD has all turns, each by the trailers of one commit.
func (f *finishHost) check() {
	f.t.Helper()
	if diff := f.Git("diff", "--stat", "HEAD"); diff != "" {
		f.t.Errorf("not committed:\n%s", diff)
	}
	for i := range f.turns {
		if content, want := f.Git("show", fmt.Sprintf("HEAD:new/%d", i+1)), "new"; content != want {
			f.t.Errorf("turn %d left %q, want %q", i+1, content, want)
		}
	}
	if first, _, _ := strings.Cut(f.Git("show", "HEAD:files/7"), "\n"); first != fmt.Sprintf("7 in turn %d", f.turns) {
		f.t.Errorf("HEAD has %q after turn %d", first, f.turns)
	}
	seen := make(map[string]int)
	for line := range strings.Lines(f.Git("log", "--format=%(trailers:key=Agent-Turns,valueonly,separator=%x20)", "main")) {
		if line = strings.TrimSpace(line); line != "" {
			seen[line]++
		}
	}
	for turn, n := range seen {
		if n > 1 {
			f.t.Errorf("%d commits have turn %s", n, turn)
		}
	}
	if len(seen) != f.turns {
		f.t.Errorf("%d commits have trailers, want %d: %v", len(seen), f.turns, seen)
	}
	out, err := f.command("missions").Output()
	if err != nil || !strings.Contains(string(out), "[finished in ") || strings.Contains(string(out), "no branch") {
		f.t.Errorf("missions: %v\n%s", err, out)
	}
}

// TestFinishKilled kills a finish at any moment. Whatever it has left, the next one makes the commit if there
// is none, never a second one, and the mission is finished.
func TestFinishKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct{ attached, group bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		t.Run(fmt.Sprintf("attached %t group %t", tt.attached, tt.group), func(t *testing.T) {
			t.Parallel()
			f := newFinishHost(t, tt.attached, tt.group)
			f.turn()
			began := time.Now()
			gittest.Must(t, f.finish())
			f.usual = time.Since(began)
			kills := gittest.Size(12, 4)
			for f.killed < kills {
				f.turn()
				f.kill("finish", "--no-edit", f.mission)
				f.unlock()
				if err := f.finish(); err != nil {
					t.Fatalf("kill %d after %v: %v\n%s", f.killed, f.last, err, f.Git("status"))
				}
				if f.check(); t.Failed() {
					t.Fatalf("kill %d after %v", f.killed, f.last)
				}
			}
			f.fsck()
		})
	}
}

// unlock removes the locks that a killed git has left, as git advises.
func (f *finishHost) unlock() {
	if !f.group {
		return
	}
	err := filepath.WalkDir(filepath.Join(f.Dir, ".git"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") && !strings.Contains(path, "agent") {
			err = os.Remove(path)
		}
		return err
	})
	gittest.Must(f.t, err)
}

// TestFinishAtOnce: of several that finish one mission at the same time, one makes the commit.
func TestFinishAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, attached := range []bool{false, true} {
		t.Run(fmt.Sprintf("attached %t", attached), func(t *testing.T) {
			t.Parallel()
			f := newFinishHost(t, attached, false)
			for range gittest.Size(10, 3) {
				f.turn()
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() { _ = f.command("finish", "--no-edit", f.mission).Run() })
				}
				all.Wait()
				if err := f.finish(); err != nil {
					t.Fatalf("%v\n%s", err, f.Git("status"))
				}
				if f.check(); t.Failed() {
					return
				}
			}
			f.fsck()
		})
	}
}

// TestFinishLocked: a lock of somebody else's on the index is git's error, and nothing is lost.
func TestFinishLocked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, attached := range []bool{false, true} {
		f := newFinishHost(t, attached, false)
		f.turn()
		f.Write(".git/index.lock", "")
		if err := f.finish(); err == nil || !strings.Contains(err.Error(), "index.lock") {
			t.Errorf("attached %t: %v, want git's error", attached, err)
		}
		gittest.Must(t, os.Remove(filepath.Join(f.Dir, ".git/index.lock")))
		if err := f.finish(); err != nil {
			t.Errorf("attached %t: %v", attached, err)
		}
		f.check()
	}
}
