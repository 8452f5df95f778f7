package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func TestTakeSparse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		set  []string
	}{
		{"cone", []string{"sparse-checkout", "set", "--cone", "d"}},
		{"not cone", []string{"sparse-checkout", "set", "--no-cone", "/a", "/d/", "!/d/e/"}},
		{"sparse index", []string{"sparse-checkout", "set", "--cone", "--sparse-index", "d"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "cone" {
				gittest.Check(t)
				gittest.Sample(t)
			}
			r := base(t)
			edit(t, r, "d/.gitattributes=*.txt text; f/.gitattributes=*.txt text; commit attributes")
			check(t, r) // a private index of the full checkout
			r.Git(tt.set...)
			edit(t, r, "check; a=changed; d/one=changed")
			r.Write("d/x.txt", "new\r\n")
			edit(t, r, "check; f/new=outside, untracked")
			r.Write("f/x.txt", "outside, with the attributes of a file that is not checked out\r\n")
			edit(t, r, "check; rm f; git sparse-checkout add f; check; f/g/h/i=changed")
			edit(t, r, "git sparse-checkout disable; d/e/three=changed; check")
			r.Git("config", "--worktree", "core.sparseCheckout", "true") // by hand, as one did it once
			check(t, r)
			r.Write(".git/info/sparse-checkout", "/*\n!/d/e/\n")
			edit(t, r, "git sparse-checkout reapply; check; d/two=changed; check; git commit -q -a -m sparse")
			check(t, r)
		})
	}
	t.Run("present despite being skipped", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		edit(t, r, "git sparse-checkout set --cone d; f/g/h/i=written all the same; check")
	})
}

func TestTakeSplitIndex(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name   string
		config []string
	}{
		{"once", nil},
		{"core.splitIndex", []string{"core.splitIndex", "true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			setConfig(t, r, tt.config...)
			edit(t, r, "git update-index --split-index; check; a=changed; git add a; b=changed; check")
		})
	}
	t.Run("shared index gone", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		edit(t, r, "git update-index --split-index; a=changed; new=n")
		want := wantTree(t, r, nil)
		shared, err := filepath.Glob(filepath.Join(r.Dir, ".git/sharedindex.*"))
		if err != nil || len(shared) != 1 {
			t.Fatal(shared, err)
		}
		gittest.Must(t, os.Remove(shared[0]))
		sameTree(t, passive(t, r), want)
	})
}

func TestTakeBrokenIndex(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	setup := func(t *testing.T) *gittest.Repo {
		r := base(t)
		edit(t, r, "kept.o=tracked, though ignored; git add -f kept.o; commit ignored; a=changed; new=n")
		remove(t, r, "b")
		return r
	}
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		r := setup(t)
		want := wantTree(t, r, nil)
		remove(t, r, ".git/index")
		for range 2 {
			sameTree(t, passive(t, r), want)
		}
	})
	t.Run("deleted between two snapshots", func(t *testing.T) {
		t.Parallel()
		r := setup(t)
		want := wantTree(t, r, nil)
		take(t, r, false)
		remove(t, r, ".git/index")
		sameTree(t, passive(t, r), want)
	})
	t.Run("garbage", func(t *testing.T) {
		t.Parallel()
		r := setup(t)
		want := wantTree(t, r, nil)
		r.Write(".git/index", "DIRC garbage")
		s := passive(t, r)
		sameTree(t, s, want)
	})
	t.Run("the private one is garbage", func(t *testing.T) {
		t.Parallel()
		r := setup(t)
		edit(t, r, "check; .git/agent/index:DIRC garbage; check; .git/agent/index.origin:garbage; check")
	})
	t.Run("deleted in a sparse checkout", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		edit(t, r, "git sparse-checkout set --cone d; rm .git/index")
		if s, err := tryTake(t, r, nil); err == nil { // else f would look deleted
			t.Errorf("tree %s, want an error", s.Tree)
		}
	})
	t.Run("not checked out", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		dir := filepath.Join(gittest.TempDir(t), "clone")
		r.Git("clone", "-q", "--no-checkout", r.Dir, dir)
		c := r.In(dir)
		if s := passive(t, c); s.Tree.String() != r.Git("hash-object", "-t", "tree", "/dev/null") {
			t.Errorf("tree %s, want the empty one: there are no files", s.Tree)
		}
	})
}

// A file of the same size, written within the tick in which the index was written:
// only the index's own time tells git that it can't trust what it knows of the file.
func TestTakeRacy(t *testing.T) {
	t.Parallel()
	r := base(t)
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	set := func(name string) {
		t.Helper()
		gittest.Must(t, os.Chtimes(filepath.Join(r.Dir, name), at, at))
	}
	r.Git("config", "core.trustctime", "false") // what else tells the two files apart
	edit(t, r, "git config core.checkStat minimal; a=old")
	set("a")
	r.Git("add", "a")
	set(".git/index")
	r.Write("a", "new\n")
	set("a")
	s := take(t, r, false)
	holds(t, r, s, "a", "new")
	set(".git/agent/index") // and within the tick of the private index
	r.Write("a", "two\n")
	set("a")
	s = take(t, r, false)
	holds(t, r, s, "a", "two")
	take(t, r, true)
	set(".git/agent/index")
	r.Write("a", "six\n")
	set("a")
	s = take(t, r, true)
	holds(t, r, s, "a", "six")
}

// The private index may refer to objects that nothing else does. The oracle would
// bring them back, so it is asked before they are collected.
func TestTakeAfterGC(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	many := func(t *testing.T, r *gittest.Repo) {
		for i := range maxPlainFiles + 1 {
			r.Write("new/"+string(rune('A'+i)), string(rune('A'+i)))
		}
		r.Write("a", "changed\n")
	}
	few := script("a=changed; new=n")
	for _, tt := range []struct {
		name          string
		edit          func(t *testing.T, r *gittest.Repo)
		before, after bool // whether the snapshots before and after the collection are for publishing
	}{
		{"many files", many, false, false},
		{"few files through git, then in-process", few, true, false},
		{"for publishing", few, true, true},
		{"many files, then for publishing", many, false, true},
		{"staged by the user", func(t *testing.T, r *gittest.Repo) { many(t, r); r.Git("add", "-A") }, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			tt.edit(t, r)
			want := wantTree(t, r, nil)
			take(t, r, tt.before)
			r.Git("gc", "-q", "--prune=now")
			for range 2 {
				s := take(t, r, tt.after)
				sameTree(t, s, want)
				r.Git("rev-list", "--objects", "--quiet", s.Tree.String()) // fails if one is missing
			}
		})
	}
}

func TestTakeBranchSwitch(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	edit(t, r, "git checkout -q -b other; a=other; only/other=o; rm d; commit other")
	edit(t, r, "git checkout -q main; check; b=changed; check; git checkout -q other; check")
	edit(t, r, "git reset -q --soft main; check; git reset -q --mixed main; check")
	edit(t, r, "git reset -q --hard main; check")
	r.Git("symbolic-ref", "HEAD", "refs/heads/other") // the index is another branch's
	check(t, r)
}

func TestTakeConflicts(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	// setup makes branches that disagree in every way that there is.
	setup := func(t *testing.T) *gittest.Repo {
		r := base(t)
		for _, name := range []string{"both", "we-delete", "they-delete", "mode", "type", "renamed"} {
			r.Write(name, name+"\n1\n2\n3\n")
		}
		edit(t, r, "commit before; git checkout -q -b other")
		for _, name := range []string{"both", "we-delete", "mode", "renamed"} {
			r.Write(name, "other\n")
		}
		edit(t, r, "rm they-delete type; ln other type; added=by other; dir-file=a file in other")
		edit(t, r, "commit other; git checkout -q main")
		for _, name := range []string{"both", "they-delete", "mode", "type"} {
			r.Write(name, "main\n")
		}
		edit(t, r, "chmod 755 mode; git mv renamed renamed-by-main; rm we-delete; added=by main")
		edit(t, r, "dir-file/x=a directory in main; commit main")
		return r
	}
	stop := func(t *testing.T, r *gittest.Repo, args ...string) {
		t.Helper()
		if out, err := r.Try(args...); err == nil {
			t.Fatalf("git %v went through: %s", args, out)
		}
	}
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"merge", []string{"merge", "other"}},
		{"rebase", []string{"rebase", "other"}},
		{"rebase with the apply backend", []string{"rebase", "--apply", "other"}},
		{"cherry-pick", []string{"cherry-pick", "other"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			r := setup(t)
			stop(t, r, tt.args...)
			edit(t, r, "check; rm both added they-delete; mode=resolved; check; git add mode; check")
			edit(t, r, "git config core.fileMode false; chmod 755 mode; both=resolved; chmod 755 both; check")
		})
	}
	t.Run("stash", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		edit(t, r, "a=stashed; git stash -q; a=other; commit other")
		stop(t, r, "stash", "pop")
		check(t, r)
	})
	t.Run("submodule", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		s := inside(t, r, "sub")
		s.Commit("one")
		edit(t, r, "git -c advice.addEmbeddedRepo=false add sub; git commit -q -m sub")
		r.Git("checkout", "-q", "-b", "other")
		edit(t, s, "git checkout -q -b x; commit x")
		edit(t, r, "git commit -q -a -m x; git checkout -q main")
		edit(t, s, "git checkout -q main; commit y")
		r.Git("commit", "-q", "-a", "-m", "y")
		stop(t, r, "merge", "other")
		check(t, r)
	})
}

func TestTakePartialClone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			origin := base(t)
			edit(t, origin, "a=second; d/two=second; commit two")
			setConfig(t, origin, "uploadpack.allowFilter", "true", "uploadpack.allowAnySHA1InWant", "true")
			dir := filepath.Join(gittest.TempDir(t), "clone")
			origin.Git("clone", "-q", "--filter="+filter, "file://"+origin.Dir, dir)
			r := origin.In(dir)
			edit(t, r, "check; b=changed; rm d/one; check; git checkout -q -- .; a=changed")
			// The index refers to a blob that was never fetched, and the file is just that.
			r.Write("d/two", "2\n")
			two := object.NewHash(gittest.Hash("1")).Format().Object(plumbing.BlobObject, []byte("2\n")).String()
			r.Git("update-index", "--cacheinfo", "100644,"+two+",d/two")
			offline := *r
			offline.Env = append(slices.Clone(r.Env), "GIT_NO_LAZY_FETCH=1")
			if _, err := offline.Try("cat-file", "-e", two); err == nil {
				t.Fatal("the blob is there, so this tests nothing")
			}
			for _, publish := range []bool{false, true, false} {
				s := take(t, r, publish)
				r.Says(two, "rev-parse", s.Tree.String()+":d/two")
			}
			if _, err := offline.Try("cat-file", "-e", two); err == nil {
				t.Error("the blob was fetched")
			}
		})
	}
}

// What git replace says of HEAD must not mix with what HEAD is.
func TestTakeReplaced(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, pack := range map[string]bool{"loose": false, "packed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			first := r.Git("rev-parse", "HEAD")
			edit(t, r, "a=second; rm b")
			second := r.Commit("two")
			if pack {
				r.Git("gc", "-q")
			}
			r.Git("replace", second, first)
			check(t, r)
			r.Git("reset", "-q", "--hard") // to the tree of the first
			edit(t, r, "check; d/new=n; check")
			r.Git("replace", "-d", second)
			r.Git("replace", "--graft", second)
			check(t, r)
		})
	}
}

func TestTakeRefuses(t *testing.T) {
	t.Parallel()
	t.Run("an unknown object format", func(t *testing.T) {
		t.Parallel()
		r := gittest.New(t)
		config := filepath.Join(r.Dir, ".git", "config")
		for _, commits := range []int{0, 1} {
			was, err := os.ReadFile(config)
			gittest.Must(t, err)
			edit(t, r, "git config core.repositoryformatversion 1; git config extensions.objectformat sha512")
			r.Write("a", "a\n")
			if s, err := tryTake(t, r, nil); err == nil {
				t.Errorf("%d commits: tree %s, want an error", commits, s.Tree)
			}
			if packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*")); len(packs) > 0 {
				t.Errorf("%d commits: %v was written", commits, packs)
			}
			gittest.Must(t, os.WriteFile(config, was, 0o666))
			r.Commit("one")
		}
	})
	t.Run("core.worktree elsewhere", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		r.Git("config", "core.worktree", "../..")
		if s, err := tryTake(t, r, nil); err == nil {
			t.Errorf("tree %s, want an error", s.Tree)
		}
	})
	t.Run("somebody else's repository", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		r.Env = append(r.Env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
		s, err := tryTake(t, r, nil)
		if err == nil {
			t.Fatalf("tree %s, want an error", s.Tree)
		}
		if git.Status(err) != 128 {
			t.Errorf("error %v, want git's own", err)
		}
	})
}
