package main

import (
	"bytes"
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

	largeTwins *twins // made when first asked for
	sessions   int    // how many there were
}

func newLab(ctx context.Context, n int) (*lab, error) {
	if err := adoptOrphans(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "git-agent-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "home")
	l := &lab{ctx: ctx, dir: dir, program: filepath.Join(dir, "bin", "git-agent-turn"), n: n}
	for _, name := range []string{"PATH", "TMPDIR", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			l.env = append(l.env, name+"="+v)
		}
	}
	l.env = append(l.env, "HOME="+home, "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "GIT_CONFIG_NOSYSTEM=1")
	identity := "[user]\n\tname = Dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n"
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(identity), 0o600); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if _, err := l.build("git-agent-turn"); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// build builds a program as the Makefile does; see there for the tag. One that is linked against
// libc starts 0.5 ms later.
func (l *lab) build(name string) (string, error) {
	path := filepath.Join(filepath.Dir(l.program), name)
	cmd := exec.CommandContext(l.ctx, "go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-o", path, "gitagent/cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // the developer's own, for the build cache
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return path, nil
}

func (l *lab) close() error { return os.RemoveAll(l.dir) }

// times is how often to measure something for which usual suits.
func (l *lab) times(usual int) int {
	if l.n > 0 {
		return l.n
	}
	return usual
}

// git runs git for its effect, unmeasured, and returns its output without the last newline.
func (l *lab) git(dir string, args ...string) (string, error) {
	return l.feed(dir, nil, "git", args...)
}

// feed runs a program, unmeasured, with standard input.
func (l *lab) feed(dir string, stdin []byte, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(l.ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, l.env, bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// A sample is what one process took.
type sample struct{ wall, cpu time.Duration }

// measure runs a program that has to succeed without a word.
// stdin has to fit into a pipe, so that nobody has to feed it.
func (l *lab) measure(dir string, env []string, stdin []byte, program string, args ...string) (sample, error) {
	out, s, err := l.timed(dir, env, stdin, program, args...)
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("%s %s: it printed %q", filepath.Base(program), strings.Join(args, " "), out)
	}
	return s, err
}

// timed is measure for a program that prints something.
func (l *lab) timed(dir string, env []string, stdin []byte, program string, args ...string) ([]byte, sample, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, sample{}, err
	}
	defer r.Close()
	_, err = w.Write(stdin)
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, sample{}, err
	}
	cmd := exec.CommandContext(l.ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(l.env[:len(l.env):len(l.env)], env...), r
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	s := sample{wall: time.Since(began)}
	if err != nil {
		return nil, s, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out.Bytes())
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return out.Bytes(), s, nil
}
