package copyignored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// copied copies what the patterns name to a worktree, and returns what that has got.
func copied(t *testing.T, r *gittest.Repo, prepare func(top string), patterns ...string) (got []string, done *Copied, top string) {
	t.Helper()
	files := find(t, r, patterns...)
	to := worktree(t, r)
	if prepare != nil {
		prepare(to.Top)
	}
	before := tree(t, to.Top)
	told := Amount{}
	done, err := files.Copy(context.Background(), to, func(a Amount) { told = a })
	gittest.Must(t, err)
	if told.Files < done.Files || told.Bytes < done.Bytes {
		t.Errorf("told %v, copied %v", told, done.Amount)
	}
	return compare(before, tree(t, to.Top)), done, to.Top
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

func TestCopy(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".gitignore", ".env\ndeps/\n")
	r.Do("pkg/main.c:; commit one")
	write(t, r, ".env", "pkg/.env", "deps/a/run", "deps/a/secret", "deps/a/closed/x", "deps/empty/")
	r.Write("deps/nothing", "")
	r.Write("deps/big", strings.Repeat("0123456789", 300_000))
	then := time.Date(2020, 2, 3, 4, 5, 6, 789_000_000, time.UTC)
	for name, mode := range map[string]fs.FileMode{
		"deps/a/run": 0o755, "deps/a/secret": 0o400, ".env": 0o600, "deps/a/closed/x": 0o444, "deps/a/closed": 0o555, "deps/a": 0o750,
	} {
		gittest.Must(t, os.Chmod(filepath.Join(r.Dir, name), mode))
	}
	for i, name := range []string{"deps/a/run", "deps/a/closed", "deps/a", "deps", ".env"} {
		gittest.Must(t, os.Chtimes(filepath.Join(r.Dir, name), then, then.Add(time.Duration(i)*time.Hour)))
	}
	got, done, top := copied(t, r, nil, ".env", "deps/")
	t.Cleanup(func() {
		for _, dir := range []string{r.Dir, top} {
			_ = os.Chmod(filepath.Join(dir, "deps/a/closed"), 0o777)
		}
	})
	want(t, "files", got, []string{
		".env", "deps", "deps/a", "deps/a/closed", "deps/a/closed/x", "deps/a/run", "deps/a/secret", "deps/big", "deps/nothing", "pkg/.env",
	})
	want(t, "left", reasons(done.Skipped), nil)
	if done.Files != 7 || done.Amount != find(t, r, ".env", "deps/").Amount() {
		t.Errorf("copied %v", done.Amount)
	}
	for _, name := range got {
		a, err := os.Lstat(filepath.Join(r.Dir, name))
		b, err2 := os.Lstat(filepath.Join(top, name))
		gittest.Must(t, errors.Join(err, err2))
		if runtime.GOOS != "windows" && a.Mode() != b.Mode() {
			t.Errorf("%s: mode %v, want %v", name, b.Mode(), a.Mode())
		}
		if !a.ModTime().Equal(b.ModTime()) {
			t.Errorf("%s: time %v, want %v", name, b.ModTime(), a.ModTime())
		}
		if a.IsDir() {
			continue
		}
		x, err := os.ReadFile(filepath.Join(r.Dir, name))
		y, err2 := os.ReadFile(filepath.Join(top, name))
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s has another content, or %v", name, err)
		}
	}
	if status := r.In(top).Git("status", "--porcelain", "--untracked-files=all"); status != "" {
		t.Errorf("status:\n%s", status)
	}
}

// What the new worktree does not ignore, tracks or has already is left out.
func TestCopyWhatIsIgnoredThere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                 string
		at                   map[string]string // the commit of the new worktree
		prepare              func(t *testing.T, top string)
		ignore               string // in the checkout, later
		give, want, wantLeft []string
	}{
		{
			name: "not ignored", ignore: ".env\ndeps/\n", give: []string{".env", "deps/a", "deps/b"},
			at: map[string]string{".gitignore": ".env\n"}, want: []string{".env"},
			wantLeft: []string{"deps/: " + whyNotIgnored},
		},
		{
			name: "some ignored", ignore: "deps/\n", give: []string{"deps/a", "deps/b/c"},
			at: map[string]string{".gitignore": "deps/*\n!deps/a\n"}, want: []string{"deps", "deps/b", "deps/b/c"},
			wantLeft: []string{"deps/a: " + whyNotIgnored},
		},
		{
			name: "tracked", ignore: "x\ndeps/\n", give: []string{"x", "deps/a", "deps/b"},
			at: map[string]string{".gitignore": "x\ndeps/\n", "x": "theirs", "deps/b": "theirs"}, want: []string{"deps/a"},
			wantLeft: []string{"deps/b: " + whyTracked, "x: " + whyTracked},
		},
		{
			name: "a file for a directory, and the other way", ignore: "x\ny\n", give: []string{"x/1", "y"},
			at:       map[string]string{".gitignore": "x\ny\n", "x": "theirs", "y/1": "theirs"},
			wantLeft: []string{"x/1: " + whyInTheWay, "y: " + whyTracked},
		},
		{
			name: "there already", ignore: "x\n", give: []string{"x", "a/x"}, at: map[string]string{".gitignore": "x\n"},
			prepare: func(t *testing.T, top string) { put(t, filepath.Join(top, "x"), "theirs") },
			want:    []string{"a", "a/x"}, wantLeft: []string{"x: " + whyThere},
		},
		{
			name: "a link in the way", ignore: "deps\n", give: []string{"deps/a", "z/deps/a"}, at: map[string]string{".gitignore": "deps\n"},
			prepare: func(t *testing.T, top string) {
				gittest.Must(t, errors.Join(os.Mkdir(filepath.Join(top, "out"), 0o777), os.Symlink("out", filepath.Join(top, "deps")),
					os.Symlink(t.TempDir(), filepath.Join(top, "z"))))
			},
			wantLeft: []string{"deps/a: " + whyInTheWay, "z/deps/a: " + whyInTheWay},
		},
		{
			name: "a repository in the way", ignore: "deps\n", give: []string{"deps/a"}, at: map[string]string{".gitignore": "deps\n"},
			prepare:  func(t *testing.T, top string) { put(t, filepath.Join(top, "deps/.git"), "gitdir: nowhere") },
			wantLeft: []string{"deps/a: " + whyInTheWay},
		},
		{
			name: "an ignore file among what is copied", ignore: "*.o\n.gitignore\n", give: []string{"d/a.o", "d/b.o", "e/.gitignore"},
			at: map[string]string{".gitignore": "*.o\n.gitignore\n"}, want: []string{"d", "d/a.o", "d/b.o", "e", "e/.gitignore"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			for name, content := range tt.at {
				r.Write(name, content)
			}
			r.Do("git add -f .; git commit -qm there")
			fork := worktree(t, r)
			r.Git("rm", "-rfq", ".")
			r.Write(".gitignore", tt.ignore)
			r.Do("git add -f .gitignore; git commit -qm here --allow-empty")
			write(t, r, tt.give...)
			if tt.prepare != nil {
				tt.prepare(t, fork.Top)
			}
			before := tree(t, fork.Top)
			done, err := find(t, r, "*").Copy(context.Background(), fork, nil)
			gittest.Must(t, err)
			want(t, "files", compare(before, tree(t, fork.Top)), tt.want)
			want(t, "left", reasons(done.Skipped), tt.wantLeft)
			for name, content := range tt.at {
				if got := r.In(fork.Top).Read(name); got != content {
					t.Errorf("%s has %q, want %q", name, got, content)
				}
			}
			if status := r.In(fork.Top).Git("status", "--porcelain", "--", ":!out", ":!z"); status != "" {
				t.Errorf("status:\n%s", status)
			}
		})
	}
}

func put(t *testing.T, file, content string) {
	t.Helper()
	gittest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(content), 0o666)))
}

// A .gitignore that comes along may take a file out of what is ignored.
func TestCopyTakesBack(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".gitignore", ".gitignore\n*.o\n")
	r.Do("git add -f .; git commit -qm there")
	fork := worktree(t, r)
	r.Write(".git/info/exclude", "")
	r.Write(".gitignore", "d/\n") // as a whole: what is in d can't say otherwise
	r.Write("d/.gitignore", "!*.o\n")
	write(t, r, "d/a.o", "d/b.o")
	done, err := find(t, r, "d").Copy(context.Background(), fork, nil)
	gittest.Must(t, err)
	want(t, "files", compare(map[string]fs.FileInfo{".gitignore": nil}, tree(t, fork.Top)), []string{"d", "d/.gitignore"})
	want(t, "left", reasons(done.Skipped), []string{"d/a.o: " + whyNotIgnored, "d/b.o: " + whyNotIgnored})
	if done.Amount != (Amount{1, 5}) {
		t.Errorf("copied %v", done.Amount)
	}
}

// A sparse worktree lacks what it tracks, and a submodule is a place of its own.
func TestCopySparse(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".gitignore", "x\ndeps\n")
	write(t, r, "a/x", "b/main.c")
	r.Git("add", "-f", ".")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+gittest.Hash("1234567890")+",deps")
	r.Git("commit", "-qm", "there")
	fork := worktree(t, r)
	in := r.In(fork.Top)
	in.Git("sparse-checkout", "set", "--no-cone", "/b", "/.gitignore")
	r.Git("rm", "-rfq", "--cached", "a", "deps")
	_ = os.Remove(filepath.Join(r.Dir, "deps"))
	write(t, r, "deps/1", "b/x")
	done, err := find(t, r, "*").Copy(context.Background(), fork, nil)
	gittest.Must(t, err)
	want(t, "left", reasons(done.Skipped), []string{"a/x: " + whyTracked, "deps/1: " + whyInTheWay})
	if got := in.Read("b/x"); got != "content of b/x" {
		t.Errorf("b/x has %q", got)
	}
}

func TestCopyLinks(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".gitignore", "deps/\nabs\n")
	write(t, r, "src/main.c", "tree-out -> ../../outside", "tree-in -> src")
	r.Commit("one")
	outside := filepath.Join(filepath.Dir(r.Dir), "outside")
	put(t, filepath.Join(outside, "secret"), "secret")
	write(t, r, "deps/.pnpm/a@1/node_modules/a/index.js", "deps/a -> .pnpm/a@1/node_modules/a", "deps/.bin/a -> ../a/index.js",
		"deps/src -> ../src/main.c", "deps/top -> ..", "deps/nothing -> ./not-there", "deps/through -> ../tree-in/main.c",
		"abs -> "+r.Dir+"/src", "deps/out -> ../../outside/secret", "deps/far -> ../../../../../../../../etc/passwd",
		"deps/by-name -> ../../"+filepath.Base(r.Dir)+"/src", "deps/git -> ../.git/config", "deps/through-out -> ../tree-out/secret",
		"deps/through-copy -> up/outside/secret", "deps/up -> ../..", "deps/loop -> loop")
	got, done, top := copied(t, r, nil, "deps/", "abs")
	want(t, "files", got, []string{
		"deps", "deps/.bin", "deps/.bin/a", "deps/.pnpm", "deps/.pnpm/a@1", "deps/.pnpm/a@1/node_modules", "deps/.pnpm/a@1/node_modules/a",
		"deps/.pnpm/a@1/node_modules/a/index.js", "deps/a", "deps/nothing", "deps/src", "deps/through", "deps/through-copy", "deps/top",
	})
	want(t, "left", reasons(done.Skipped), []string{
		"abs: " + whyAbsolute, "deps/by-name: " + whyOut, "deps/far: " + whyOut, "deps/git: " + whyOut, "deps/loop: " + whyOut,
		"deps/out: " + whyOut, "deps/through-out: " + whyOut, "deps/up: " + whyOut,
	})
	if got := r.In(top).Read("deps/.bin/a"); got != "content of deps/.pnpm/a@1/node_modules/a/index.js" {
		t.Errorf("deps/.bin/a leads to %q", got)
	}
	if target, err := os.Readlink(filepath.Join(top, "deps/a")); target != ".pnpm/a@1/node_modules/a" {
		t.Errorf("deps/a leads to %q, %v", target, err)
	}
}

// Worktrees and other repositories in an ignored directory stay where they are, the new one above all.
func TestRepositoriesInside(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write(".gitignore", ".worktrees/\ndeps/\n.store/\nlone/\n")
	r.Commit("one")
	write(t, r, ".worktrees/note", "deps/a")
	for _, dir := range []string{"one", "two"} {
		r.Git("worktree", "add", "-q", filepath.Join(r.Dir, ".worktrees", dir))
	}
	r.Git("clone", "-q", r.Dir, filepath.Join(r.Dir, "deps/vendor/clone"))
	r.Git("clone", "-q", "--bare", r.Dir, filepath.Join(r.Dir, ".store/bare"))
	r.Git("init", "-q", filepath.Join(r.Dir, "lone"))
	write(t, r, "deps/.GIT/config", "deps/git~1", ".worktrees/one/x")
	files := find(t, r, "*")
	want(t, "files", files.paths(), []string{".worktrees/note", "deps/a"})
	fork := filepath.Join(r.Dir, ".worktrees", "fork")
	r.Git("worktree", "add", "-q", fork)
	done, err := files.Copy(context.Background(), open(t, fork), nil)
	gittest.Must(t, err)
	left := []string{
		".store/bare/: " + whyRepository, ".worktrees/one/: " + whyRepository, ".worktrees/two/: " + whyRepository,
		"deps/.GIT: " + whyName, "deps/git~1: " + whyName, "deps/vendor/clone/: " + whyRepository, "lone/: " + whyRepository,
	}
	want(t, "left", reasons(done.Skipped), left)
	again := find(t, r, "*")
	want(t, "files, with the fork", again.paths(), []string{".worktrees/note", "deps/a"})
}

// What changes in the checkout meanwhile is left out; what was found stays as it was.
func TestChangesMeanwhile(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Do(".gitignore=deps/; commit one")
	write(t, r, "deps/gone", "deps/grows", "deps/link", "deps/dir/x", "deps/moved/x", "deps/now-dir", "deps/stays", "other/x")
	files := find(t, r, "deps")
	in := func(name string) string { return filepath.Join(r.Dir, "deps", name) }
	put(t, in("grows"), "now it is longer than before")
	err := errors.Join(os.Remove(in("gone")), os.Remove(in("link")), os.Symlink("stays", in("link")), os.RemoveAll(in("dir")),
		os.RemoveAll(in("moved")), os.Symlink("../other", in("moved")), os.Remove(in("now-dir")), os.Mkdir(in("now-dir"), 0o777))
	gittest.Must(t, err)
	to := worktree(t, r)
	before := tree(t, to.Top)
	done, err := files.Copy(context.Background(), to, nil)
	gittest.Must(t, err)
	want(t, "files", compare(before, tree(t, to.Top)), []string{"deps", "deps/grows", "deps/stays"})
	want(t, "left", reasons(done.Skipped), []string{
		"deps/dir/x: " + whyGone, "deps/gone: " + whyGone, "deps/link: " + whyGone, "deps/moved/x: " + whyGone, "deps/now-dir: " + whyGone,
	})
	if done.Bytes != int64(len("now it is longer than before")+len("content of deps/stays")) {
		t.Errorf("copied %v", done.Amount)
	}
}

// Names that are magic to git, or to nobody, are names.
func TestOddNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the names need a Linux file system")
	}
	r := gittest.New(t)
	names := []string{":(glob)x", ":x", "-x", "new\nline", "quote\"", "back\\slash", "star*", "[x]", "\xff\xfe", " space ", "a/:(top)y", "a/..x", "é/é"}
	r.Write(".gitignore", "*\n!.gitignore\n")
	r.Do("git add -f .gitignore; git commit -qm one")
	write(t, r, names...)
	got, done, _ := copied(t, r, nil, "*")
	slices.Sort(got)
	want(t, "files", slices.DeleteFunc(got, func(name string) bool { return name == "a" || name == "é" }), slices.Sorted(slices.Values(names)))
	want(t, "left", reasons(done.Skipped), nil)
}

// A fork gets all or an error, and one list serves several.
func TestCancel(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Do(".gitignore=deps/; commit one")
	for i := range 600 {
		r.Write(fmt.Sprintf("deps/%d", i), "x")
	}
	files := find(t, r, "deps")
	to := worktree(t, r)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	told := 0
	_, err := files.Copy(ctx, to, func(a Amount) {
		if told++; a.Files != told {
			t.Errorf("told %v at the %dth time", a, told)
		}
		if told == 20 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || told >= 600 {
		t.Errorf("cancelled: %v after %d files", err, told)
	}
	gittest.Must(t, os.RemoveAll(filepath.Join(to.Top, "deps")))
	done, err := files.Copy(context.Background(), to, nil)
	if err != nil || done.Files != 600 {
		t.Errorf("again: %v, %v", done, err)
	}
	if _, err := Find(ctx, open(t, r.Dir), []string{"deps"}, plenty); !errors.Is(err, context.Canceled) {
		t.Errorf("find: %v", err)
	}
}

// TestCancelDirs: directories may be many, too, and none is made after the user has given up.
func TestCancelDirs(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	put(t, filepath.Join(from, "a/file"), "x")
	c := new(copier)
	for root, dir := range map[**os.Root]string{&c.from: from, &c.to: to} {
		var err error
		*root, err = os.OpenRoot(dir)
		gittest.Must(t, err)
		defer (*root).Close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.makeDirs(ctx, []dir{{path: "a", files: []file{{name: "file"}}}})
	if entries, _ := os.ReadDir(to); !errors.Is(err, context.Canceled) || len(entries) > 0 {
		t.Errorf("made %v, %v", entries, err)
	}
}
