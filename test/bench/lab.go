package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A lab is a temporary directory with the program in it, and a home directory of its own.
type lab struct {
	ctx     context.Context // ends when the user interrupts the benchmark
	dir     string
	program string   // git-agent-turn
	env     []string // of everything that is run; nothing of the developer's configuration is in it
	n       int      // how often to measure, 0 for what suits the case

	before   build // of an older version, or ""
	missions int   // how many there are where there are many

	largeTwins *twins // made when first asked for
	sessions   int    // how many there were
}

// furnish makes the directory.
func (l *lab) furnish() {
	adoptOrphans()
	l.dir = must(os.MkdirTemp("", "git-agent-bench-"))
	l.dir = must(filepath.EvalSymlinks(l.dir))
	home := filepath.Join(l.dir, "home")
	for _, name := range []string{"PATH", "TMPDIR", "SYSTEMROOT", "GIT_DEFAULT_HASH"} {
		if v, ok := os.LookupEnv(name); ok {
			l.env = append(l.env, name+"="+v)
		}
	}
	l.env = append(l.env, "HOME="+home, "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "GIT_CONFIG_NOSYSTEM=1")
	identity := "[user]\n\tname = Dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n"
	check(os.Mkdir(home, 0o700))
	check(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(identity), 0o600))
	names := []string{"git-agent-turn", "git-agent-handoff", "git-agent-fork"}
	for _, name := range names {
		l.build(name, "gitagent/cmd/"+name)
	}
	l.program = l.now().program("git-agent-turn")
	if l.before != "" {
		before := build(filepath.Join(l.dir, "before"))
		check(os.Mkdir(string(before), 0o700))
		for _, name := range names {
			l.feed(l.dir, nil, "cp", l.before.program(name), before.program(name))
		}
		l.before = before
	}
}

// keys is the directory with the user's keys, which init makes.
func (l *lab) keys() string { return filepath.Join(l.dir, "home", ".config", "git-agent") }

// clean removes the directory.
func (l *lab) clean() error { return os.RemoveAll(l.dir) }

// build builds a program as the Makefile does; see there for the tag. One that is linked against
// libc starts 0.5 ms later. It is copied, as an installed one is: what the linker has written lies in the
// page cache so that its start takes up to 40 % more, for the same bytes.
func (l *lab) build(name, source string) string {
	linked, path := filepath.Join(l.dir, "linked", name), filepath.Join(l.dir, "bin", name)
	cmd := exec.CommandContext(l.ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", "urfave_cli_no_docs", "-o", linked, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // the developer's own, for the build cache
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		check(fmt.Errorf("build %s: %w", name, err))
	}
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	l.feed(l.dir, nil, "cp", linked, path)
	return path
}

// times is how often to measure something for which usual suits.
func (l *lab) times(usual int) int { return cmp.Or(l.n, usual) }

// git runs git for its effect, unmeasured, and returns its output without the last newline.
func (l *lab) git(dir string, args ...string) string { return l.feed(dir, nil, "git", args...) }

// feed runs a program, unmeasured, with standard input.
func (l *lab) feed(dir string, stdin []byte, program string, args ...string) string {
	cmd := exec.CommandContext(l.ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, l.env, bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		check(fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, stderr.Bytes()))
	}
	return strings.TrimSuffix(stdout.String(), "\n")
}

// A sample is what one process took.
type sample struct {
	wall, cpu time.Duration
	peak      int64 // bytes of memory, if it was watched: the process's own and its children's
}

// measure runs a program that has to succeed without a word. stdin has to fit into a pipe, so that
// nobody has to feed it.
func (l *lab) measure(dir string, env []string, stdin []byte, program string, args ...string) sample {
	out, s := l.timed(dir, env, stdin, program, args...)
	if len(out) > 0 {
		check(fmt.Errorf("%s %s: it printed %q", filepath.Base(program), strings.Join(args, " "), out))
	}
	return s
}

// timed is measure for a program that prints something.
func (l *lab) timed(dir string, env []string, stdin []byte, program string, args ...string) ([]byte, sample) {
	return l.watched(false, dir, env, stdin, program, args...)
}

// watched is timed, with memory or without.
func (l *lab) watched(memory bool, dir string, env []string, stdin []byte, program string, args ...string) ([]byte, sample) {
	r, w, err := os.Pipe()
	check(err)
	defer r.Close()
	_, err = w.Write(stdin)
	check(errors.Join(err, w.Close()))
	cmd := exec.CommandContext(l.ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(l.env[:len(l.env):len(l.env)], env...), r
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	var wall time.Duration
	var peak int64
	if err = cmd.Start(); err == nil {
		watch := func() (own, children int64) { return 0, 0 }
		if memory {
			watch = watchMemory(cmd.Process.Pid)
		}
		err = cmd.Wait()
		wall = time.Since(began)
		own, children := watch()
		peak = own + children
	}
	if err != nil {
		check(fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out.Bytes()))
	}
	return out.Bytes(), sample{peak: peak, wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
}

// try runs git, unmeasured; it may fail.
func (l *lab) try(dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(l.ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, l.env
	out, err := cmd.Output()
	return strings.TrimSuffix(string(out), "\n"), err
}
