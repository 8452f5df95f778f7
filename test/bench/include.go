package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Dependencies are what a checkout has beside its tree, named in its .worktreeinclude.
type dependencies struct {
	files int
	bytes int64 // altogether
}

// Those that forks are measured with.
var (
	heavy = dependencies{files: 3000, bytes: 300 << 20}
	many  = dependencies{files: 50_000, bytes: 200 << 20}
)

// included makes forks of a repository of 5,000 files that copy ignored files, and ones that don't. Whether the
// copies share blocks, the disk says: what it has less afterwards.
func included(l *lab) {
	program := l.now().program("git-agent-fork")
	r := l.newRepository("include", 5000)
	r.enable()
	s := r.newSession()
	s.turn()
	heading()
	s.plain(program)
	check(os.WriteFile(filepath.Join(r.dir, ".worktreeinclude"), []byte("node_modules/\n"), 0o666))
	for _, d := range []dependencies{heavy, many} {
		d.make(filepath.Join(r.dir, "node_modules"))
		for _, times := range []int{1, 8} {
			s.including(program, d, times)
		}
		check(os.RemoveAll(filepath.Join(r.dir, "node_modules")))
	}
}

// plain measures forks without ignored files, one and eight.
func (s *session) plain(program string) {
	for _, times := range []int{1, 8} {
		var all series
		for range s.repo.times(3) {
			all = append(all, s.forks(program, times))
			s.dropForks()
		}
		alone(fmt.Sprintf("--times %d, 5,000 files", times), all, "")
	}
}

// including measures forks that get dependencies.
func (s *session) including(program string, d dependencies, times int) {
	var all series
	var used int64
	for range s.repo.times(3) {
		before := free(s.repo.dir)
		all = append(all, s.forks(program, times))
		used = before - free(s.repo.dir)
		s.dropForks()
	}
	alone(fmt.Sprintf("--times %d, and %d ignored files, %d MB", times, d.files, d.bytes>>20), all, "")
	fmt.Printf("    the disk has %d MB less, for %d MB\n", used>>20, int64(times)*d.bytes>>20)
}

// forks makes some forks of the last turn.
func (s *session) forks(program string, times int) sample {
	_, x := s.repo.timed(s.repo.dir, nil, nil, program, "--print", "--no-conversation", "--times", fmt.Sprint(times), string(s.mission)+"/1")
	return x
}

// dropForks removes all worktrees but the first.
func (s *session) dropForks() {
	list, _ := filepath.Glob(s.repo.dir + "-*")
	if len(list) == 0 {
		check(errors.New("there is no fork"))
	}
	for _, dir := range list {
		s.repo.git("worktree", "remove", "--force", dir)
	}
	flush() // else the next one pays for it
}

// make makes the files, a hundred in each directory.
func (d dependencies) make(dir string) {
	content := make([]byte, d.bytes/int64(d.files))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range d.files {
		for at := range content {
			content[at] = byte(random.Uint32())
		}
		if i%100 == 0 {
			check(os.MkdirAll(filepath.Join(dir, fmt.Sprint("package", i/100)), 0o777))
		}
		check(os.WriteFile(filepath.Join(dir, fmt.Sprint("package", i/100), fmt.Sprintf("file%d.js", i)), content, 0o666))
	}
	flush()
}
