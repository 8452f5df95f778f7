//go:build unix

package kill

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// A command is one of ours, ready to be started.
type command struct {
	dir   string // "" for the agent's worktree
	args  []string
	stdin []byte
	env   []string
	stops string // the prompt of the turn that it ends, if it is a Stop hook

	status int    // that it ends with, as it tells of what waits
	typed  string // on the terminal that it has then

	// then is called after the next event, with the result; it checks what the command is for.
	then func(l *lab, done result)
}

// A result is what a process of ours has left.
type result struct {
	stdout, stderr string
	killed         bool
	status         int
	took           time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("status %d, %q, %q", r.status, r.stdout, r.stderr)
}

// A moment is when a process is killed.
type moment struct {
	group bool          // with all that it has started in its group
	file  int           // when so many files have appeared, 0 for none
	after time.Duration // so long after the start, or after the file

	seen string // which file it was
}

func (m moment) String() string {
	s := "the process alone"
	if m.group {
		s = "the group"
	}
	switch {
	case m.file == 0:
		return fmt.Sprintf("%s, %v after its start", s, m.after)
	case m.seen == "":
		return s + ", after its time"
	}
	return fmt.Sprintf("%s, %v after file %d that appeared, %s", s, m.after, m.file, m.seen)
}

// run runs a command undisturbed.
func (l *lab) run(c command) result { return l.start(c, func(int, time.Time) {}) }

// spinning is held by whoever looks for the moment, which takes a whole processor.
var spinning sync.Mutex

// kill runs a command and kills it, if it lives until then.
func (l *lab) kill(c command, m *moment) result {
	spinning.Lock()
	defer spinning.Unlock()
	known := l.known()
	return l.start(c, func(pid int, began time.Time) {
		from := began
		if m.file > 0 {
			var count int
			m.seen, count = l.await(known, m.file, began.Add(l.usual["victim"]*3/2))
			if from = time.Now(); m.seen == "" {
				l.appeared = max(count, l.appeared-1)
			}
		}
		for time.Since(from) < m.after {
			// At any moment, also in the middle of a system call of ours.
		}
		if m.group {
			pid = -pid
		}
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended; its number is its own until it is waited for
	})
}

// start starts a command, does something to it, and waits for its end. Its output goes to files,
// because what it has started may hold them open for longer.
func (l *lab) start(c command, do func(pid int, began time.Time)) result {
	l.t.Helper()
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = l.Dir, append(append([]string{}, l.env...), c.env...), bytes.NewReader(c.stdin)
	if c.dir != "" {
		cmd.Dir = c.dir
	}
	stdout, stderr := l.temp(), l.temp()
	defer stdout.Close()
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.typed != "" {
		person := terminal(l.t, c.typed)
		defer person.Close()
		cmd.Stdin, cmd.Stderr = person, person
	}
	cmd.ExtraFiles = make([]*os.File, 7) // its git may get a lock of ours as the first
	l.family.Join(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	gittest.Must(l.t, cmd.Start())
	do(cmd.Process.Pid, began)
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		l.t.Fatal(err)
	}
	r := result{took: time.Since(began), status: cmd.ProcessState.ExitCode(), killed: cmd.ProcessState.ExitCode() < 0}
	r.stdout, r.stderr = content(l.t, stdout), content(l.t, stderr)
	return r
}

func (l *lab) temp() *os.File {
	l.t.Helper()
	f, err := os.CreateTemp(l.tmp, "")
	gittest.Must(l.t, err)
	return f
}

func content(t testing.TB, f *os.File) string {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	gittest.Must(t, err)
	return string(b)
}

// await looks into the git directory in a tight loop until the n-th file has appeared that comes and
// goes, and returns it. Otherwise it returns at the deadline. count is how many there were.
func (l *lab) await(known map[string]bool, n int, deadline time.Time) (seen string, count int) {
	for time.Now().Before(deadline) {
		l.passing(func(path string) {
			if known[path] || seen != "" {
				return
			}
			known[path] = true
			if count++; count == n {
				seen = l.pattern(path)
			}
		})
		if seen != "" {
			break
		}
	}
	return seen, count
}

// known is what is there before a command is started.
func (l *lab) known() map[string]bool {
	known := make(map[string]bool)
	l.passing(func(path string) { known[path] = true })
	return known
}

// passing visits what comes and goes: locks, files that are being written, worktrees.
func (l *lab) passing(visit func(path string)) {
	for _, top := range []string{l.common, l.outside} {
		entries, err := os.ReadDir(top)
		if err != nil {
			continue // it has just gone
		}
		for _, e := range entries {
			if top == l.outside {
				visit(filepath.Join(top, e.Name()))
			} else {
				passing(filepath.Join(top, e.Name()), e.IsDir(), visit)
			}
		}
	}
	passing(filepath.Join(l.common, "objects", "pack"), true, visit)
}

func passing(path string, dir bool, visit func(path string)) {
	name := filepath.Base(path)
	if !dir {
		if strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp") || strings.HasPrefix(name, "index.new") || strings.HasSuffix(name, ".tmp") || name == "packed-refs.new" {
			visit(path)
		}
		return
	}
	switch name {
	case "objects", "logs", "hooks", "info", "branches", "locks", "sessions":
		return
	}
	if filepath.Base(filepath.Dir(path)) == "worktrees" {
		visit(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return // it has just gone
	}
	for _, e := range entries {
		passing(filepath.Join(path, e.Name()), e.IsDir(), visit)
	}
}
