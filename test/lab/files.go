package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/statedir"
	"gitagent/internal/usage"
	"gitagent/test/gittest"
)

func (l *Lab) Remove(name string) {
	l.T.Helper()
	gittest.Must(l.T, os.RemoveAll(filepath.Join(l.Dir, name)))
}

func (l *Lab) Chmod(name string, mode os.FileMode) {
	l.T.Helper()
	gittest.Must(l.T, os.Chmod(filepath.Join(l.Dir, name), mode))
}

func (l *Lab) Symlink(target, name string) {
	l.T.Helper()
	gittest.Must(l.T, os.Symlink(target, filepath.Join(l.Dir, name)))
}

// AdvanceMain adds a commit to main from another worktree.
func (l *Lab) AdvanceMain() {
	l.T.Helper()
	dir := filepath.Join(gittest.TempDir(l.T), "main")
	l.Git("worktree", "add", "-q", dir, "main")
	w := l.In(dir)
	w.Write("mains.txt", "main's\n")
	w.Commit("main goes on")
	l.Git("worktree", "remove", dir)
}

// Age makes a file as old as one that was left behind.
func (l *Lab) Age(name string, by time.Duration) {
	l.T.Helper()
	then := time.Now().Add(-by)
	gittest.Must(l.T, os.Chtimes(filepath.Join(l.Dir, name), then, then))
}

// FailingHook makes git fail after it has checked something out.
func (l *Lab) FailingHook() {
	l.T.Helper()
	l.Write(".git/hooks/post-checkout", "#!/bin/sh\nexit 1\n")
	gittest.Must(l.T, os.Chmod(filepath.Join(l.Dir, ".git/hooks/post-checkout"), 0o755))
}

// Leave makes what a process leaves that was killed with its git: a lock of ours with a note of what
// that git was about to lock, and the locks.
func (l *Lab) Leave(name string, files ...string) {
	l.T.Helper()
	at := time.Now().Add(-time.Minute)
	held, err := statedir.In(filepath.Join(l.Dir, ".git"), "agent").Lock(l.T.Context(), filepath.Join("locks", name))
	gittest.Must(l.T, err)
	defer held.Release()
	var words []string
	for _, file := range files {
		words = append(words, filepath.Join(l.Dir, file))
		if strings.HasSuffix(file, "/") {
			words[len(words)-1] += "/"
			continue
		}
		l.Write(file+".lock", "")
		gittest.Must(l.T, os.Chtimes(filepath.Join(l.Dir, file+".lock"), at, at))
	}
	gittest.Must(l.T, held.Note(statedir.Note{At: at, Words: words}))
}

func (l *Lab) Locked() []string {
	l.T.Helper()
	var found []string
	err := filepath.WalkDir(filepath.Join(l.Dir, ".git"), func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			found = append(found, strings.TrimPrefix(path, l.Dir))
		}
		return err
	})
	gittest.Must(l.T, err)
	return found
}

// Head is HEAD's commit, "" on an unborn branch.
func (l *Lab) Head() string {
	head, _ := l.Try("rev-parse", "--verify", "-q", "HEAD")
	return head
}

// A Sight is what a user sees of a repository and its worktree.
type Sight map[string]string

// Look is what the user of a worktree sees. Nothing of it is refreshed by looking.
func (l *Lab) Look() Sight {
	l.T.Helper()
	s := make(Sight)
	names := []string{"index", "HEAD", "logs/HEAD", "logs/refs/heads/main", "packed-refs", "config", "config.worktree", "info/exclude", "FETCH_HEAD", "ORIG_HEAD"}
	ask := []string{"rev-parse", "--path-format=absolute"}
	for _, name := range names {
		ask = append(ask, "--git-path", name)
	}
	for i, path := range strings.Split(l.Git(ask...), "\n") {
		name := names[i]
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			l.T.Fatal(err)
		}
		s[name] = string(data)
		if info, err := os.Stat(path); err == nil {
			s[name+", when"] = fmt.Sprint(info.ModTime().UnixNano())
		}
	}
	for _, command := range [][]string{
		{"--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored", "-z"},
		{"--no-optional-locks", "status"},
		{"branch", "-a", "-vv"},
		{"stash", "list"},
		{"reflog", "show", "--format=%H %gd %gs", "HEAD"},
		{"reflog", "show", "--format=%H %gd %gs", "main"},
		{"log", "--format=%H %s", "-5"},
		{"tag", "-l"},
		{"worktree", "list", "--porcelain"},
		{"diff", "--cached", "--raw", "-z"},
		{"for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"},
		{"notes", "list"},
	} {
		out, err := l.Try(command...)
		if err != nil {
			out = "fails"
		}
		s["git "+strings.Join(command, " ")] = out
	}
	return s
}

// Messages are the tokens of so many messages of the client that tests replay.
func Messages(n int64) usage.ByModel {
	return usage.ByModel{"claude-opus-4-8": {Input: 100 * n, CacheRead: 3 * n, CacheWrite: 20 * n, Output: 7 * n}}
}

// Same fails the test for everything that looks different now.
func (s Sight) Same(t testing.TB, now Sight) {
	t.Helper()
	for name, was := range s {
		if now[name] != was {
			t.Errorf("%s was\n%.2000q\nis\n%.2000q", name, was, now[name])
		}
	}
}
