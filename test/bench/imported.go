package main

import (
	"os"
	"path/filepath"
)

// importContest imports 300 sessions anew in each round.
func importContest(l *lab) {
	r := l.newRepository("import-contest", smallFiles)
	p := newProject(r)
	for n := range importedSessions {
		p.grow(n, 1+n*7%20)
	}
	pristine := filepath.Join(l.dir, "import-contest.git")
	l.feed(l.dir, nil, "cp", "-a", filepath.Join(r.dir, ".git"), pristine)
	contestHeading()
	l.play(contest{"import of 300 sessions", "0.4 of the CPU", func(b build) sample {
		settle()
		check(os.RemoveAll(filepath.Join(r.dir, ".git")))
		l.feed(l.dir, nil, "cp", "-a", pristine, filepath.Join(r.dir, ".git"))
		return r.printing(b.program("git-agent-turn"), "import")
	}, nil})
}
