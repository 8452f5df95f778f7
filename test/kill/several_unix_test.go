//go:build unix

package kill

import (
	"path/filepath"
	"slices"
	"strings"
)

// several makes three forks of one turn. Those that it has not told of are whole, or there is nothing of them.
func several(l *lab) command {
	l.turn()
	branches := []string{"for-each-ref", "--format=%(refname:lstrip=4)", "refs/heads/agent/mission"}
	before := strings.Fields(l.Git(branches...))
	c := command{args: []string{"git-agent-fork", "--print", "--times", "3", "--prompt", "one", "--prompt", "two", "--prompt", "three", l.mission() + "/1"}}
	c.then = func(l *lab, done result) {
		made := 0
		for id := range strings.FieldsSeq(l.Git(branches...)) {
			if slices.Contains(before, id) {
				continue
			}
			made++
			dir := filepath.Join(filepath.Dir(l.main.Dir), filepath.Base(l.main.Dir)+"-"+id)
			if head, err := l.In(dir).Try("symbolic-ref", "HEAD"); err != nil || head != "refs/heads/agent/mission/"+id {
				l.find("half a mission: without its worktree", "%s: %v, %s", id, err, head)
			}
			if _, err := l.Try("rev-parse", "-q", "--verify", "refs/agent/missions/"+id); err != nil {
				l.find("half a mission: without its ledger", "%s: %v", id, err)
			}
		}
		if told := strings.Count(done.stdout, "\n"); made < told || made > 3 {
			l.find("forks are lost", "%d were told of, %d are there", told, made)
		}
	}
	return c
}
