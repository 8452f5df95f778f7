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
func fork(l *lab) error {
	program, err := l.build("git-agent-fork")
	if err != nil {
		return err
	}
	heading()
	small, err := l.longSession("fork", forkedConversation)
	if err != nil {
		return err
	}
	if err := small.fork(program, "fork, 100 files, 5 MB of conversation", l.times(20), "2.00"); err != nil {
		return err
	}
	t, err := l.large()
	if err != nil {
		return err
	}
	large, err := t.hook.newSession()
	if err != nil {
		return err
	}
	return large.fork(program, "fork, 50,000 files", l.times(5), "+100 ms")
}

func (s *session) fork(program, name string, n int, target string) error {
	if _, err := s.prompt(); err != nil {
		return err
	}
	if err := s.repo.change(); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	if _, err := s.stop(); err != nil {
		return err
	}
	var forks, adds series
	dir := s.repo.dir + "-fork"
	for i := range n {
		id := fmt.Sprintf("%08x", i)
		_, x, err := s.repo.timed(s.repo.dir, nil, nil, program, "--print", "--worktree", dir, string(s.mission)+"/latest")
		if err != nil {
			return err
		}
		forks = append(forks, x)
		if err := s.drop(dir); err != nil {
			return err
		}
		_, x, err = s.repo.timed(s.repo.dir, nil, nil, "git", "worktree", "add", "-q", "-b", "plain/"+id, dir, "HEAD")
		if err != nil {
			return err
		}
		adds = append(adds, x)
		if err := s.drop(dir); err != nil {
			return err
		}
	}
	list, err := s.repo.feed(s.repo.dir, nil, s.repo.program, "missions", "--json")
	if err != nil {
		return err
	}
	if list == "" {
		return errors.New("no fork is in the list of missions")
	}
	compare(name, forks, adds, target)
	return nil
}

// drop removes a worktree, and looks first whether it is a whole one.
func (s *session) drop(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) < 2 {
		return fmt.Errorf("%s is empty", dir)
	}
	_, err = s.repo.git("worktree", "remove", "--force", dir)
	return err
}
