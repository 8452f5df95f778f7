//go:build unix

package main

import (
	"errors"
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

// TestRemovalKilled kills remove --all at any moment, with the git that it has started. Another one removes the rest.
func TestRemovalKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	r.Write("file", "1\n")
	r.Commit("first")
	before := everything(t, r)
	fill(t, r)
	whole := filepath.Join(t.TempDir(), "whole")
	home := filepath.Dir(r.Dir)
	run(t, r, "cp", "-a", home, whole)

	usual, killed := time.Duration(0), 0
	for round := 0; round < gittest.Size(40, 6) || killed == 0; round++ {
		cmd := exec.Command("git-agent-turn", "remove", "--all", "--yes")
		cmd.Dir, cmd.Env = r.Dir, r.Env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		began := time.Now()
		gittest.Must(t, cmd.Start())
		if round > 0 { // the first one tells how long it takes
			for after := time.Duration(rand.Int64N(int64(usual))); time.Since(began) < after; {
				// At any moment, also in the middle of a system call of ours.
			}
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		}
		switch err := cmd.Wait(); {
		case err != nil && round == 0:
			t.Fatal(err)
		case err != nil:
			killed++
		}
		usual = max(usual, time.Since(began))
		run(t, r, "git-agent-turn", "remove", "--all", "--yes")
		if after := everything(t, r); after != before {
			t.Fatalf("round %d: there was\n%s\nand is\n%s", round, before, after)
		}
		entries, err := os.ReadDir(r.Dir)
		for _, e := range entries {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.Dir, e.Name())))
		}
		gittest.Must(t, err)
		run(t, r, "cp", "-a", whole+"/.", home)
	}
}

// fill records missions: of two turns, with a branch in a worktree, and in the archive.
func fill(t *testing.T, r *gittest.Repo) {
	t.Helper()
	for _, mission := range []string{"a1a1a1a1", "b2b2b2b2", "c3c3c3c3"} {
		for _, prompt := range []string{"one", "two"} {
			r.Write("file", mission+prompt+"\n")
			run(t, r, "git-agent-turn", "record", "--mission", mission, "--prompt", prompt)
		}
	}
	r.Write("file", "1\n")
	run(t, r, "git-agent-turn", "archive", "c3c3c3c3")
	run(t, r, "git-agent-turn", "start", "--worktree", "../fork")
	run(t, r, "git-agent-turn", "init", "--remove")
	run(t, r, "git", "config", "agent.https://host.example.invalid/repo.git.push", "all")
}

// run runs a program in the repository.
func run(t *testing.T, r *gittest.Repo, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// TestRemovalOfKilledWorktree: what a git leaves that was killed while it
// removed a worktree goes with all else, and the user's worktrees stay.
func TestRemovalOfKilledWorktree(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("file", "1\n")
	r.Commit("first")
	r.Git("worktree", "add", "-q", "--detach", "../away")
	if err := os.Rename(filepath.Join(r.Dir, "../away"), filepath.Join(r.Dir, "../elsewhere")); err != nil { // as on another disk
		t.Fatal(err)
	}
	before := everything(t, r)
	fill(t, r)
	dir := filepath.Join(r.Dir, ".git", "worktrees", "left")
	gittest.Must(t, os.MkdirAll(filepath.Join(dir, "logs"), 0o777))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/x\n"), 0o666))
	run(t, r, "git-agent-turn", "remove", "--all", "--yes")
	if after := everything(t, r); after != before {
		t.Errorf("there was\n%s\nand is\n%s", before, after)
	}
}

// everything lists what is in a repository but for objects: refs, worktrees, configuration, and all files and logs.
func everything(t *testing.T, r *gittest.Repo) string {
	t.Helper()
	list := r.Git("for-each-ref") + r.Git("worktree", "list") + r.Git("config", "--local", "--list") + r.Git("status", "--porcelain")
	dir := filepath.Join(r.Dir, ".git")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, dir)
		switch {
		case err != nil || name == "/packed-refs" || name == "/index" || name == "/ORIG_HEAD":
			return err
		case name == "/objects" || name == "/hooks":
			return fs.SkipDir
		}
		list += name + "\n"
		if strings.HasPrefix(name, "/logs/") && d.Type().IsRegular() {
			log, err := os.ReadFile(path)
			list += string(log)
			return err
		}
		return err
	})
	gittest.Must(t, err)
	return list
}
