package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/test/gittest"
)

// inside makes a repository in a directory of r's worktree.
func inside(t testing.TB, r *gittest.Repo, dir string, args ...string) *gittest.Repo {
	t.Helper()
	s := r.In(filepath.Join(r.Dir, dir))
	gittest.Must(t, os.MkdirAll(s.Dir, 0o777))
	s.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return s
}

func TestTakeNestedRepositories(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		make    func(t *testing.T, r *gittest.Repo)
		skipped []Skip
	}{
		{"with commits", func(t *testing.T, r *gittest.Repo) {
			s := inside(t, r, "x/nested")
			s.Write("f", "f\n")
			s.Commit("one")
			s.Write("g", "g\n")
		}, []Skip{{Path: "x/nested/", Why: WhyRepository}}},
		{"empty", func(t *testing.T, r *gittest.Repo) { inside(t, r, "nested") }, []Skip{{Path: "nested/", Why: WhyRepository}}},
		{"empty but for files", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "nested").Write("f", "f\n")
		}, []Skip{{Path: "nested/", Why: WhyRepository}}},
		{"linked worktree", func(t *testing.T, r *gittest.Repo) {
			r.Git("worktree", "add", "-q", "-b", "linked", "wt")
			r.In(r.Dir+"/wt").Write("new", "n\n")
		}, []Skip{{Path: "wt/", Why: WhyRepository}}},
		{"bare", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "bare.git", "--bare")
			remove(t, r, "bare.git/hooks")
		}, nil}, // a directory of files like any other
		{".git file that points nowhere", func(t *testing.T, r *gittest.Repo) {
			r.Write("lost/.git", "gitdir: /nowhere/at/all\n")
			r.Write("lost/f", "f\n")
		}, nil},
		{".git file that is none", func(t *testing.T, r *gittest.Repo) {
			r.Write("lost/.git", "hello\n")
			r.Write("lost/f", "f\n")
		}, nil},
		{".git directory that is none", func(t *testing.T, r *gittest.Repo) {
			r.Write("lost/.git/f", "hello\n")
			r.Write("lost/f", "f\n")
		}, nil},
		{"in the place of a tracked directory", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "d")
			r.Write("d/new", "n\n")
		}, nil}, // git goes on tracking what is there
		{"several, among other changes", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "n1").Commit("one")
			inside(t, r, "x/n2")
			r.Write("x/f", "f\n")
			r.Write("a", "changed\n")
			for i := range 2 * maxPlainFiles {
				r.Write("many/"+string(rune('a'+i%26))+string(rune('a'+i/26)), "f\n")
			}
		}, []Skip{{Path: "n1/", Why: WhyRepository}, {Path: "x/n2/", Why: WhyRepository}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gittest.Check(t)
			r := base(t)
			tt.make(t, r)
			check(t, r, tt.skipped...)
		})
	}
}

// A repository in the place of a tracked file: git would make a gitlink of it.
func TestTakeRepositoryForFile(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	remove(t, r, "a")
	inside(t, r, "a").Commit("one")
	want := wantTree(t, r, []Skip{{Path: "a", Why: WhyRepository}}) // still with the file
	for _, publish := range []bool{false, true} {
		s := take(t, r, publish)
		if got := r.Git("diff-tree", "-r", "--name-status", want.String(), s.Tree.String()); got != "D\ta" {
			t.Errorf("the tree differs in %q, want the file gone", got)
		}
		if got, want := s.Skipped, []Skip{{Path: "a/", Why: WhyRepository}}; !slices.Equal(got, want) {
			t.Errorf("skipped %v, want %v", got, want)
		}
	}
	fsck(t, r)
}

func TestTakeSubmodules(t *testing.T) {
	t.Parallel()
	// sub and other are submodules with two commits each.
	setup := func(t *testing.T) *gittest.Repo {
		lib := gittest.New(t)
		lib.Write("f", "f\n")
		lib.Commit("one")
		lib.Write("f", "f2\n")
		lib.Commit("two")
		r := base(t)
		r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "sub")
		r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "o/ther")
		r.Git("commit", "-q", "-m", "submodules")
		return r
	}
	for _, tt := range []struct {
		name    string
		edit    func(t *testing.T, r *gittest.Repo)
		skipped []Skip
	}{
		{"clean", func(t *testing.T, r *gittest.Repo) { r.Write("a", "changed\n") }, nil},
		{"moved", func(t *testing.T, r *gittest.Repo) { r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~") }, nil},
		{"moved and staged", func(t *testing.T, r *gittest.Repo) {
			r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~")
			r.Git("add", "sub")
		}, nil},
		{"dirty", func(t *testing.T, r *gittest.Repo) { r.Write("sub/f", "changed\n") }, []Skip{{Path: "sub", Why: WhySubmodule}}},
		{"dirty, the same size", func(t *testing.T, r *gittest.Repo) { r.Write("sub/f", "g2\n") }, []Skip{{Path: "sub", Why: WhySubmodule}}},
		{"only touched", func(t *testing.T, r *gittest.Repo) { touch(t, r, "sub/f") }, nil},
		{"untracked content", func(t *testing.T, r *gittest.Repo) { r.Write("o/ther/new", "n\n") }, []Skip{{Path: "o/ther", Why: WhySubmodule}}},
		{"moved and dirty", func(t *testing.T, r *gittest.Repo) {
			r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~")
			r.Write("sub/f", "changed\n")
		}, []Skip{{Path: "sub", Why: WhySubmodule}}},
		{"not initialised", func(t *testing.T, r *gittest.Repo) { r.Git("submodule", "--quiet", "deinit", "-f", "sub") }, nil},
		{"directory gone", func(t *testing.T, r *gittest.Repo) { remove(t, r, "sub") }, nil},
		{"removed", func(t *testing.T, r *gittest.Repo) { r.Git("rm", "-q", "sub") }, nil},
		{"removed from the index only", func(t *testing.T, r *gittest.Repo) {
			r.Git("rm", "-q", "--cached", "sub")
		}, []Skip{{Path: "sub/", Why: WhyRepository}}},
		{"replaced by a file", func(t *testing.T, r *gittest.Repo) { remove(t, r, "sub"); r.Write("sub", "file\n") }, nil},
		{"replaced by a directory", func(t *testing.T, r *gittest.Repo) { remove(t, r, "sub"); r.Write("sub/g", "file\n") }, nil},
		{"replaced by a file, staged", func(t *testing.T, r *gittest.Repo) {
			r.Git("rm", "-q", "sub")
			r.Write("sub", "file\n")
			r.Git("add", "sub")
		}, nil},
		{"added, not committed", func(t *testing.T, r *gittest.Repo) {
			r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.Git("config", "submodule.sub.url"), "third")
		}, nil},
		{".gitmodules gone", func(t *testing.T, r *gittest.Repo) {
			remove(t, r, ".gitmodules")
			r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~")
		}, nil},
		{".gitmodules broken", func(t *testing.T, r *gittest.Repo) {
			r.Write(".gitmodules", "[submodule\nnonsense")
			r.Write("a", "changed\n")
		}, nil},
		{"told to be ignored", func(t *testing.T, r *gittest.Repo) {
			r.Git("config", "submodule.sub.ignore", "all")
			r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~")
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "clean" {
				gittest.Check(t)
				gittest.Sample(t)
			}
			r := setup(t)
			tt.edit(t, r)
			check(t, r, tt.skipped...)
		})
	}
	t.Run("seen from inside", func(t *testing.T) {
		t.Parallel()
		r := setup(t)
		s := r.In(r.Dir + "/sub")
		s.Write("f", "changed\n")
		s.Write("new", "n\n")
		check(t, s)
	})
	t.Run("gitlink without .gitmodules", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		s := inside(t, r, "nested")
		s.Commit("one")
		r.Git("-c", "advice.addEmbeddedRepo=false", "add", "nested")
		check(t, r)
		r.Git("commit", "-q", "-m", "gitlink")
		s.Commit("two")
		check(t, r)
	})
}

func TestTakeElsewhere(t *testing.T) {
	t.Parallel()
	// Every case ends in a worktree in which the file a of the last commit can be changed.
	for _, tt := range []struct {
		name string
		make func(t *testing.T) *gittest.Repo
	}{
		{"linked worktree", func(t *testing.T) *gittest.Repo {
			r := base(t)
			dir := filepath.Join(gittest.TempDir(t), "linked")
			r.Git("worktree", "add", "-q", "-b", "linked", dir)
			r.Write("a", "changed in the main worktree\n")
			return r.In(dir)
		}},
		{"linked worktree, extensions.worktreeConfig", func(t *testing.T) *gittest.Repo {
			r := base(t)
			dir := filepath.Join(gittest.TempDir(t), "linked")
			r.Git("worktree", "add", "-q", "-b", "linked", dir)
			r.Git("config", "extensions.worktreeConfig", "true")
			r.In(dir).Git("config", "--worktree", "core.autocrlf", "input")
			r.In(dir).Write("b", "b\r\n")
			return r.In(dir)
		}},
		{"linked worktree of a bare repository", func(t *testing.T) *gittest.Repo {
			r := base(t)
			bare := gittest.New(t, "--bare")
			r.Git("push", "-q", bare.Dir, "main")
			dir := filepath.Join(gittest.TempDir(t), "linked")
			bare.Git("worktree", "add", "-q", dir, "main")
			return bare.In(dir)
		}},
		{"linked worktree of a submodule", func(t *testing.T) *gittest.Repo {
			lib, r := base(t), base(t)
			r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "sub")
			dir := filepath.Join(gittest.TempDir(t), "linked")
			r.In(r.Dir+"/sub").Git("worktree", "add", "-q", "-b", "linked", dir)
			return r.In(dir)
		}},
		{"separate git directory", func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("init", "-q", "--separate-git-dir", filepath.Join(gittest.TempDir(t), "git"))
			return r
		}},
		{"shared clone", func(t *testing.T) *gittest.Repo {
			r := base(t)
			dir := filepath.Join(gittest.TempDir(t), "clone")
			r.Git("clone", "-q", "--shared", r.Dir, dir)
			return r.In(dir)
		}},
		{"shallow clone", func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Commit("two")
			dir := filepath.Join(gittest.TempDir(t), "clone")
			r.Git("clone", "-q", "--depth=1", "file://"+r.Dir, dir)
			return r.In(dir)
		}},
		{"a directory with a symlink on the way", func(t *testing.T) *gittest.Repo {
			r := base(t)
			link := filepath.Join(gittest.TempDir(t), "link")
			gittest.Must(t, os.Symlink(r.Dir, link))
			return r.In(link)
		}},
		{"packed", func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("gc", "-q", "--prune=now")
			return r
		}},
		{"core.worktree that says what is so anyway", func(t *testing.T) *gittest.Repo {
			r := base(t)
			r.Git("config", "core.worktree", "..")
			return r
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gittest.Check(t)
			gittest.Sample(t)
			r := tt.make(t)
			check(t, r)
			r.Write("a", "changed\n")
			r.Write("d/new", "n\n")
			check(t, r)
		})
	}
}
