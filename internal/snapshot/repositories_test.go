package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"gitagent/internal/record"
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
		skipped []record.Skip
	}{
		{"with commits", func(t *testing.T, r *gittest.Repo) {
			s := inside(t, r, "x/nested")
			edit(t, s, "f=f; commit one; g=g")
		}, []record.Skip{{Path: "x/nested/", Why: record.WhyRepository}}},
		{"empty", func(t *testing.T, r *gittest.Repo) { inside(t, r, "nested") }, []record.Skip{{Path: "nested/", Why: record.WhyRepository}}},
		{"empty but for files", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "nested").Write("f", "f\n")
		}, []record.Skip{{Path: "nested/", Why: record.WhyRepository}}},
		{"bare", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "bare.git", "--bare")
			remove(t, r, "bare.git/hooks")
		}, nil}, // a directory of files like any other
		{".git file that points nowhere", script("lost/.git=gitdir: /nowhere/at/all; lost/f=f"), nil},
		{".git file that is none", script("lost/.git=hello; lost/f=f"), nil},
		{".git directory that is none", script("lost/.git/f=hello; lost/f=f"), nil},
		{"in the place of a tracked directory", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "d")
			r.Write("d/new", "n\n")
		}, nil}, // git goes on tracking what is there
		{"several, among other changes", func(t *testing.T, r *gittest.Repo) {
			inside(t, r, "n1").Commit("one")
			inside(t, r, "x/n2")
			edit(t, r, "x/f=f; a=changed")
			for i := range 2 * maxPlainFiles {
				r.Write("many/"+string(rune('a'+i%26))+string(rune('a'+i/26)), "f\n")
			}
		}, []record.Skip{{Path: "n1/", Why: record.WhyRepository}, {Path: "x/n2/", Why: record.WhyRepository}}},
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

// Another worktree of the repository is no part of this one, and not left out: turns have it as what it is.
func TestTakeWorktreeBelow(t *testing.T) {
	t.Parallel()
	r := base(t)
	r.Git("worktree", "add", "-q", "-b", "linked", "wt")
	r.In(r.Dir+"/wt").Write("new", "n\n")
	want := wantTree(t, r, []record.Skip{{Path: "wt/"}})
	s := take(t, r, false)
	if sameTree(t, s, want); len(s.Skipped) > 0 {
		t.Errorf("skipped %v", s.Skipped)
	}
}

// A repository in the place of a tracked file: git would make a gitlink of it.
func TestTakeRepositoryForFile(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	remove(t, r, "a")
	inside(t, r, "a").Commit("one")
	want := wantTree(t, r, []record.Skip{{Path: "a", Why: record.WhyRepository}}) // still with the file
	for _, publish := range []bool{false, true} {
		s := take(t, r, publish)
		r.Says("D\ta", "diff-tree", "-r", "--name-status", want.String(), s.Tree.String()) // the file is gone
		skips(t, s, record.Skip{Path: "a/", Why: record.WhyRepository})
	}
	fsck(t, r)
}

func TestTakeSubmodules(t *testing.T) {
	t.Parallel()
	// sub and other are submodules with two commits each.
	setup := func(t *testing.T) *gittest.Repo {
		lib := gittest.New(t)
		edit(t, lib, "f=f; commit one; f=f2; commit two")
		r := base(t)
		r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "sub")
		r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Dir, "o/ther")
		r.Git("commit", "-q", "-m", "submodules")
		return r
	}
	for _, tt := range []struct {
		name    string
		edit    func(t *testing.T, r *gittest.Repo)
		skipped []record.Skip
	}{
		{"clean", script("a=changed"), nil},
		{"moved", func(t *testing.T, r *gittest.Repo) { r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~") }, nil},
		{"moved and staged", func(t *testing.T, r *gittest.Repo) {
			r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~")
			r.Git("add", "sub")
		}, nil},
		{"dirty", script("sub/f=changed"), []record.Skip{{Path: "sub", Why: record.WhySubmodule}}},
		{"dirty, the same size", script("sub/f=g2"), []record.Skip{{Path: "sub", Why: record.WhySubmodule}}},
		{"only touched", script("touch sub/f"), nil},
		{"untracked content", script("o/ther/new=n"), []record.Skip{{Path: "o/ther", Why: record.WhySubmodule}}},
		{"moved and dirty", func(t *testing.T, r *gittest.Repo) {
			r.In(r.Dir+"/sub").Git("checkout", "-q", "HEAD~")
			r.Write("sub/f", "changed\n")
		}, []record.Skip{{Path: "sub", Why: record.WhySubmodule}}},
		{"not initialised", script("git submodule --quiet deinit -f sub"), nil},
		{"directory gone", script("rm sub"), nil},
		{"removed", script("git rm -q sub"), nil},
		{"removed from the index only", script("git rm -q --cached sub"), []record.Skip{{Path: "sub/", Why: record.WhyRepository}}},
		{"replaced by a file", script("rm sub; sub=file"), nil},
		{"replaced by a directory", script("rm sub; sub/g=file"), nil},
		{"replaced by a file, staged", script("git rm -q sub; sub=file; git add sub"), nil},
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
		edit(t, s, "f=changed; new=n; check")
	})
	t.Run("gitlink without .gitmodules", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		s := inside(t, r, "nested")
		s.Commit("one")
		edit(t, r, "git -c advice.addEmbeddedRepo=false add nested; check; git commit -q -m gitlink")
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
			edit(t, r, "check; a=changed; d/new=n; check")
		})
	}
}
