//go:build unix

package bisect

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// A lab is a repository with some states.
type lab struct {
	*gittest.Repo
	t     *testing.T
	w     *workspace.Workspace
	first object.Hash
	last  object.Hash
}

func newLab(t *testing.T) *lab {
	t.Helper()
	r := gittest.New(t)
	r.Write(".gitignore", "*.o\n/build/\n")
	r.Do("file=one; same=same; dir/file=one; becomes=a file; goes/away=one")
	first := r.Commit("first")
	r.Write("file", "two\n")
	gittest.Must(t, os.RemoveAll(filepath.Join(r.Dir, "goes")))
	r.Do("git rm -q becomes; becomes/a=directory; build=was ignored; git add -f build")
	l := &lab{Repo: r, t: t, first: hash(t, first), last: hash(t, r.Commit("last"))}
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	l.w = workspace.New(repo, config.Default())
	return l
}

func hash(t *testing.T, text string) object.Hash {
	t.Helper()
	h, err := object.ParseHash(text)
	gittest.Must(t, err)
	return h
}

// files is everything in a directory but what is git's: paths, kinds, contents.
func files(t *testing.T, top string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		switch {
		case err != nil:
			return err
		case name == ".git" && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || name == ".git":
			return nil
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %q\n", name, data)
			return err
		}
		fmt.Fprintf(&b, "%s %s\n", name, d.Type())
		return nil
	})
	gittest.Must(t, err)
	return b.String()
}

// everything is what the user's worktree and the git directory hold, but for objects and logs.
func (l *lab) everything() string {
	l.t.Helper()
	all := files(l.t, l.Dir)
	for line := range strings.Lines(files(l.t, filepath.Join(l.Dir, ".git"))) {
		dir, _, _ := strings.Cut(line, "/")
		if dir != "objects" && dir != "reftable" && !strings.HasPrefix(line, "packed-refs ") { // a branch of a trial's was deleted
			all += ".git/" + line
		}
	}
	return all + l.Git("for-each-ref") + l.Git("reflog", "HEAD")
}

// run runs a command in a directory as it is run for the user.
func (l *lab) run(dir, script string) {
	l.t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, append(l.Env, "PWD="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// messes are what commands leave behind.
var messes = map[string]string{
	"nothing":                         "true",
	"changed files":                   "echo more >>file; rm same; mkdir new; echo new >new/file; echo x >x.o",
	"a file for a directory":          "rm -r dir; echo not >dir; rm -rf becomes; mkdir -p becomes/x; echo x >becomes/x/y",
	"a link for a directory":          "rm -r dir; ln -s / dir; ln -s nowhere file.new; rm file; ln -s same file",
	"ignored where a file comes":      "mkdir build; echo x >build/x.o; echo '*' >.gitignore",
	"a nested repository":             "rm -rf becomes build; git init -q --template= becomes; cd becomes; echo x >x; git add x; git commit -qm x; cd ..; git init -q --template= build",
	"a commit":                        "echo mine >file; git commit -qam mine",
	"a branch":                        "git checkout -q -b theirs; git commit -q --allow-empty -m mine",
	"HEAD on a branch to be":          "git symbolic-ref HEAD refs/heads/unborn",
	"a broken HEAD":                   "echo nonsense >\"$(git rev-parse --git-dir)/HEAD\"",
	"staged":                          "echo new >file; git add file; git rm -q --cached same; echo new >new; git add new",
	"marks in the index":              "echo new >file; echo new >same; git update-index --assume-unchanged file; git update-index --skip-worktree same",
	"a broken index":                  "i=$(git rev-parse --git-dir)/index; rm $i; echo nonsense >$i",
	"an index written over":           "echo nonsense >\"$(git rev-parse --git-dir)/index\"",
	"no index":                        "rm \"$(git rev-parse --git-dir)/index\"",
	"locks":                           "d=$(git rev-parse --git-dir); touch $d/index.lock $d/HEAD.lock",
	"a merge":                         "git checkout -q --detach; echo a >file; git commit -qam a; git checkout -q HEAD~ --; echo b >file; git commit -qam b; git merge HEAD@{2} >/dev/null || true",
	"a rebase":                        "echo a >file; git commit -qam a; git checkout -q HEAD~; echo b >file; git commit -qam b; git rebase HEAD@{2} >/dev/null 2>&1 || true",
	"a bisect of its own":             "git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; git bisect start HEAD HEAD~2 >/dev/null",
	"closed directories":              "mkdir -p shut/in; touch shut/in/x; chmod 0 shut/in shut; chmod 555 dir; mkdir build; touch build/x; chmod 0 build",
	"repositories in its directories": "git init -q --template= dir; rm -rf goes; mkdir goes; touch goes/.git",
	"no .git":                         "rm .git",
	"another .git":                    "rm .git; git init -q --template= .",
	"no worktree":                     "cd /; rm -rf \"$OLDPWD\"",
	"a link for it":                   "cd /; rm -rf \"$OLDPWD\"; ln -s .. \"$OLDPWD\"",
	"odd names":                       "touch -- -f '*' 'a b' \"$(printf 'a\\nb')\" \"$(printf '\\377')\"; mkdir -- '-d'; touch -- '-d/x'",
	"a pipe":                          "rm -f file; mkfifo file new.pipe dir/pipe",
	"sparse":                          "git sparse-checkout set --no-cone /dir/ 2>/dev/null",
}

// TestWorktreeSet: whatever was left there, the worktree becomes exactly the next state. In the end
// nothing is left, and nothing of the user's has changed.
func TestWorktreeSet(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, mess := range messes {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, keep %t", name, keep), func(t *testing.T) {
				t.Parallel()
				gittest.Sample(t)
				l := newLab(t)
				want := map[object.Hash]string{l.last: files(t, l.Dir)}
				l.Git("checkout", "-q", l.first.String())
				want[l.first] = files(t, l.Dir)
				l.Do("git checkout -q main; file=not committed; untracked=x; x.o=ignored")
				before := l.everything()
				ctx := context.Background()
				w, err := Temporary(ctx, l.w, l.first, keep, false)
				gittest.Must(t, err)
				t.Cleanup(func() { _ = os.RemoveAll(w.Top) })
				for i, state := range []object.Hash{l.first, l.last, l.last, l.first} {
					gittest.Must(t, w.Set(ctx, state))
					got := files(t, w.Top)
					if keep && name == "changed files" && i > 0 {
						got = strings.ReplaceAll(got, "x.o \"x\\n\"\n", "")
						if got == files(t, w.Top) {
							t.Error("what is ignored is not there any more")
						}
					}
					if keep && (name == "a nested repository" || name == "ignored where a file comes" || name == "closed directories") {
						got, want[state] = without(got, "build/"), without(want[state], "build/")
					}
					if got != want[state] {
						t.Errorf("step %d: %.2000s", i, differing(got, want[state]))
					}
					if head := l.In(w.Top).Git("rev-parse", "HEAD"); head != state.String() {
						t.Errorf("step %d: HEAD is at %s, want %s", i, head, state)
					}
					if status := l.In(w.Top).Git("status", "--porcelain"); status != "" {
						t.Errorf("step %d: git status says %s", i, status)
					}
					l.run(w.Top, mess)
				}
				gittest.Must(t, w.Remove())
				if _, err := os.Lstat(w.Top); err == nil {
					t.Errorf("%s is still there", w.Top)
				}
				l.Git("worktree", "prune")
				if got := l.Git("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 1 {
					t.Errorf("git has worktrees left:\n%s", got)
				}
				switch name { // those that change what all worktrees share
				case "a branch":
					l.Git("branch", "-q", "-D", "theirs")
				case "sparse":
					return
				}
				if after := l.everything(); after != before {
					t.Errorf("of the user's: %.2000s", differing(after, before))
				}
			})
		}
	}
}

// differing are the lines that two texts don't share.
func differing(got, want string) string {
	var b strings.Builder
	for line := range strings.Lines(got) {
		if !strings.Contains(want, line) {
			b.WriteString("\n+ " + line)
		}
	}
	for line := range strings.Lines(want) {
		if !strings.Contains(got, line) {
			b.WriteString("\n- " + line)
		}
	}
	return b.String()
}

// without is the files but those below a directory.
func without(files, dir string) string {
	var b strings.Builder
	for line := range strings.Lines(files) {
		if !strings.HasPrefix(line, dir) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestWorktreeElsewhere: where core.worktree counts in all worktrees, nothing is checked out.
func TestWorktreeElsewhere(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.Git("config", "extensions.worktreeConfig", "true")
	l.Git("config", "core.worktree", l.Dir)
	l.Do("file=not committed; untracked=x")
	before := l.everything()
	w, err := Temporary(context.Background(), l.w, l.first, false, false)
	if err == nil || !strings.Contains(err.Error(), "core.worktree") {
		t.Errorf("got %v, want an error about core.worktree", err)
	}
	if _, err := os.Lstat(w.Top); err == nil {
		t.Errorf("%s is still there", w.Top)
	}
	if after := l.everything(); after != before {
		t.Errorf("of the user's: %.2000s", differing(after, before))
	}
}

// TestWorktreeModules: a submodule that a trial has filled is empty in the next one, unless what is
// ignored stays.
func TestWorktreeModules(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, keep := range []bool{false, true} {
		l := newLab(t)
		module := gittest.New(t)
		module.Do("inner=x; commit inner")
		l.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.Dir, "sub/module")
		with := hash(t, l.Commit("with a submodule"))
		ctx := context.Background()
		w, err := Temporary(ctx, l.w, with, keep, false)
		gittest.Must(t, err)
		inner := filepath.Join(w.Top, "sub", "module", "inner")
		for i := range 3 {
			gittest.Must(t, w.Set(ctx, with))
			if _, err := os.Lstat(inner); (err == nil) != (keep && i > 0) {
				t.Errorf("keep %t, step %d: the submodule's file: %v", keep, i, err)
			}
			if status := l.In(w.Top).Git("status", "--porcelain"); status != "" {
				t.Errorf("keep %t, step %d: git status says %s", keep, i, status)
			}
			l.run(w.Top, "git -c protocol.file.allow=always submodule --quiet update --init")
		}
		gittest.Must(t, w.Set(ctx, l.last))
		if _, err := os.Lstat(filepath.Join(w.Top, "sub")); err == nil {
			t.Errorf("keep %t: the submodule is there where there is none", keep)
		}
		gittest.Must(t, w.Remove())
	}
}
