//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// A bisected is a mission of 9 turns, of which the sixth breaks a file, and a user's own work beside it.
type bisected struct {
	*host
	mission string
	tmp     string // for temporary files
	before  string // what nobody may change
}

func newBisected(t *testing.T) *bisected {
	t.Helper()
	b := &bisected{host: newHost(t), tmp: gittest.TempDir(t)}
	b.env = append(b.env, "TMPDIR="+b.tmp)
	c := b.client()
	b.mission = c.Session[len(c.Session)-8:]
	for n := 1; n <= 9; n++ {
		c.Prompt(fmt.Sprint("do ", n))
		b.Write("number", fmt.Sprintln(n))
		for i := range 20 {
			b.Write(fmt.Sprintf("files/%d", i), fmt.Sprintf("%d in turn %d\n", i, n))
		}
		if n == 6 {
			b.Write("broken", "")
		}
		c.Stop("done")
	}
	// The user bisects himself, and has changed things.
	first := b.Git("rev-parse", "HEAD")
	b.Git("commit", "-q", "--allow-empty", "-m", "second")
	b.Git("commit", "-q", "--allow-empty", "-m", "third")
	b.Git("bisect", "start", "HEAD", first)
	b.Write("kept.txt", "changed\n")
	b.Write("staged", "x\n")
	b.Git("add", "staged")
	b.family.Await()
	b.before = b.everything()
	return b
}

// everything is what a bisection must not change: the worktree and the git directory, but for objects and, as they are
// in reftables, those of its refs that are gone again.
func (b *bisected) everything() string {
	b.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(b.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == filepath.Join(b.Dir, ".git", "objects") || path == filepath.Join(b.Dir, ".git", "reftable") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		fmt.Fprintf(&all, "%s %s", path, d.Type())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			fmt.Fprintf(&all, " %q\n", data)
			return err
		}
		all.WriteByte('\n')
		return nil
	})
	gittest.Must(b.t, err)
	return all.String() + b.Git("for-each-ref")
}

// clean fails the test if something is left, or has changed.
func (b *bisected) clean(when string) {
	b.t.Helper()
	if entries, err := os.ReadDir(b.tmp); err != nil || len(entries) > 0 {
		b.t.Fatalf("%s: left in the directory for temporary files: %v %v", when, entries, err)
	}
	if after := b.everything(); after != b.before {
		lines := strings.Split(b.before, "\n")
		for line := range strings.Lines(after) {
			if !strings.Contains(b.before, line) {
				b.t.Errorf("%s: there is %.300s", when, line)
			}
		}
		for _, line := range lines {
			if !strings.Contains(after, line) {
				b.t.Errorf("%s: there was %.300s", when, line)
			}
		}
		b.t.FailNow()
	}
}

// command is a bisection with a command for the shell.
func (b *bisected) command(script string) *exec.Cmd {
	cmd := exec.Command("git-agent-turn", "bisect", "--good", b.mission+"/1", "--bad", b.mission+"/9", "--", "sh", "-c", script)
	cmd.Dir, cmd.Env = b.Dir, b.env
	b.family.Join(cmd)
	return cmd
}

// TestBisectInterrupted ends a bisection by each signal in each step. The command and all that it has
// started are gone, nothing is left, and the exit status says which signal it was.
func TestBisectInterrupted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			b := newBisected(t)
			for step := 1; ; step++ {
				dir := gittest.TempDir(t)
				ready := filepath.Join(dir, "ready")
				gittest.Must(t, syscall.Mkfifo(ready, 0o600))
				news, err := os.OpenFile(ready, os.O_RDWR, 0) // before anybody writes
				gittest.Must(t, err)
				defer news.Close()
				cmd := b.command(fmt.Sprintf(`echo . >>%[1]s/steps; test $(wc -l <%[1]s/steps) -lt %[2]d || { touch dirt; echo ready >%[3]s; sleep 1000; }; test ! -e broken`, dir, step, ready))
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				gittest.Must(t, cmd.Start())
				ended := make(chan error, 1)
				go func() {
					ended <- cmd.Wait()
					_, _ = news.WriteString("ended\n") // perhaps before that step
				}()
				text, err := bufio.NewReader(news).ReadString('\n')
				gittest.Must(t, err)
				if text == "ended\n" {
					if err := <-ended; err != nil || step < 5 {
						t.Fatalf("it has ended before step %d: %v\n%s", step, err, out.Bytes())
					}
					break
				}
				// Dash loses a SIGINT in the moment in which it starts a command, as when it is typed. Who
				// waits in vain sends it again.
				for over := false; !over; {
					if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
						t.Fatal(err)
					}
					select {
					case <-ended:
						over = true
					case <-time.After(5 * time.Second):
					}
				}
				b.family.Await()
				if got, want := cmd.ProcessState.ExitCode(), 128+int(sig); got != want {
					t.Errorf("step %d: exit status %d, want %d:\n%s", step, got, want, out.Bytes())
				}
				b.clean(fmt.Sprint("step ", step))
			}
			b.clean("in the end")
			b.fsck()
		})
	}
}

// TestBisectKilled sends signals at any moment. Those that can be caught leave nothing; what a SIGKILL
// leaves, the next bisection removes, and finds the turn as ever.
func TestBisectKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, group := range []bool{false, true} {
		t.Run(fmt.Sprintf("group %t", group), func(t *testing.T) {
			t.Parallel()
			b := newBisected(t)
			random := rand.New(rand.NewPCG(11, uint64(len(t.Name()))))
			run := func() {
				t.Helper()
				out, err := b.command("test ! -e broken").CombinedOutput()
				if err != nil || !bytes.Contains(out, []byte("\nturn "+b.mission+"/6\n")) {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			began := time.Now()
			run()
			usual := time.Since(began)
			b.clean("undisturbed")
			hit := make(map[syscall.Signal]int)
			for range gittest.Size(24, 12) {
				sig := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[random.IntN(5)]
				cmd := b.command("test ! -e broken")
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				said, err := os.Create(filepath.Join(t.TempDir(), "said"))
				gittest.Must(t, err)
				cmd.Stderr = said // a file, as a pipe would be waited for
				gittest.Must(t, cmd.Start())
				said.Close()
				wait := time.Duration(random.Int64N(int64(usual)))
				for began := time.Now(); time.Since(began) < wait; {
					// At any moment, also in the middle of a system call of ours.
				}
				pid := cmd.Process.Pid
				if group {
					pid = -pid
				}
				_ = syscall.Kill(pid, sig) // it may have ended
				err = cmd.Wait()
				b.family.Await()
				b.released()
				if err != nil {
					hit[sig]++
				}
				when := fmt.Sprintf("%v after %v", sig, wait)
				status := cmd.ProcessState.Sys().(syscall.WaitStatus)
				switch {
				case err == nil, status.Signaled() && status.Signal() == sig: // it had not begun, or could not help it
				case crashedAtStart(t, said.Name()):
				case cmd.ProcessState.ExitCode() != 128+int(sig) && cmd.ProcessState.ExitCode() != 1:
					t.Errorf("%s: exit status %d", when, cmd.ProcessState.ExitCode())
				}
				if sig == syscall.SIGKILL {
					run()
				}
				b.clean(when)
			}
			t.Logf("ended by signals: %v", hit)
			b.fsck()
		})
	}
}

// crashedAtStart reports whether Go's runtime is what ended a process, by what that wrote to a file. In its
// first milliseconds it may not survive a signal, 3 times in 1,000: with the race detector it crashes in that,
// and without it in its own handler.
func crashedAtStart(t *testing.T, file string) bool {
	t.Helper()
	said, err := os.ReadFile(file)
	gittest.Must(t, err)
	return bytes.HasPrefix(said, []byte("SIGSEGV: segmentation violation\nPC=")) || bytes.HasPrefix(said, []byte("fatal: morestack on gsignal\n"))
}

// released returns when no git of a bisection runs any more that holds the lock of one that was killed.
func (b *bisected) released() {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.Dir, ".git", "agent", "bisect", "*"))
	gittest.Must(b.t, err)
	for _, file := range files {
		f, err := os.Open(file)
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
			f.Close()
		}
		gittest.Must(b.t, err)
	}
}

// TestBisectAtOnce runs several bisections at once, one of them in another worktree.
func TestBisectAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	b := newBisected(t)
	errs := make(chan error)
	n := gittest.Size(8, 4)
	for i := range n {
		go func() {
			cmd := b.command("touch mine-" + strconv.Itoa(i) + "; test $(ls mine-* | wc -l) = 1 || exit 126; test ! -e broken")
			out, err := cmd.CombinedOutput()
			if err == nil && !bytes.Contains(out, []byte("\nturn "+b.mission+"/6\n")) {
				err = fmt.Errorf("it says:\n%s", out)
			} else if err != nil {
				err = fmt.Errorf("%w\n%s", err, out)
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	b.family.Await()
	b.clean("in the end")
}
