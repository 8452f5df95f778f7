package missionstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/copyignored"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// ignored makes files that a fork gets besides the tree, some in a directory that is read-only.
func ignored(l *lab.Lab) *copyignored.Files {
	l.T.Helper()
	l.Write(".git/info/exclude", ".env\n/deps/\n")
	l.Write(".env", "PASSWORD=hunter2\n")
	l.Write("deps/locked/a", "a\n")
	l.Write("deps/b", strings.Repeat("b\n", 10_000))
	lockWorktree(l, filepath.Join(l.Dir, "deps", "locked"))
	repo, err := git.Find(l.Dir)
	gittest.Must(l.T, err)
	files, err := copyignored.Find(l.T.Context(), repo, []string{".env", "deps/"}, copyignored.Amount{Files: 10, Bytes: 1 << 20})
	if err != nil || files.Amount().Files != 3 {
		l.T.Fatalf("%+v, %v", files, err)
	}
	return files
}

// lockWorktree makes a directory read-only as long as the test runs.
func lockWorktree(l *lab.Lab, dir string) {
	l.T.Helper()
	gittest.Must(l.T, os.Chmod(dir, 0o555))
	l.T.Cleanup(func() {
		if err := os.Chmod(dir, 0o777); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.T.Error(err)
		}
	})
}

// TestForkIncludes: a fork has the ignored files, no turn records them, and with them it is removed.
func TestForkIncludes(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, list := l.Three()
	f := l.ForkOf(list[2])
	f.Include = ignored(l)
	var last copyignored.Amount
	f.Copying = func(a copyignored.Amount) { last = a }
	done := l.Fork(f)
	if done.Included == nil || done.Included.Amount != f.Include.Amount() || last != f.Include.Amount() {
		t.Errorf("included %+v, told of %+v, want %+v", done.Included, last, f.Include.Amount())
	}
	wt := l.At(f.Worktree)
	if got := wt.Read(".env"); got != "PASSWORD=hunter2\n" {
		t.Errorf(".env is %q", got)
	}
	lockWorktree(l, filepath.Join(f.Worktree, "deps", "locked"))
	wt.Turn(wt.Client(), "in the fork", wt.Writes("new.txt", "new\n"))
	for tree := range strings.FieldsSeq(l.Git("rev-list", "--all")) {
		if files := l.Git("ls-tree", "-r", "--name-only", tree); strings.Contains(files, ".env") || strings.Contains(files, "deps") {
			t.Errorf("recorded:\n%s", files)
		}
	}
	if _, err := missionstore.Remove(t.Context(), l.Workspace(l.Dir), f.ID, nobody, false, false); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(f.Worktree); err == nil {
		t.Error("the worktree is still there")
	}
	if l.Read(".env") == "" || l.Read("deps/locked/a") == "" {
		t.Error("the checkout has lost something")
	}
}

// TestForkIncludesUndone: what comes after the copying fails, and nothing is left.
func TestForkIncludesUndone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, list := l.Three()
	f := l.ForkOf(list[2])
	f.Include = ignored(l)
	before := leavings(l)
	f.Config = filepath.Join(l.Dir, "a.txt") // a file
	f.Copying = func(copyignored.Amount) {
		_ = os.Chmod(filepath.Join(f.Worktree, "deps", "locked"), 0o555)
	}
	if _, err := missionstore.Fork(t.Context(), l.Workspace(l.Dir), f); err == nil {
		t.Error("forked all the same")
	}
	if after := leavings(l); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
}

// TestBeginIncludes: so it is where an attached mission begins in a worktree.
func TestBeginIncludes(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Write("a.txt", "a\n")
	l.Commit("first")
	files := ignored(l)
	from, err := object.ParseHash(l.Git("rev-parse", "HEAD"))
	gittest.Must(t, err)
	b := missionstore.Beginning{ID: "a1b2c3d4", At: time.Now(), From: from, Worktree: filepath.Join(filepath.Dir(l.Dir), "begun"), Include: files}
	_, included, err := missionstore.Begin(t.Context(), l.Workspace(l.Dir), b)
	if err != nil || included == nil || included.Amount != files.Amount() {
		t.Errorf("included %+v, %v, want %+v", included, err, files.Amount())
	}
	lockWorktree(l, filepath.Join(b.Worktree, "deps", "locked")) // as it is: so it can be removed
	if status := l.At(b.Worktree).Git("status", "--porcelain"); status != "" {
		t.Errorf("status is\n%s", status)
	}
}

// TestKilledCopying: the process was killed in the middle of a file, or when it, or the next one, was taking
// everything back. The next one does.
func TestKilledCopying(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, kill := range map[string]func(wt *lab.Lab){
		"copying":     func(wt *lab.Lab) { wt.Write("deps/b", "b\n"); wt.Remove(".env") },
		"taking back": func(wt *lab.Lab) { wt.Remove(".git"); wt.Remove("a.txt"); wt.Remove(".env") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			_, list := l.Three()
			files := ignored(l)
			all := []string{"for-each-ref", "refs/agent/missions", "refs/notes", "refs/heads"} // another mission may have the same keeper
			before := l.Git(all...)
			f := l.ForkOf(list[2])
			f.Session, f.Include = "", files
			l.Fork(f)
			planting(l, f.ID, f.Worktree)
			lockWorktree(l, filepath.Join(f.Worktree, "deps", "locked"))
			kill(l.At(f.Worktree))
			missionstore.ClearDead(t.Context(), l.Workspace(l.Dir))
			if _, err := os.Lstat(f.Worktree); err == nil {
				t.Error("the worktree is still there")
			}
			if after := l.Git(all...); after != before {
				t.Errorf("refs were\n%s\nare\n%s", before, after)
			}
			if list := l.Git("worktree", "list"); strings.Contains(list, f.Worktree) {
				t.Errorf("worktrees are\n%s", list)
			}
			if l.Read(".env") == "" || l.Read("deps/locked/a") == "" {
				t.Error("the checkout has lost something")
			}
			l.Fsck()
		})
	}
}

// planting leaves what a process leaves that was killed while it made a mission.
func planting(l *lab.Lab, id record.ID, worktree string) {
	l.T.Helper()
	branch := id.Branch(l.Capture.BranchPrefix)
	held, err := statedir.In(filepath.Join(l.Dir, ".git"), "agent").Lock(l.T.Context(), filepath.Join("planting", string(id)))
	gittest.Must(l.T, err)
	defer held.Release()
	words := []string{string(id), l.Git("rev-parse", id.Ref()), l.Git("rev-parse", branch), branch, worktree}
	gittest.Must(l.T, held.Note(statedir.Note{At: time.Now(), Words: words}))
}
