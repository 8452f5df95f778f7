package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// machine measures what is below everything else, so that figures of different machines can be
// compared.
func machine(l *lab) {
	source := filepath.Join(l.dir, "empty.go")
	check(os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o666))
	empty := l.build("empty", source)
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
			_, x := l.timed(l.dir, []string{"GIT_AGENT_DISABLE=1"}, nil, c.argv[0], c.argv[1:]...)
			s = append(s, x)
		}
		alone(c.name, s, "")
	}
	files(l, n)
}

// files measures how long it takes to make a file.
func files(l *lab, n int) {
	dir := filepath.Join(l.dir, "files")
	check(os.Mkdir(dir, 0o777))
	var made, renamed series
	content := make([]byte, 1<<10)
	for i := range n {
		name := filepath.Join(dir, fmt.Sprint(i))
		began := time.Now()
		check(os.WriteFile(name, content, 0o666))
		made = append(made, sample{wall: time.Since(began)})
		began = time.Now()
		check(os.Rename(name, name+".renamed"))
		renamed = append(renamed, sample{wall: time.Since(began)})
	}
	alone("a file of 1 KB", made, "")
	alone("a rename", renamed, "")
	check(os.RemoveAll(dir))
}
