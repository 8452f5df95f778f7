//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// A host is a repository with recording switched on, and an agent's client in it.
type host struct {
	*gittest.Repo
	t      testing.TB
	env    []string
	client *replay.Client
	family *gittest.Family
}

func newHost(t testing.TB) *host {
	t.Helper()
	h := &host{Repo: gittest.New(t), t: t, family: gittest.NewFamily(t)}
	for _, v := range h.Repo.Env {
		if name, value, _ := strings.Cut(v, "="); name == "PATH" {
			v = name + "=" + os.Getenv("PATH") + string(filepath.ListSeparator) + turnProgram + string(filepath.ListSeparator) + value
		}
		h.env = append(h.env, v)
	}
	h.env = append(h.env, "GORACE="+os.Getenv("GORACE"))
	h.Write(".git/agent/enabled", "")
	h.Write("file", "0\n")
	h.Commit("first")
	h.client = replay.New(gittest.TempDir(t), h.Dir, func(e replay.Event) {
		program := "git-agent-turn"
		if e.Name == "SessionStart" {
			program = "git-agent-handoff"
		}
		h.run(bytes.NewReader(e.Payload()), program, "hook")
	})
	return h
}

func (h *host) command(stdin io.Reader, program string, args ...string) *exec.Cmd {
	path := program
	for _, v := range h.env {
		if dirs, ok := strings.CutPrefix(v, "PATH="); ok {
			for _, dir := range filepath.SplitList(dirs) {
				if _, err := os.Stat(filepath.Join(dir, program)); err == nil && path == program {
					path = filepath.Join(dir, program)
				}
			}
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.Dir, h.env, stdin
	h.family.Join(cmd)
	return cmd
}

// run runs a program that must succeed, and returns what it prints.
func (h *host) run(stdin io.Reader, program string, args ...string) string {
	h.t.Helper()
	cmd := h.command(stdin, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		h.t.Errorf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

func (h *host) mission() string { return h.client.Session[len(h.client.Session)-8:] }

// A line is what list says of a handoff.
type line struct {
	Handoff int
	Session string
	Summary string `json:"progress_summary"`
}

// handoffs lists the handoffs of the client's mission, newest first.
func (h *host) handoffs() []line {
	h.t.Helper()
	var all []line
	for text := range strings.Lines(h.run(nil, "git-agent-handoff", "list", "--mission", h.mission(), "--json")) {
		var l line
		gittest.Must(h.t, json.Unmarshal([]byte(text), &l))
		all = append(all, l)
	}
	return all
}

// check fails the test unless git finds the repository sound, and nothing was logged.
func (h *host) check() {
	h.t.Helper()
	h.family.Await() // packs are rolled up in the background
	if out, err := h.Try("fsck", "--strict", "--no-dangling", "--no-reflogs"); err != nil || out != "" {
		h.t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
	if log, err := os.ReadFile(filepath.Join(h.Dir, ".git", "agent", "log")); err == nil {
		h.t.Errorf("the log: %s", log)
	}
}

// TestAtOnce: while a turn ends, two others hand off. Nothing is lost: the turn is there, and each
// handoff is, with a number of its own.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	rounds := gittest.Size(8, 3)
	h := newHost(t)
	for n := 1; n <= rounds; n++ {
		h.client.Prompt(fmt.Sprintf("turn %d", n))
		h.Write("file", fmt.Sprintf("%d\n", n))
		var all sync.WaitGroup
		all.Go(func() { h.client.Stop(fmt.Sprintf("did turn %d", n)) })
		for i := range 2 {
			all.Go(func() {
				h.run(nil, "git-agent-handoff", "write", "--mission", h.mission(), "--summary", fmt.Sprintf("round %d, %d", n, i))
			})
		}
		all.Wait()
	}
	list := h.handoffs()
	if len(list) != 2*rounds {
		t.Errorf("%d handoffs, want %d: %+v", len(list), 2*rounds, list)
	}
	seen := make(map[string]bool)
	for i, l := range list {
		if l.Handoff != len(list)-i || seen[l.Summary] {
			t.Errorf("handoff %d is %+v", len(list)-i, l)
		}
		seen[l.Summary] = true
	}
	turns := h.run(nil, "git-agent-turn", "list", "--mission", h.mission())
	if n := strings.Count(turns, "\n"); n != rounds {
		t.Errorf("%d turns, want %d:\n%s", n, rounds, turns)
	}
	h.check()
}

// TestKilled kills `write`, and all that it has started, at any moment. What was acknowledged is
// there, the next one works as ever, and nobody is blocked by what a dead one left.
func TestKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	kills := gittest.Size(40, 6)
	h := newHost(t)
	random := rand.New(rand.NewPCG(1, 2))
	h.client.Prompt("begin")
	h.client.Stop("begun")
	began := time.Now()
	h.run(nil, "git-agent-handoff", "write", "--mission", h.mission(), "--summary", "first")
	usual := time.Since(began)
	acknowledged := []string{"first"}
	for n, killed := 1, 0; killed < kills; n++ {
		h.Write("file", fmt.Sprintf("%d\n", n))
		summary := fmt.Sprint("handoff of ", n)
		cmd := h.command(nil, "git-agent-handoff", "write", "--mission", h.mission(), "--summary", summary)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		gittest.Must(t, cmd.Start())
		end := time.Duration(random.Int64N(int64(usual)))
		for began := time.Now(); time.Since(began) < end; {
			// At any moment, also in the middle of a system call of ours.
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		if cmd.Wait() == nil {
			acknowledged = append(acknowledged, summary)
			usual -= usual / 10
		} else {
			killed++
			usual += usual / 20
		}
		h.AgeLocks()
	}
	h.run(nil, "git-agent-handoff", "write", "--mission", h.mission(), "--summary", "last")
	list := h.handoffs()
	there := make(map[string]bool)
	for i, l := range list {
		if l.Handoff != len(list)-i || there[l.Summary] {
			t.Errorf("handoff %d is %+v", len(list)-i, l)
		}
		there[l.Summary] = true
	}
	for _, summary := range append(acknowledged, "last") {
		if !there[summary] {
			t.Errorf("%q was acknowledged, and is gone", summary)
		}
	}
	h.client.Prompt("go on")
	h.client.Stop("went on")
	if turns := h.run(nil, "git-agent-turn", "list", "--mission", h.mission()); strings.Count(turns, "\n") != 2 {
		t.Errorf("turns afterwards:\n%s", turns)
	}
	h.check()
}
