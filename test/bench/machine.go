package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// machine measures what is below everything else, so that figures of different machines can be
// compared.
func machine(l *lab) error {
	empty := filepath.Join(l.dir, "bin", "empty")
	if err := os.WriteFile(empty+".go", []byte("package main\n\nfunc main() {}\n"), 0o666); err != nil {
		return err
	}
	if out, err := exec.CommandContext(l.ctx, "go", "build", "-o", empty, empty+".go").CombinedOutput(); err != nil {
		return fmt.Errorf("build an empty program: %w\n%s", err, out)
	}
	heading()
	n := l.times(100)
	for _, c := range []struct {
		name string
		argv []string
	}{
		{"an empty Go program", []string{empty}},
		{"git --version", []string{"git", "--version"}},
		{"sh -c :", []string{"sh", "-c", ":"}},
		{"git agent-turn's start (hook, disabled)", []string{l.program, "hook"}},
	} {
		var s series
		for range n {
			_, x, err := l.timed(l.dir, []string{"GIT_AGENT_DISABLE=1"}, nil, c.argv[0], c.argv[1:]...)
			if err != nil {
				return err
			}
			s = append(s, x)
		}
		alone(c.name, s, "")
	}
	return files(l, n)
}

// files measures how long it takes to make a file.
func files(l *lab, n int) error {
	dir := filepath.Join(l.dir, "files")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	var made, renamed series
	content := make([]byte, 1<<10)
	for i := range n {
		name := filepath.Join(dir, fmt.Sprint(i))
		began := time.Now()
		if err := os.WriteFile(name, content, 0o666); err != nil {
			return err
		}
		made = append(made, sample{wall: time.Since(began)})
		began = time.Now()
		if err := os.Rename(name, name+".renamed"); err != nil {
			return err
		}
		renamed = append(renamed, sample{wall: time.Since(began)})
	}
	alone("a file of 1 KB", made, "")
	alone("a rename", renamed, "")
	return os.RemoveAll(dir)
}
