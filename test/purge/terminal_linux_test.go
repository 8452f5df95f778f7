package purge

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

	"golang.org/x/sys/unix"

	"gitagent/test/gittest"
)

// A terminal is a real one of 80 by 24 with a program in it.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	ended  chan struct{}

	mu    sync.Mutex
	more  *sync.Cond
	said  []byte
	quiet bool // nothing more is said
}

// open starts a program in a terminal of its own.
func open(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	n, e := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil && e == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	gittest.Must(t, err)
	defer slave.Close()
	s := &terminal{t: t, master: master, cmd: cmd, ended: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	gittest.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			s.mu.Lock()
			s.said = append(s.said, buf[:n]...)
			s.quiet = s.quiet || err != nil
			s.more.Broadcast()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { _ = cmd.Wait(); close(s.ended) }()
	return s
}

// await waits until the program has said something, and returns all that it has said.
func (s *terminal) await(text string) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !bytes.Contains(s.said, []byte(text)) {
		if s.quiet {
			s.t.Fatalf("it ended without %q:\n%s", text, s.said)
		}
		s.more.Wait()
	}
	return string(s.said)
}

// end waits for the end, and returns the exit status and all that was said.
func (s *terminal) end() (status int, said string) {
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.quiet {
		s.more.Wait()
	}
	return s.cmd.ProcessState.ExitCode(), string(s.said)
}

func (s *terminal) types(text string) {
	s.t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// echoes reports whether the terminal shows what is typed.
func (s *terminal) echoes() bool {
	s.t.Helper()
	state, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	gittest.Must(s.t, err)
	return state.Lflag&unix.ECHO != 0
}

// asking is a small world, in which a commit of the user's own sits on a turn with the secret.
func asking(t *testing.T) *world {
	t.Helper()
	w := newEmpty(t)
	w.Git("switch", "-q", "-c", "agent/mission/"+whole)
	c := w.client(w.Dir, whole)
	c.Prompt("use " + secret)
	w.Write("conf", "key = \""+secret+"\"\n")
	c.Stop("used")
	w.Write("mine", "mine\n")
	w.Git("add", "mine")
	w.Git("commit", "-q", "-m", "my own")
	return w
}

// files are all files of a world, with what is in them.
func (w *world) files() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(w.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if name, _ := filepath.Rel(w.Dir, path); !strings.HasPrefix(name, ".git/agent/locks/") { // locks are files that stay
			all[name] = string(data)
		}
		return err
	})
	gittest.Must(w.t, err)
	return all
}

// TestQuestions: what is to be purged is typed and not shown. Whoever says no, or presses Ctrl-C, has changed nothing.
func TestQuestions(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const ctrlC = "\x03"
	for _, tt := range []struct {
		name    string
		answers []string // to the hidden question, whether to rewrite, and whether to purge
		status  int
		end     string
	}{
		{"no", []string{secret + "\n", "n\n", "n\n"}, 1, "nothing was changed"},
		{"yes and no", []string{secret + "\n", "yes\n", "n\n"}, 1, "nothing was changed"},
		{"a paste of several lines", []string{secret + "\nyes\n" + secret + "\n" + secret}, 1, "several lines"},
		{"nothing typed", []string{"\n"}, 2, "too short"},
		{"end of input", []string{secret + "\n", "n\n", "\x04"}, 1, "nothing was changed"},
		{"Ctrl-C at the hidden one", []string{secret[:8] + ctrlC}, 1, "interrupted"},
		{"Ctrl-C at the first", []string{secret + "\n", ctrlC}, 1, "interrupted"},
		{"Ctrl-C at the second", []string{secret + "\n", "n\n", ctrlC}, 1, "interrupted"},
		{"Ctrl-C at the second after yes", []string{secret + "\n", "y\n", ctrlC}, 1, "interrupted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := asking(t)
			before := w.files()
			cmd := exec.Command("git-agent-turn", "purge", "--fixed", "--common") // it stays in HEAD
			cmd.Dir, cmd.Env = w.Dir, append(w.Env, "TERM=xterm")
			s := open(t, cmd)
			for i, answer := range tt.answers {
				s.await([]string{"not shown", "of yours as well", "can't be undone"}[i])
				if i > 0 {
					s.await("[yes/no] ")
				}
				for i == 0 && s.echoes() {
					// the question comes first
				}
				s.types(answer)
			}
			status, said := s.end()
			if status != tt.status || !strings.Contains(said, tt.end) || strings.Contains(said, secret[:7]) {
				t.Errorf("exit status %d, want %d and %q, and not what was typed\n%s", status, tt.status, tt.end, said)
			}
			if !s.echoes() {
				t.Error("the terminal does not show what is typed")
			}
			for line := range strings.Lines(said) {
				if n := len([]rune(strings.TrimRight(line, "\r\n"))); n > 80 && !strings.Contains(line, w.home) { // a path is kept whole
					t.Errorf("%d columns: %s", n, line)
				}
			}
			after := w.files()
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s has changed", name)
				}
				delete(after, name)
			}
			for name := range after {
				t.Errorf("%s is new", name)
			}
		})
	}
}

// tellingGit returns a PATH whose git writes its command line and its environment to a file in dir, and becomes git.
func tellingGit(t *testing.T, home, dir string) string {
	t.Helper()
	git, err := exec.LookPath("git")
	gittest.Must(t, err)
	bin := filepath.Join(home, "telling")
	gittest.Must(t, os.MkdirAll(bin, 0o777))
	gittest.Must(t, os.MkdirAll(dir, 0o777))
	script := fmt.Sprintf("#!/bin/sh\ncat /proc/$$/cmdline /proc/$$/environ >'%s/'$$ && exec '%s' \"$@\"\n", dir, git)
	gittest.Must(t, os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o777))
	return bin + string(os.PathListSeparator) + os.Getenv("PATH")
}

// TestUnseen: while a secret is purged, it is in no command line and no environment of any process, in nothing that git
// traces, and not in our log.
func TestUnseen(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	w := asking(t)
	traces := filepath.Join(w.home, "traces")
	gittest.Must(t, os.MkdirAll(filepath.Join(traces, "events"), 0o777))
	path := tellingGit(t, w.home, filepath.Join(traces, "starts"))
	cmd := exec.Command("git-agent-turn", "purge", "--fixed", "--common") // it stays in HEAD
	cmd.Dir = w.Dir
	cmd.Env = append(w.Env, "TERM=xterm", "GIT_TRACE="+filepath.Join(traces, "trace"), "GIT_TRACE_SETUP="+filepath.Join(traces, "setup"),
		"GIT_TRACE2="+filepath.Join(traces, "normal"), "GIT_TRACE2_EVENT="+filepath.Join(traces, "events"), "GIT_TRACE2_ENV_VARS=PATH,GIT_DIR", "PATH="+path)
	s := open(t, cmd)
	s.await("not shown")
	for s.echoes() {
		// the question comes first
	}
	look := func() {
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			stat, err := os.ReadFile(filepath.Join(dir, "stat"))
			_, rest, _ := bytes.Cut(stat, []byte(") "))
			fields := bytes.Fields(rest)
			if err != nil || len(fields) < 4 || string(fields[3]) != fmt.Sprint(cmd.Process.Pid) { // its session
				continue
			}
			for _, file := range []string{"cmdline", "environ"} {
				text, _ := os.ReadFile(filepath.Join(dir, file))
				if says(text) {
					t.Errorf("%s of a process says it: %q", file, text)
				}
			}
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			look()
			select {
			case <-s.ended:
				return
			default:
			}
		}
	}()
	s.types(secret + "\n")
	s.await("of yours as well")
	s.types("yes\n")
	s.await("can't be undone")
	s.types("yes\n")
	status, said := s.end()
	<-done
	if status != 0 || strings.Contains(said, secret) || !strings.Contains(said, "it is in none") {
		t.Errorf("exit status %d\n%s", status, said)
	}
	if got, _ := filepath.Glob(filepath.Join(traces, "starts", "*")); len(got) < 10 {
		t.Errorf("%d starts of git were seen", len(got))
	}
	if got := sayingFiles(t, traces); len(got) > 0 {
		t.Errorf("the traces %q say it", got)
	}
	if got, _ := filepath.Glob(filepath.Join(traces, "events", "*")); len(got) < 10 {
		t.Errorf("there are %d traces of events", len(got))
	}
	if got := sayingFiles(t, filepath.Join(w.Dir, ".git")); len(got) > 0 {
		t.Errorf("the files %q say it", got)
	}
}
