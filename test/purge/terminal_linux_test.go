package purge

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

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
			s := gittest.OnTerminal(t, cmd)
			for i, answer := range tt.answers {
				s.Await([]string{"not shown", "of yours as well", "can't be undone"}[i])
				if i > 0 {
					s.Await("[yes/no] ")
				}
				for i == 0 && s.Echoes() {
					// the question comes first
				}
				s.Types(answer)
			}
			status, said := s.End()
			if status != tt.status || !strings.Contains(said, tt.end) || strings.Contains(said, secret[:7]) {
				t.Errorf("exit status %d, want %d and %q, and not what was typed\n%s", status, tt.status, tt.end, said)
			}
			if !s.Echoes() {
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
	s := gittest.OnTerminal(t, cmd)
	s.Await("not shown")
	for s.Echoes() {
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
			case <-s.Ended:
				return
			default:
			}
		}
	}()
	s.Types(secret + "\n")
	s.Await("of yours as well")
	s.Types("yes\n")
	s.Await("can't be undone")
	s.Types("yes\n")
	status, said := s.End()
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
