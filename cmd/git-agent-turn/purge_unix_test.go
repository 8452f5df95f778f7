//go:build unix

package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
	claude "gitagent/test/replay"
)

var purgeKills = flag.Int("purgekills", 0, "how many purges each case of TestPurgeKilled kills; 0 for a few")

// A purger is a repository with missions in which secrets are said, and purged.
type purger struct {
	*host
	clients []*claude.Client
	turns   int // of each
}

func newPurger(t *testing.T) *purger {
	p := &purger{host: newHost(t)}
	linked := filepath.Join(gittest.TempDir(t), "linked")
	p.Git("worktree", "add", "-q", "-b", "agent/mission/0000000a", linked)
	attached := &host{Repo: p.In(linked), t: t, env: p.env, config: p.config, family: p.family}
	told := "" // that a file has what was purged
	p.clients = []*claude.Client{p.listening(&told), attached.listening(&told)}
	return p
}

// say records a turn with a secret in each mission.
func (p *purger) say(secret string) {
	p.turns++
	for i, c := range p.clients {
		c.Prompt("use " + secret)
		p.conf(c, fmt.Sprintf("%d: %s\n", i, secret))
		c.Stop("used")
	}
}

// conf writes a file where a client works.
func (p *purger) conf(c *claude.Client, text string) {
	if err := os.WriteFile(filepath.Join(c.Cwd, "conf"), []byte(text), 0o666); err != nil {
		p.t.Error(err)
	}
}

// has reports whether an object has the secret.
func (p *purger) has(secret string) bool {
	p.t.Helper()
	return strings.Contains(p.Git("cat-file", "--batch-all-objects", "--batch", "--unordered"), secret)
}

// whole makes sure that no turn is lost and nothing is damaged.
func (p *purger) whole() {
	p.t.Helper()
	for _, id := range []string{p.clients[0].Session[len(p.clients[0].Session)-8:], "0000000a"} {
		list := p.list("--mission", id)
		if len(list) != p.turns {
			p.t.Fatalf("mission %s has %d turns, want %d", id, len(list), p.turns)
		}
		for n, l := range list {
			if l.Turn != n+1 {
				p.t.Fatalf("mission %s: turn %d is %+v", id, n+1, l)
			}
		}
	}
	p.fsck()
}

// TestPurgeKilled kills purges at any moment, 300 times with -purgekills 150. The next call finds that nothing has
// begun, or completes what was, and nothing else is lost.
func TestPurgeKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, group := range []bool{false, true} {
		t.Run(fmt.Sprintf("group %t", group), func(t *testing.T) {
			t.Parallel()
			kills := *purgeKills
			if kills == 0 {
				kills = gittest.Size(6, 2)
			}
			p := newPurger(t)
			random := rand.New(rand.NewPCG(14, uint64(len(t.Name()))))
			v := &victim{host: p.host, group: group, random: random}
			purge := func(secret string) error {
				cmd := v.command("purge", "--fixed", "--yes")
				cmd.Stdin = strings.NewReader(secret)
				out, err := cmd.CombinedOutput()
				if strings.Contains(string(out), secret) {
					t.Fatalf("it prints the secret:\n%s", out)
				}
				if err != nil {
					return fmt.Errorf("%w\n%s", err, out)
				}
				return nil
			}
			p.say("secret-0-secret")
			began := time.Now()
			gittest.Must(t, purge("secret-0-secret"))
			usual := time.Since(began)
			killed, begun := 0, 0
			for n := 1; killed < kills; n++ {
				secret := fmt.Sprintf("secret-%d-secret", n)
				p.say(secret)
				cmd := v.command("purge", "--fixed", "--yes")
				cmd.Stdin = strings.NewReader(secret)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				gittest.Must(t, cmd.Start())
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				after, began := time.Duration(random.Int64N(int64(usual))), time.Now()
				if journal := filepath.Join(p.Dir, ".git", "agent", "purge", "journal"); random.IntN(2) == 0 { // in the middle
					for _, err := os.Lstat(journal); err != nil && len(ended) == 0; _, err = os.Lstat(journal) {
					}
					after = time.Since(began) + time.Duration(random.Int64N(int64(usual/2)))
				}
				for time.Since(began) < after {
					// At any moment, also in the middle of a system call of ours.
				}
				pid := cmd.Process.Pid
				if group {
					pid = -pid
				}
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
				dead := <-ended != nil
				p.family.Await()
				journal := filepath.Join(p.Dir, ".git", "agent", "purge", "journal")
				_, err := os.Lstat(journal)
				switch {
				case dead && err == nil:
					begun++
					if n%2 == 0 { // a turn comes in between
						p.turns++
						for _, c := range p.clients {
							heard := c.Hook
							c.Hook = func(e claude.Event) { p.hook(e.Cwd, bytes.NewReader(e.Payload()), nil) } // it tells of the purge
							c.Prompt("between")
							c.Stop("fine")
							c.Hook = heard
						}
					}
					if out, err := v.command("purge").CombinedOutput(); err != nil {
						t.Fatalf("kill %d after %v: %v\n%s", killed, after, err, out)
					}
					if p.has(secret) {
						t.Fatalf("kill %d after %v: the purge that was completed has left the secret", killed, after)
					}
				case !dead && p.has(secret):
					t.Fatal("a purge has left the secret")
				}
				if dead {
					killed++
				}
				p.whole()
				if err := purge(secret); p.has(secret) { // else it was gone
					t.Fatalf("kill %d after %v: the next purge has left the secret: %v", killed, after, err)
				}
			}
			t.Logf("%d killed, %d in the middle", killed, begun)
			p.whole()
		})
	}
}

// TestPurgeWhileRecording purges while agents work: no turn is lost, and what was purged is gone.
func TestPurgeWhileRecording(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	p := newPurger(t)
	p.say("secret-one-secret")
	rounds := gittest.Size(20, 5)
	var all sync.WaitGroup
	for _, c := range p.clients {
		all.Go(func() {
			for n := range rounds {
				c.Prompt(fmt.Sprintf("work %d", n))
				p.conf(c, fmt.Sprintf("%d\n", n))
				c.Stop("done")
			}
		})
	}
	v := &victim{host: p.host}
	for range gittest.Size(5, 2) {
		cmd := v.command("purge", "--fixed", "--yes")
		cmd.Stdin = strings.NewReader("secret-one-secret")
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("%v\n%s", err, out)
		}
	}
	all.Wait()
	p.turns += rounds
	p.whole()
	if log := p.log(); log != "" {
		t.Errorf("the log: %s", log)
	}
	cmd := v.command("purge", "--fixed", "--yes")
	cmd.Stdin = strings.NewReader("secret-one-secret")
	_ = cmd.Run() // what a turn took up again before it knew
	if p.has("secret-one-secret") {
		t.Error("the secret is there")
	}
}
