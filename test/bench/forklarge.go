package main

import (
	"os"
	"path/filepath"
)

// largeConversation is the size in bytes of the conversation of a long session.
const largeConversation = 200 << 20

// forkLarge makes forks that take a large conversation along, as one turn has it that nobody recorded before, and as
// thousands of turns do.
func forkLarge(l *lab) {
	contestHeading()
	one := l.longSession("fork-large", largeConversation)
	one.turn()
	many := l.longSession("fork-turns", turnSize)
	for range largeConversation / turnSize {
		many.writer.begin(0)
		many.write()
	}
	many.turn()
	for name, s := range map[string]*session{"fork --print, 200 MB of conversation in 1 turn": one, "in 10,000 turns": many} {
		dir := s.repo.dir + "-fork"
		l.play(contest{
			name: name, target: "0.5 of its time, 0.15 of its memory",
			ours: func(b build) sample {
				x := s.repo.printing(b.program("git-agent-fork"), "--print", "--worktree", dir, string(s.mission)+"/latest")
				s.drop(dir)
				for _, made := range must(filepath.Glob(filepath.Join(l.dir, "home", ".claude", "projects", "*-fork", "*.jsonl"))) {
					check(os.Remove(made))
				}
				return x
			},
			git: func() sample {
				x := s.repo.printing("git", "worktree", "add", "-q", "--detach", dir, "HEAD")
				s.drop(dir)
				return x
			},
		})
	}
}
