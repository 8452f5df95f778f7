package turns_test

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
	"gitagent/internal/lock"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// ignored makes files that a fork gets besides the tree, some in a directory that is read-only.
func (l *lab) ignored() *copyignored.Files {
	l.t.Helper()
	l.Write(".git/info/exclude", ".env\n/deps/\n")
	l.Write(".env", "PASSWORD=hunter2\n")
	l.Write("deps/locked/a", "a\n")
	l.Write("deps/b", strings.Repeat("b\n", 10_000))
	l.lock(filepath.Join(l.Dir, "deps", "locked"))
	repo, err := git.Find(l.Dir)
	if err != nil {
		l.t.Fatal(err)
	}
	files, err := copyignored.Find(l.t.Context(), repo, []string{".env", "deps/"}, copyignored.Amount{Files: 10, Bytes: 1 << 20})
	if err != nil || files.Amount().Files != 3 {
		l.t.Fatalf("%+v, %v", files, err)
	}
	return files
}

// lock makes a directory read-only as long as the test runs.
func (l *lab) lock(dir string) {
	l.t.Helper()
	if err := os.Chmod(dir, 0o555); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		if err := os.Chmod(dir, 0o777); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.t.Error(err)
		}
	})
}

// TestForkIncludes: a fork has the ignored files, no turn records them, and with them it is removed.
func TestForkIncludes(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLab(t)
	_, list := l.three()
	f := l.forkOf(list[2])
	f.Include = l.ignored()
	var last copyignored.Amount
	f.Copying = func(a copyignored.Amount) { last = a }
	done := l.fork(f)
	if done.Included == nil || done.Included.Amount != f.Include.Amount() || last != f.Include.Amount() {
		t.Errorf("included %+v, told of %+v, want %+v", done.Included, last, f.Include.Amount())
	}
	wt := l.at(f.Worktree)
	if got := wt.Read(".env"); got != "PASSWORD=hunter2\n" {
		t.Errorf(".env is %q", got)
	}
	l.lock(filepath.Join(f.Worktree, "deps", "locked"))
	wt.turn(wt.client(), "in the fork", wt.write("new.txt", "new\n"))
	for tree := range strings.FieldsSeq(l.Git("rev-list", "--all")) {
		if files := l.Git("ls-tree", "-r", "--name-only", tree); strings.Contains(files, ".env") || strings.Contains(files, "deps") {
			t.Errorf("recorded:\n%s", files)
		}
	}
	if _, err := l.recorder(l.Dir).Remove(t.Context(), f.ID, false, false); err != nil {
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
	l := newLab(t)
	_, list := l.three()
	f := l.forkOf(list[2])
	f.Include = l.ignored()
	before := l.everything()
	f.Config = filepath.Join(l.Dir, "a.txt") // a file
	f.Copying = func(copyignored.Amount) {
		_ = os.Chmod(filepath.Join(f.Worktree, "deps", "locked"), 0o555)
	}
	if _, err := l.recorder(l.Dir).Fork(t.Context(), f); err == nil {
		t.Error("forked all the same")
	}
	if after := l.everything(); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
}

// TestBeginIncludes: so it is where an attached mission begins in a worktree.
func TestBeginIncludes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.Write("a.txt", "a\n")
	l.Commit("first")
	files := l.ignored()
	from, err := git.ParseHash(l.Git("rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	b := turns.Beginning{ID: "a1b2c3d4", At: time.Now(), From: from, Worktree: filepath.Join(filepath.Dir(l.Dir), "begun"), Include: files}
	_, included, err := l.recorder(l.Dir).Begin(t.Context(), b)
	if err != nil || included == nil || included.Amount != files.Amount() {
		t.Errorf("included %+v, %v, want %+v", included, err, files.Amount())
	}
	l.lock(filepath.Join(b.Worktree, "deps", "locked")) // as it is: so it can be removed
	if status := l.at(b.Worktree).Git("status", "--porcelain"); status != "" {
		t.Errorf("status is\n%s", status)
	}
}

// TestKilledCopying: the process was killed in the middle of a file, or when it, or the next one, was taking
// everything back. The next one does.
func TestKilledCopying(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, kill := range map[string]func(wt *lab){
		"copying":     func(wt *lab) { wt.Write("deps/b", "b\n"); wt.remove(".env") },
		"taking back": func(wt *lab) { wt.remove(".git"); wt.remove("a.txt"); wt.remove(".env") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			_, list := l.three()
			files := l.ignored()
			before := l.Git("for-each-ref")
			f := l.forkOf(list[2])
			f.Session, f.Include = "", files
			l.fork(f)
			l.planting(f.ID, f.Worktree)
			l.lock(filepath.Join(f.Worktree, "deps", "locked"))
			kill(l.at(f.Worktree))
			l.recorder(l.Dir).ClearDead(t.Context())
			if _, err := os.Lstat(f.Worktree); err == nil {
				t.Error("the worktree is still there")
			}
			if after := l.Git("for-each-ref"); after != before {
				t.Errorf("refs were\n%s\nare\n%s", before, after)
			}
			if list := l.Git("worktree", "list"); strings.Contains(list, f.Worktree) {
				t.Errorf("worktrees are\n%s", list)
			}
			if l.Read(".env") == "" || l.Read("deps/locked/a") == "" {
				t.Error("the checkout has lost something")
			}
			l.fsck()
		})
	}
}

// planting leaves what a process leaves that was killed while it made a mission.
func (l *lab) planting(id record.ID, worktree string) {
	l.t.Helper()
	branch := id.Branch(l.capture.BranchPrefix)
	held, err := lock.Take(l.t.Context(), statedir.In(filepath.Join(l.Dir, ".git"), "agent"), filepath.Join("planting", string(id)))
	if err != nil {
		l.t.Fatal(err)
	}
	defer held.Release()
	words := []string{string(id), l.Git("rev-parse", id.Ref()), l.Git("rev-parse", branch), branch, worktree}
	if err := held.Note(lock.Note{At: time.Now(), Words: words}); err != nil {
		l.t.Fatal(err)
	}
}
