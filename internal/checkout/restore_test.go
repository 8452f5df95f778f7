package checkout_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestRestore goes back and forth between turns with everything in them that a worktree can have.
func TestRestore(t *testing.T) {
	t.Parallel()
	for _, attached := range []bool{false, true} {
		name := "passive"
		if attached {
			name = "attached"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if attached {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			id := lab.Own(c)
			if attached {
				id = l.Start()
			}
			l.Write("x.ignored", "kept\n")
			wants := []lab.Want{
				l.Turn(c, "new", l.Writes("new.txt", "new\n")),
				l.Turn(c, "to a directory", func() { l.Remove("new.txt"); l.Write("new.txt/now", "a directory\n") }),
				l.Turn(c, "back", func() { l.Remove("new.txt"); l.Write("new.txt", "a file\n") }),
				l.Turn(c, "link", func() { l.Remove("kept.txt"); l.Symlink("new.txt", "kept.txt") }),
				l.Turn(c, "mode", func() { l.Chmod("new.txt", 0o755) }),
				l.Turn(c, "odd", l.Writes("odd\n\xffname", "odd\n")),
				l.Turn(c, "nothing left", func() { l.Remove("new.txt"); l.Remove("kept.txt"); l.Remove("dir"); l.Remove("odd\n\xffname") }),
			}
			list := l.Check(id, wants...)
			seen := l.Look()
			for _, n := range []int{1, 7, 4, 2, 3, 6, 5, 1, 2, 1} {
				before := l.Tree()
				done, err := l.Restore(list[n-1], false)
				if err != nil {
					t.Fatalf("restore %d: %v", n, err)
				}
				if got := treeByHand(l); got != wants[n-1].Tree {
					t.Errorf("after restoring turn %d:\n%s", n, l.Git("diff", "--stat", wants[n-1].Tree, got))
				}
				if got := l.TreeOf(done.Present.String()); got != before {
					t.Errorf("what was there before turn %d was restored is not kept", n)
				}
				if _, err := l.Try("merge-base", "--is-ancestor", done.Present.String(), id.Ref()); err != nil {
					t.Errorf("what was there before turn %d was restored is not reachable: %s", n, done.Present)
				}
				if l.Read("x.ignored") != "kept\n" {
					t.Error("an ignored file was changed")
				}
			}
			now := l.Look()
			for _, name := range []string{"index", "HEAD", "logs/HEAD", "git for-each-ref refs/heads refs/tags refs/remotes refs/stash"} {
				if now[name] != seen[name] && !attached {
					t.Errorf("%s was\n%q\nis\n%q", name, seen[name], now[name])
				}
			}
			l.Check(id, wants...)
			l.Fsck()
		})
	}
}

// treeByHand is the worktree as a tree, whatever the index says.
func treeByHand(l *lab.Lab) string {
	l.T.Helper()
	w := l.In(l.Dir)
	w.Env = append(w.Env[:len(w.Env):len(w.Env)], "GIT_INDEX_FILE="+filepath.Join(l.T.TempDir(), "index"))
	w.Git("add", "-A")
	return w.Git("write-tree")
}

// TestRestoreDry changes nothing at all.
func TestRestoreDry(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Turn(c, "two", func() { l.Remove("one.txt"); l.Write("kept.txt", "changed\n") })
	l.Write("users.txt", "the user's\n")
	seen, refs, tree := l.Look(), l.Git("for-each-ref"), l.Tree()
	done, err := l.Restore(l.List(lab.Own(c))[0], true)
	gittest.Must(t, err)
	var paths []string
	for _, change := range done.Changes {
		paths = append(paths, change.Path)
	}
	if strings.Join(paths, " ") != "kept.txt one.txt users.txt" || done.Present != (object.Hash{}) {
		t.Errorf("would change %v, keep %s", paths, done.Present)
	}
	seen.Same(t, l.Look())
	if now := l.Git("for-each-ref"); now != refs || l.Tree() != tree {
		t.Errorf("refs were\n%s\nare\n%s", refs, now)
	}
}

// TestRestoreRefuses: what is in the way stays, and with it everything.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	for name, inTheWay := range map[string]func(l *lab.Lab){
		"ignored file":                    func(l *lab.Lab) { l.Write(".gitignore", "gone.txt\n"); l.Write("gone.txt", "precious\n") },
		"ignored by .git/info/exclude":    func(l *lab.Lab) { l.Write(".git/info/exclude", "gone.txt\n"); l.Write("gone.txt", "precious\n") },
		"ignored file in a directory":     func(l *lab.Lab) { l.Write("gone.txt/x.ignored", "precious\n"); l.Write("gone.txt/y", "y\n") },
		"only ignored files in it":        func(l *lab.Lab) { l.Write("gone.txt/x.ignored", "precious\n") },
		"file where a directory has been": func(l *lab.Lab) { l.Write(".gitignore", "gone\n"); l.Write("gone", "precious\n") },
		"too large": func(l *lab.Lab) {
			l.Capture.MaxFileSize = 4
			l.Write("gone.txt", "precious\n")
		},
		"too large, below a directory": func(l *lab.Lab) {
			l.Capture.MaxFileSize = 4
			l.Write("gone.txt/large", "precious\n")
		},
		"a link out of the repository": func(l *lab.Lab) {
			l.Write("../outside/deep.txt", "precious\n")
			l.Write(".gitignore", "gone\n")
			l.Symlink("../outside", "gone")
		},
		"another repository": func(l *lab.Lab) {
			l.Git("init", "-q", "gone.txt")
			l.Write("gone.txt/file", "precious\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "ignored file" {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			l.Turn(c, "one", func() {
				l.Write("gone.txt", "gone\n")
				l.Write("gone/deep.txt", "deep\n")
				l.Write("kept.txt", "changed\n")
			})
			l.Turn(c, "two", func() { l.Remove("gone.txt"); l.Remove("gone"); l.Write("kept.txt", "kept\n") })
			inTheWay(l)
			before := files(t, filepath.Dir(l.Dir))
			for _, dry := range []bool{true, false} {
				if done, err := l.Restore(l.List(lab.Own(c))[0], dry); err == nil {
					t.Errorf("restored (dry=%t): %+v", dry, done)
				}
				now := files(t, filepath.Dir(l.Dir))
				for path, content := range before {
					if now[path] != content {
						t.Errorf("%s was %q, is %q", path, content, now[path])
					}
				}
			}
		})
	}
}

// files are all files below a directory but those of git.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	gittest.Must(t, err)
	return all
}

// TestRestoreSkipped: what a snapshot leaves out is neither restored nor removed, where it is in
// nobody's way.
func TestRestoreSkipped(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	l.Capture.MaxFileSize = 100
	c := l.Client()
	l.Turn(c, "one", l.Writes("one.txt", "1\n"))
	l.Write("large", strings.Repeat("x", 200))
	l.Write(".env", "PASSWORD=none\n")
	l.Turn(c, "two", func() { l.Remove("one.txt") })
	list := l.List(lab.Own(c))
	if len(list[1].Skipped) != 2 {
		t.Errorf("left out are %+v", list[1].Skipped)
	}
	if _, err := l.Restore(list[0], false); err != nil {
		t.Fatal(err)
	}
	if l.Read("one.txt") != "1\n" || len(l.Read("large")) != 200 || l.Read(".env") != "PASSWORD=none\n" {
		t.Error("something else was changed")
	}
}

// TestRestoreSparse: what a turn has made outside of the patterns of a sparse checkout goes and comes
// as what it has made inside of them.
func TestRestoreSparse(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, kind := range []string{"--cone", "--no-cone", "--sparse-index"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			for _, name := range []string{"in/a", "out/there", "out/absent"} {
				l.Write(name, "committed\n")
			}
			l.Commit("sparse")
			l.Git("sparse-checkout", "set", kind, "in")
			c := l.Client()
			l.Turn(c, "one", l.Writes("in/a", "one\n"))
			l.Turn(c, "two", func() {
				l.Write("in/a", "two\n")
				l.Write("out/new", "new\n")
				l.Write("out/there", "changed\n")
			})
			list, before := l.List(lab.Own(c)), files(t, l.Dir)
			if _, err := l.Restore(list[0], false); err != nil {
				t.Fatal(err)
			}
			for _, step := range []string{"undo", "redo", "undo"} {
				if _, _, err := l.Undo(checkout.Merging{}); err != nil {
					t.Fatalf("%s: %v", step, err)
				}
				now := files(t, l.Dir)
				if step == "redo" {
					if _, there := now[filepath.Join(l.Dir, "out/new")]; there || l.Read("in/a") != "one\n" || l.Read("out/there") != "committed\n" {
						t.Errorf("after the %s there is %v", step, now)
					}
				} else if !maps.Equal(now, before) {
					t.Errorf("after the %s there is %v, want %v", step, now, before)
				}
			}
		})
	}
}

// TestRestoreSubmodule: a submodule that a turn has added goes and comes as a commit, while its directory,
// which git does not remove, stays.
func TestRestoreSubmodule(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	library := gittest.New(t)
	library.Write("file", "library\n")
	library.Commit("library")
	c := l.Client()
	l.Turn(c, "one", l.Writes("one", "1\n"))
	c.Prompt("two")
	l.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.Dir, "sub")
	c.Stop("done")
	list, before := l.List(lab.Own(c)), files(t, l.Dir)
	two := l.TreeOf(list[1].Code.String())
	if got := l.Git("ls-tree", "--format=%(objecttype) %(path)", two, "sub"); got != "commit sub" {
		t.Fatalf("in the tree of the turn there is %q", got)
	}
	if _, err := l.Restore(list[0], false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(l.Dir, ".gitmodules")); err == nil || l.Read("sub/file") != "library\n" {
		t.Error(".gitmodules is still there, or the submodule's own file is not")
	}
	for _, step := range []string{"undo", "redo", "undo"} {
		if _, _, err := l.Undo(checkout.Merging{}); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	if now := files(t, l.Dir); !maps.Equal(now, before) {
		t.Errorf("after the undo there is %v, want %v", now, before)
	}
	if done, err := l.Restore(list[1], true); err != nil || len(done.Changes) > 0 {
		t.Errorf("in what was restored differ %+v, %v", done, err)
	}

	// A file in its place stays in the way.
	if _, err := l.Restore(list[0], false); err != nil {
		t.Fatal(err)
	}
	l.Remove("sub")
	l.Write(".gitignore", "sub\n")
	l.Write("sub", "precious\n")
	if done, err := l.Restore(list[1], false); err == nil || l.Read("sub") != "precious\n" {
		t.Errorf("restored %+v", done)
	}
}

// TestRestoreManyPaths: however many paths are named, the number of processes is the same.
func TestRestoreManyPaths(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	var specs []string
	l.Turn(c, "one", func() {
		for i := range 100 {
			specs = append(specs, fmt.Sprint("many/", i))
			l.Write(specs[i], "one\n")
		}
	})
	l.Turn(c, "two", func() { l.Remove("many"); l.Write("here/a", "two\n") })
	first := l.List(lab.Own(c))[0].After()
	processes := func(dir string, specs ...string) int {
		trace := filepath.Join(t.TempDir(), "trace")
		w := l.Workspace(l.Dir)
		w.Repo = w.Repo.With(git.Env("GIT_TRACE2_EVENT=" + trace))
		only := gitdiff.Paths{Dir: filepath.Join(l.Dir, dir), Specs: specs}
		if _, err := checkout.Restore(t.Context(), w, time.Now(), first, only, checkout.RestorePlan{Dry: true}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(trace)
		gittest.Must(t, err)
		return strings.Count(string(data), `"event":"start"`)
	}
	processes("", specs[0]) // the first one makes an index
	one := processes("", specs[0])
	if many := processes("", specs...); many != one {
		t.Errorf("%d processes for %d paths, %d for one", many, len(specs), one)
	}
	if many := processes("here", "../many", "../many/", ".", "a", "./../kept.txt", ":!b"); many != one+1 {
		t.Errorf("%d processes for paths that are there or here, %d for one", many, one)
	}
	for _, specs := range [][]string{{"many/1*", "many/nothing"}, {"many/1", ":!many", "none"}, {"*.none"}, {"many/1/"}, {"../kept.txt"}} {
		only := gitdiff.Paths{Dir: l.Dir, Specs: specs}
		if done, err := checkout.Restore(t.Context(), l.Workspace(l.Dir), time.Now(), first, only, checkout.RestorePlan{Dry: true}); err == nil {
			t.Errorf("restored %q: %+v", specs, done)
		}
	}
	processes("", "many/1*", ":(glob)**/2?", ":/here", "many/", ":!many/3") // name something
}
