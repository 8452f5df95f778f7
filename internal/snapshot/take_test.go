package snapshot

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestMain keeps the developer's own configuration and attributes out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// policy is the default one of the configuration.
var policy = Policy{MaxFileSize: 10 << 20, MaxUntrackedFiles: 5000, MaxUntrackedSize: 100 << 20}

// open opens r as the hook does, with the environment of the test.
func open(t testing.TB, r *gittest.Repo) *git.Repo {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	return repo.With(git.Env(r.Env...))
}

// options are those of a hook.
func options(repo *git.Repo, publish bool) Options {
	return Options{
		Policy:  policy,
		Config:  func() (git.Config, error) { return repo.Config(context.Background()) },
		Publish: publish,
	}
}

// tryTake takes a snapshot of r and flushes it.
func tryTake(t testing.TB, r *gittest.Repo, edit func(*Options)) (*Snapshot, error) {
	t.Helper()
	ctx := context.Background()
	repo := open(t, r)
	objects := repo.Objects(ctx)
	defer objects.Close()
	opt := options(repo, false)
	if edit != nil {
		edit(&opt)
	}
	s, err := Take(ctx, repo, objects, opt)
	if err != nil {
		return nil, err
	}
	return s, objects.Flush()
}

// take takes a snapshot of r as the hook does and flushes it.
func take(t testing.TB, r *gittest.Repo, publish bool) *Snapshot {
	t.Helper()
	s, err := tryTake(t, r, func(o *Options) { o.Publish = publish })
	gittest.Must(t, err)
	return s
}

// wantTree is the tree that git itself makes of the worktree, with an index of its own
// that starts as the user's: `git add -A`, then without what the snapshot had to leave out.
func wantTree(t testing.TB, r *gittest.Repo, skipped []record.Skip) object.Hash {
	t.Helper()
	s := *r
	index := filepath.Join(gittest.TempDir(t), "index")
	s.Env = append(slices.Clone(r.Env), "GIT_INDEX_FILE="+index)
	users := filepath.Join(open(t, r).GitDir, "index")
	if info, err := os.Stat(users); err == nil {
		b, err := os.ReadFile(users)
		gittest.Must(t, err)
		gittest.Must(t, os.WriteFile(index, b, 0o666))
		gittest.Must(t, os.Chtimes(index, time.Time{}, info.ModTime()))
	} else if _, err := r.Try("rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		s.Git("read-tree", "HEAD")
	}
	add := []string{"-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", "add", "-A", "--sparse", "--", "."}
	for _, skip := range skipped {
		if skip.Why == record.WhySubmodule {
			continue // its commit is in the tree
		}
		add = append(add, ":(top,exclude,literal)"+strings.TrimSuffix(skip.Path, "/"))
	}
	s.Git(add...)
	return object.NewHash(s.Git("write-tree"))
}

// state describes everything of a repository and its worktree that a passive
// snapshot must not change: every file but objects and our own directory.
func state(t testing.TB, r *gittest.Repo) map[string]string {
	t.Helper()
	repo := open(t, r)
	files := make(map[string]string)
	roots := []string{repo.Top, repo.GitDir, repo.CommonDir}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			if d.IsDir() {
				if name := d.Name(); name == "agent" || name == "objects" && filepath.Dir(path) == repo.CommonDir {
					return fs.SkipDir
				}
				files[path] = info.Mode().String()
				return nil
			}
			line := fmt.Sprintf("%s inode %d size %d", info.Mode(), inode(info), info.Size())
			if !strings.HasPrefix(d.Name(), "sharedindex.") { // every reader of a split index touches it
				line += " at " + info.ModTime().String()
			}
			if info.Mode().IsRegular() && info.Size() < 1<<20 {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				line += fmt.Sprintf(" %x", sha1.Sum(b))
			}
			files[path] = line
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			t.Fatal(err)
		}
	}
	return files
}

// sameState fails the test if the state is not the one from before.
func sameState(t testing.TB, r *gittest.Repo, before map[string]string) {
	t.Helper()
	after := state(t, r)
	for path, line := range before {
		if after[path] != line {
			t.Errorf("%s was changed: %q, now %q", path, line, after[path])
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s was created", path)
		}
	}
}

// passive takes a passive snapshot and checks that nobody can see that it was taken.
func passive(t testing.TB, r *gittest.Repo) *Snapshot {
	t.Helper()
	before := state(t, r)
	s := take(t, r, false)
	sameState(t, r, before)
	return s
}

// check takes snapshots of the worktree in every way that there is and compares them
// with what git makes of it. skipped is what must be left out.
func check(t testing.TB, r *gittest.Repo, skipped ...record.Skip) {
	t.Helper()
	want := wantTree(t, r, skipped)
	head, _ := r.Try("rev-parse", "--verify", "--quiet", "HEAD")
	if head == "" {
		head = object.Hash{}.String()
	}
	branch, _ := r.Try("symbolic-ref", "--quiet", "HEAD")
	config, err := open(t, r).Config(context.Background())
	gittest.Must(t, err)
	before := state(t, r)
	for _, way := range []struct {
		name    string
		publish bool // goes through git, but nothing is published
	}{{"first", false}, {"again", false}, {"through git", true}, {"after git", false}} {
		s, err := tryTake(t, r, func(o *Options) {
			o.Publish = way.publish
			o.Config = func() (git.Config, error) { return config, nil }
		})
		if err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		if s.Tree != want {
			t.Errorf("%s: tree %s, want %s; they differ in\n%s", way.name, s.Tree, want,
				r.Git("diff-tree", "-r", "--name-status", want.String(), s.Tree.String()))
		}
		if got, want := sorted(s.Skipped), sorted(skipped); !slices.Equal(got, want) {
			t.Errorf("%s: skipped %v, want %v", way.name, got, want)
		}
		if s.Head.Commit.String() != head || s.Head.Branch != branch {
			t.Errorf("%s: HEAD is %s on %q, want %s on %q", way.name, s.Head.Commit, s.Head.Branch, head, branch)
		}
	}
	sameState(t, r, before)
	fsck(t, r)
}

// sameTree fails the test if a snapshot is of another tree.
func sameTree(t testing.TB, s *Snapshot, want object.Hash) {
	t.Helper()
	if s.Tree != want {
		t.Errorf("tree %s, want %s", s.Tree, want)
	}
}

// holds fails the test if a file of a snapshot has another content. The last
// line feed does not count.
func holds(t testing.TB, r *gittest.Repo, s *Snapshot, name, want string) {
	t.Helper()
	r.Says(want, "cat-file", "blob", s.Tree.String()+":"+name)
}

// skips fails the test if a snapshot left out anything else.
func skips(t testing.TB, s *Snapshot, want ...record.Skip) {
	t.Helper()
	if got, want := sorted(s.Skipped), sorted(want); !slices.Equal(got, want) {
		t.Errorf("skipped %v, want %v", got, want)
	}
}

func sorted(skipped []record.Skip) []record.Skip {
	s := slices.Clone(skipped)
	slices.SortFunc(s, func(a, b record.Skip) int { return strings.Compare(a.Path+"\x00"+a.Why, b.Path+"\x00"+b.Why) })
	return s
}

// fsck checks the repository; what is not reachable is no error of ours.
func fsck(t testing.TB, r *gittest.Repo) {
	t.Helper()
	r.Git("-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", "fsck", "--strict", "--no-dangling", "--no-progress")
}

func remove(t testing.TB, r *gittest.Repo, names ...string) {
	t.Helper()
	for _, name := range names {
		gittest.Must(t, os.RemoveAll(filepath.Join(r.Dir, name)))
	}
}

func symlink(t testing.TB, r *gittest.Repo, target, name string) {
	t.Helper()
	path := filepath.Join(r.Dir, name)
	gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	gittest.Must(t, os.Symlink(target, path))
}

func chmod(t testing.TB, r *gittest.Repo, name string, mode fs.FileMode) {
	t.Helper()
	gittest.Must(t, os.Chmod(filepath.Join(r.Dir, name), mode))
}

// edit is [gittest.Repo.Do], with the steps "check" and "touch a" of our own.
func edit(t testing.TB, r *gittest.Repo, script string) {
	t.Helper()
	for step := range strings.SplitSeq(script, "; ") {
		if name, ok := strings.CutPrefix(step, "touch "); ok {
			touch(t, r, name)
		} else if step == "check" {
			check(t, r)
		} else {
			r.Do(step)
		}
	}
}

// script is a script as a function, for tables of which other rows are more.
func script(script string) func(*testing.T, *gittest.Repo) {
	return func(t *testing.T, r *gittest.Repo) {
		t.Helper()
		edit(t, r, script)
	}
}

// base commits a small tree that the cases change.
func base(t testing.TB) *gittest.Repo {
	t.Helper()
	return gittest.Like(t, "base", func(r *gittest.Repo) {
		edit(t, r, "a=a; b=b; empty:; run=#!/bin/sh; chmod 755 run; d/one=1; d/two=2; d/e/three=3")
		edit(t, r, "f/g/h/i=deep; ln a link; ln d dirlink")
		r.Write(".gitignore", "*.o\n/ignored/\n")
		r.Commit("one")
	})
}

func TestTakeEqualsGit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		edit func(t *testing.T, r *gittest.Repo)
	}{
		{"clean", func(t *testing.T, r *gittest.Repo) {}},
		{"unstaged", script("a=changed")},
		{"staged", script("a=changed; git add a")},
		{"partially staged", script("a=staged; git add a; a=staged and more")},
		{"staged, then taken back in the worktree", script("a=staged; git add a; a=a")},
		{"untracked", script("new=n; x/y/z=z")},
		{"new file staged", script("x/new=n; git add -A")},
		{"new file staged, then deleted", script("x/new=n; git add -A; rm x")},
		{"ignored", script("x.o=o; ignored/x=o")},
		{"ignored, but staged", script("x.o=o; git add -f x.o; ignored/y=o; git add -f ignored/y; ignored/y=changed")},
		{"renamed", script("git mv a z; git mv d moved")},
		{"renamed, not staged", func(t *testing.T, r *gittest.Repo) {
			gittest.Must(t, os.Rename(filepath.Join(r.Dir, "d"), filepath.Join(r.Dir, "moved")))
		}},
		{"deleted", script("rm a d/one f")},
		{"deleted, staged", script("git rm -q -r a d")},
		{"deletion staged, file present", script("git rm -q --cached a d/one")},
		{"deletion staged, file present and changed", script("git rm -q --cached a d/one; a=other")},
		{"everything deleted", script("rm a b empty run d f link dirlink .gitignore")},
		{"everything unstaged", script("git rm -q -r --cached .")},
		{"intent to add", script("x/new=n; git add -N x/new")},
		{"intent to add, then deleted", script("x/new=n; git add -N x/new; rm x")},
		{"intent to add, executable", script("new=n; chmod 755 new; git add -N new")},
		{"intent to add, empty", script("new:; git add -N new")},
		{"file to symlink", script("rm a; ln b a")},
		{"file to symlink, staged", script("rm a; ln b a; git add -A")},
		{"symlink to file", script("rm link; link=file")},
		{"symlink to executable", script("rm link; link=file; chmod 755 link")},
		{"symlink to file, staged", script("rm link; link=file; git add -A")},
		{"symlink retargeted", script("rm link; ln b link")},
		{"symlink to directory becomes one", script("rm dirlink; dirlink/x=x")},
		{"file to directory", script("rm a; a/x/y=y")},
		{"file to directory, staged", script("rm a; a/x/y=y; git add -A")},
		{"file to directory, staged, and back", script("rm a; a/x/y=y; git add -A; rm a; a=a file again")},
		{"file to empty directory", func(t *testing.T, r *gittest.Repo) {
			remove(t, r, "a")
			gittest.Must(t, os.Mkdir(filepath.Join(r.Dir, "a"), 0o777))
		}},
		{"directory to file", script("rm d; d=file")},
		{"directory to file, staged", script("rm d; d=file; git add -A")},
		{"directory to file, staged, and back", script("rm d; d=file; git add -A; rm d; d/one=1")},
		{"directory to symlink", script("rm d; ln f d")},
		{"directory to symlink with the same names below", func(t *testing.T, r *gittest.Repo) {
			gittest.Must(t, os.Rename(filepath.Join(r.Dir, "d"), filepath.Join(r.Dir, "moved")))
			symlink(t, r, "moved", "d")
		}},
		{"executable bit", script("chmod 755 a; chmod 644 run")},
		{"executable bit, staged", script("chmod 755 a; git add a")},
		{"odd permissions", script("chmod 677 a; new=n; chmod 611 new; x=x; chmod 500 x")},
		{"read-only", script("a=changed; chmod 400 a")},
		{"core.fileMode off", script("git config core.fileMode false; chmod 755 a; chmod 644 run; run=changed; new=n; chmod 755 new; rm link; link=file; chmod 755 link")},
		{"core.fileMode off, in git's other words", script("git config core.fileMode 0; new=n; chmod 755 new")},
		{"core.symlinks off", script("git config core.symlinks false; rm link dirlink; link:other target; dirlink:d; ln b newlink")},
		{"symlinks", func(t *testing.T, r *gittest.Repo) {
			edit(t, r, "ln nowhere dangling; ln f/g todir; ln loop loop; ln /etc/hostname absolute")
			symlink(t, r, strings.Repeat("x/", 1000), "long")
		}},
		{"empty files and directories", func(t *testing.T, r *gittest.Repo) {
			edit(t, r, "nothing:; a:; empty=no longer")
			gittest.Must(t, os.MkdirAll(filepath.Join(r.Dir, "hollow/inside"), 0o777))
		}},
		{"assume unchanged", script("git update-index --assume-unchanged a; a=not seen; b=seen")},
		{"skip worktree", script("git update-index --skip-worktree a d/one; rm a; d/one=not seen; b=seen")},
		{"core.ignoreStat", script("git config core.ignoreStat true; a=changed")},
		{"detached", script("git checkout -q --detach; a=changed")},
		{"unborn", script("git checkout -q --orphan other; a=changed")},
		{"unborn, nothing staged", script("git checkout -q --orphan other; git rm -q -r --cached .")},
		{"more than we hash in-process", func(t *testing.T, r *gittest.Repo) {
			for i := range 2 * maxPlainFiles {
				r.Write(fmt.Sprintf("new/%d/%d", i%7, i), fmt.Sprintf("%d\n", i))
			}
			edit(t, r, "a=changed; rm b d; ln f d")
		}},
		{"larger than we hash in-process", func(t *testing.T, r *gittest.Repo) {
			r.Write("a", strings.Repeat("large\n", maxPlainSize/6+1))
		}},
		{"many renames", func(t *testing.T, r *gittest.Repo) {
			for i := range gittest.Size(1500, 150) {
				r.Write(fmt.Sprintf("many/%d", i), fmt.Sprintf("%d\n", i))
			}
			r.Commit("many")
			gittest.Must(t, os.Rename(filepath.Join(r.Dir, "many"), filepath.Join(r.Dir, "moved")))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "partially staged" && tt.name != "untracked" {
				gittest.Check(t)
				gittest.Sample(t)
			}
			r := base(t)
			tt.edit(t, r)
			check(t, r)
			r.Write("d2/later", "later\n") // what was remembered must not get in the way
			sameTree(t, passive(t, r), wantTree(t, r, nil))
		})
	}
}

func TestTakeUnborn(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	check(t, r) // the empty tree
	edit(t, r, "a=1; d/b=2; check; git add d; check")
}

func TestTakeNames(t *testing.T) {
	t.Parallel()
	names := []string{
		"new\nline", "ends\n", "\nstarts", `quo"te`, "apo'strophe", `back\slash`, `\`, "tab\there", "bell\a", "-dash", "--", "--stdin", " space ", "  ",
		"\xff\xfe", "bro\xc3ken", "latin-\xe9", ":(top)x", ":!x", ":/x", "*", "?", "[a]", "**", "!bang", "#hash", "a?b", "{x,y}", "$(x)", "`x`", "%s", "~", "~x",
		"caf\u00e9", "cafe\u0301", "\u202emirror", "\u00a0nbsp", "emoji \U0001f600", "a:b", "HEAD", "refs", "...", "a..b", "..x", "CON", "x.lock", "@{1}", "a b/ c /d ",
		"gitx", ".gitx", ".github/x", "git", strings.Repeat("n", 255), strings.Repeat(strings.Repeat("d", 200)+"/", 10) + "f",
	}
	r := base(t)
	for _, name := range names {
		r.Write(name, "new\n")
	}
	check(t, r) // untracked
	r.Commit("them")
	for _, name := range names {
		r.Write(name, "changed\n")
	}
	edit(t, r, "check; git --literal-pathspecs add -A; check")
	remove(t, r, names...)
	check(t, r)
}

// A path that is too long together with the worktree's, but not by itself, is no
// trouble for git, which works from the top of the worktree.
func TestTakeLongestPath(t *testing.T) {
	t.Parallel()
	r := base(t)
	root, err := os.OpenRoot(r.Dir)
	gittest.Must(t, err)
	defer root.Close()
	dir := strings.Repeat(strings.Repeat("d", 100)+"/", 40)
	gittest.Must(t, root.MkdirAll(dir, 0o777))
	name := dir + strings.Repeat("f", 40)
	gittest.Must(t, root.WriteFile(name, []byte("deep\n"), 0o666))
	defer root.RemoveAll(strings.Repeat("d", 100)) // t.TempDir can't
	if _, err := os.Lstat(filepath.Join(r.Dir, name)); err == nil {
		t.Fatal("the path is not long enough to test anything")
	}
	s := take(t, r, false)
	holds(t, r, s, name, "deep")
}

// Git refuses some names because of what they would mean on another file system.
// A tree that holds one fails git fsck.
func TestTakeRefusedNames(t *testing.T) {
	t.Parallel()
	t.Run("variants of .git", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		var skipped []record.Skip
		for _, name := range []string{
			"git~1", "1/GIT~1/x", ".GIT", "2/.Git/config", "d/.git ", "3/.git.", "4/.git::$INDEX_ALLOCATION", "5/.g\u200cit", "6/.git\\x", "x/.git. . ",
		} {
			r.Write(name, "new\n")
			skipped = append(skipped, record.Skip{Path: name, Why: record.WhyRefused})
		}
		r.Write("other", "new\n")
		check(t, r, skipped...)
	})
	t.Run(".gitmodules as a symlink", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		symlink(t, r, "a", ".gitmodules")
		symlink(t, r, "a", "d/.gitignore") // only bad when it is .gitmodules
		check(t, r, record.Skip{Path: ".gitmodules", Why: record.WhyRefused})
	})
}
