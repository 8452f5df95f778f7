package main

import (
	"errors"
	"fmt"
	"os"
)

// forkedConversation is the size in bytes of the conversation that a fork takes along.
const forkedConversation = 5 << 20

// fork makes forks of the last turn, in turn with `git worktree add` alone, in a small and in a
// large repository. Every worktree is removed again before the next is made.
func fork(l *lab) {
	program := l.now().program("git-agent-fork")
	heading()
	l.longSession("fork", forkedConversation).fork(program, "fork, 100 files, 5 MB of conversation", l.times(20), "2.00")
	l.large().hook.newSession().fork(program, "fork, 50,000 files", l.times(5), "+100 ms")
}

func (s *session) fork(program, name string, n int, target string) {
	s.turn()
	var forks, adds series
	dir := s.repo.dir + "-fork"
	for i := range n {
		_, x := s.repo.timed(s.repo.dir, nil, nil, program, "--print", "--worktree", dir, string(s.mission)+"/latest")
		forks = append(forks, x)
		s.drop(dir)
		_, x = s.repo.timed(s.repo.dir, nil, nil, "git", "worktree", "add", "-q", "-b", fmt.Sprintf("plain/%08x", i), dir, "HEAD")
		adds = append(adds, x)
		s.drop(dir)
	}
	if s.repo.feed(s.repo.dir, nil, s.repo.program, "missions", "--json") == "" {
		check(errors.New("no fork is in the list of missions"))
	}
	compare(name, forks, adds, target)
}

// drop removes a worktree, and looks first whether it is a whole one.
func (s *session) drop(dir string) {
	if len(must(os.ReadDir(dir))) < 2 {
		check(fmt.Errorf("%s is empty", dir))
	}
	s.repo.git("worktree", "remove", "--force", dir)
}
