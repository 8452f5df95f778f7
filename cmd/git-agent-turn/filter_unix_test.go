//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// filter rewrites every commit of the repository, as git filter-repo would with another name for a file, and deletes what
// was there before.
func (p *purger) filter(n int) {
	p.t.Helper()
	p.Git("filter-repo", "--quiet", "--force", "--path-rename", fmt.Sprintf("kept%d.txt:kept%d.txt", n-1, n))
}

func newFiltered(t *testing.T) *purger {
	t.Helper()
	gittest.Check(t)
	if gittest.Format() == "sha256" {
		t.Skip("git filter-repo knows SHA-1 only")
	}
	if _, err := exec.LookPath("git-filter-repo"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git-filter-repo is missing")
		}
		t.Skip("git-filter-repo is missing")
	}
	p := newPurger(t)
	p.Git("mv", "kept.txt", "kept0.txt")
	p.Commit("renamed")
	return p
}

// ours makes sure that all that is recorded is this clone's, and names commits that are here.
func (p *purger) ours() {
	p.t.Helper()
	p.whole()
	cmd := exec.Command("git", "agent-turn", "list", "--all", "--json")
	cmd.Dir, cmd.Env = p.Dir, p.env
	out, err := cmd.Output()
	gittest.Must(p.t, err)
	for text := range strings.Lines(string(out)) {
		var is struct{ By, Code, Base string }
		if err := json.Unmarshal([]byte(text), &is); err != nil || is.By != "this clone" {
			p.t.Errorf("by %q: %v\n%s", is.By, err, text)
		}
		p.Git("cat-file", "-e", is.Code+"^{tree}")
		p.Git("cat-file", "-e", is.Base+"^{tree}")
	}
}

// TestFilterKilled kills what follows a filter at any moment. The next command follows it.
func TestFilterKilled(t *testing.T) {
	t.Parallel()
	p := newFiltered(t)
	random := rand.New(rand.NewPCG(31, 1))
	v := &victim{host: p.host}
	var usual time.Duration
	for n := range gittest.Size(40, 3) {
		p.say(fmt.Sprint("word ", n))
		p.filter(n + 1)
		cmd := v.command("list", "--all")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		began := time.Now()
		gittest.Must(t, cmd.Start())
		if n == 0 {
			gittest.Must(t, cmd.Wait())
			usual = time.Since(began)
			continue
		}
		for after := time.Duration(random.Int64N(int64(usual))); time.Since(began) < after; {
			// At any moment, also in the middle of a system call of ours.
		}
		pid := cmd.Process.Pid
		if n%2 == 0 {
			pid = -pid
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
		p.family.Await()
		if out, err := v.command("list", "--all").CombinedOutput(); err != nil {
			t.Fatalf("after a kill: %v\n%s", err, out)
		}
		p.ours()
	}
}

// TestFilterAtOnce has several processes find a filter at the same time, and record.
func TestFilterAtOnce(t *testing.T) {
	t.Parallel()
	p := newFiltered(t)
	p.say("first")
	v := &victim{host: p.host}
	for n := range gittest.Size(10, 3) {
		p.filter(n + 1)
		if out, err := v.command("list").CombinedOutput(); n == 0 && (err != nil || !strings.Contains(string(out), "history was filtered")) {
			t.Fatalf("it says %q, %v", out, err)
		}
		p.filter(n + 1) // once more, with nothing to do but to say so
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if out, err := v.command("list", "--all").CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
		all.Wait()
		p.say(fmt.Sprint("word ", n))
		p.ours()
	}
}
