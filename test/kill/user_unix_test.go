//go:build unix

package kill

import (
	"fmt"
	"strings"
	"time"
)

// user does what people do with git in the agent's worktree, and returns what has failed.
func (l *lab) user() map[string]error {
	failed := make(map[string]error)
	git := func(args ...string) bool {
		_, err := l.Try(args...)
		if err != nil {
			failed["git "+args[0]] = err
		}
		return err == nil
	}
	home, err := l.Try("symbolic-ref", "--short", "HEAD")
	if err != nil {
		return map[string]error{"git symbolic-ref": err}
	}
	if home == "x" { // directly after a kill the way back may have been locked
		home = l.home
	}
	l.home = home
	git("status", "--porcelain")
	if git("commit", "-q", "--allow-empty", "-m", "the user's own") {
		if undone := l.undone(); undone != "" {
			failed["git commit, which undoes a turn"] = fmt.Errorf("it has changed\n%s", undone)
		}
	}
	if git("switch", "-q", "-C", "x") { // an earlier one could not be removed, perhaps
		git("switch", "-q", home)
		git("branch", "-q", "-D", "x")
	}
	l.Write("user", time.Now().String()+"\n")
	git("stash", "-q")
	if _, err := l.Try("rev-parse", "-q", "--verify", "refs/stash"); err == nil { // git makes it, too, where it then fails at a lock
		git("stash", "pop", "-q")
	}
	git("gc", "--auto", "-q")
	git("pack-refs", "--all")
	git("worktree", "list")
	git("worktree", "prune")
	git("fetch", "-q")
	return failed
}

// undone lists what the last commit has changed and is not what lies in the worktree. Nobody has
// staged anything, so there is nothing, whatever the commit took along; but a purge stages files without the
// secret before it moves the branch.
func (l *lab) undone() string {
	changed, err := l.Try("diff", "--name-only", "HEAD^", "HEAD")
	if err != nil {
		return err.Error()
	}
	differs, err := l.Try("status", "--porcelain", "-uall", "--no-renames")
	if err != nil {
		return err.Error()
	}
	var undone []string
	for path := range strings.FieldsSeq(changed) {
		const mark = "[redacted:purged]"
		was, _ := l.Try("cat-file", "blob", "HEAD^:"+path)
		is, _ := l.Try("cat-file", "blob", "HEAD:"+path)
		if strings.Contains(is, mark) && !strings.Contains(was, mark) {
			continue
		}
		if strings.Contains(differs+"\n", " "+path+"\n") {
			undone = append(undone, path)
		}
	}
	return strings.Join(undone, "\n")
}
