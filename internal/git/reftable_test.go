package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// tables is a repository whose refs are in tables, with one commit.
func tables(t *testing.T) *gittest.Repo {
	t.Helper()
	r := gittest.Tables(t)
	r.Write("a", "a\n")
	r.Commit("one")
	return r
}

// elsewhere is a repository whose refs are in another directory, with one commit.
func elsewhere(t *testing.T, backend string) *gittest.Repo {
	t.Helper()
	r := gittest.Elsewhere(t, backend)
	r.Write("a", "a\n")
	r.Commit("one")
	return r
}

// TestMayHave: a ref is never missed, wherever git has it, and files tell that there is none.
func TestMayHave(t *testing.T) {
	t.Parallel()
	const dir = "refs/agent/missions/"
	for name, tt := range map[string]struct {
		make   func(t *testing.T) *gittest.Repo
		before bool
	}{
		"files":           {func(t *testing.T) *gittest.Repo { return gittest.Files(t) }, false},
		"tables":          {tables, true},
		"files elsewhere": {func(t *testing.T) *gittest.Repo { return elsewhere(t, "files") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tt.make(t)
			at := func() bool {
				repo, err := FindCommon(filepath.Join(r.Dir, ".git"))
				gittest.Must(t, err)
				return repo.MayHave(dir)
			}
			r.Write("b", "b\n")
			r.Commit("two")
			if got := at(); got != tt.before {
				t.Errorf("before there is one: %t", got)
			}
			r.Git("update-ref", dir+"a1b2c3d4", "HEAD")
			loose := at()
			r.Git("pack-refs", "--all", "--prune")
			if packed := at(); !loose || !packed {
				t.Errorf("loose: %t, packed: %t", loose, packed)
			}
		})
	}
}

// TestRefsElsewhere: refs, their locks and HEAD are found where git has them.
func TestRefsElsewhere(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"files", "reftable"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			r := elsewhere(t, backend)
			first := object.NewHash(r.Git("rev-parse", "HEAD"))
			at := linked(t, r)
			for _, r := range []*gittest.Repo{r, at} {
				repo := find(t, r)
				gittest.Must(t, repo.UpdateRefs(t.Context(), "test", []Update{{Ref: refA, New: first}}))
				refs, err := repo.Refs(t.Context(), refA, "refs/heads/")
				if err != nil || refs[refA] != first || refs["refs/heads/main"] != first {
					t.Errorf("refs are %v, %v", refs, err)
				}
				if repo.InTables() != (backend == "reftable") {
					t.Errorf("in tables: %t", repo.InTables())
				}
				branch, _ := r.Try("symbolic-ref", "--quiet", "HEAD") // not there if detached
				if got, err := repo.HeadRef(t.Context()); got != branch || err != nil {
					t.Errorf("HEAD is %q, %v", got, err)
				}
				name := refA
				if backend == "reftable" {
					name = "reftable/tables.list"
				}
				lock := filepath.Join(repo.RefsDir(), filepath.FromSlash(name)+".lock")
				gittest.Must(t, os.WriteFile(lock, nil, 0o666))
				var locked *LockedError
				err = repo.UpdateRefs(t.Context(), "test", []Update{{Ref: refA, Old: first}})
				if !errors.As(err, &locked) || locked.Path != lock {
					t.Errorf("with a lock: %v", err)
				}
				gittest.Must(t, os.Remove(lock))
				gittest.Must(t, repo.UpdateRefs(t.Context(), "test", []Update{{Ref: refA, Old: first}}))
			}
		})
	}
}

// TestHeadIsLink: core.preferSymlinkRefs makes HEAD a link, whose text is the ref.
func TestHeadIsLink(t *testing.T) {
	t.Parallel()
	r := gittest.Files(t)
	r.Git("config", "core.preferSymlinkRefs", "true")
	for _, commit := range []bool{false, true} { // first the link leads nowhere
		r.Git("symbolic-ref", "HEAD", "refs/heads/other")
		if commit {
			r.Commit("one")
			r = linked(t, r)
			r.Git("symbolic-ref", "HEAD", "refs/heads/third") // this one leads out of its git directory
		}
		repo := find(t, r)
		if info, err := os.Lstat(filepath.Join(repo.GitDir, "HEAD")); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Skipf("this git makes no link of HEAD (%v)", err)
		}
		if got, err := repo.HeadRef(t.Context()); got != r.Git("symbolic-ref", "HEAD") || err != nil {
			t.Errorf("HEAD is %q, %v", got, err)
		}
	}
}

func TestTableLists(t *testing.T) {
	t.Parallel()
	r := tables(t)
	main, other := find(t, r), find(t, linked(t, r))
	shared := filepath.Join(main.CommonDir, "reftable", "tables.list")
	if got := main.TableLists(); len(got) != 1 || got[0] != shared {
		t.Errorf("of the main worktree: %q", got)
	}
	own := filepath.Join(other.GitDir, "reftable", "tables.list")
	if got := other.TableLists(); len(got) != 2 || got[0] != shared || got[1] != own {
		t.Errorf("of a linked worktree: %q", got)
	}
	if files := find(t, gittest.Files(t)); files.InTables() {
		t.Error("a repository with files has tables")
	}
}

// TestRefsInTables: what keeps older gits away is no ref.
func TestRefsInTables(t *testing.T) {
	t.Parallel()
	r := tables(t)
	repo := find(t, r)
	refs, err := repo.OwnRefs(t.Context())
	if want := r.Git("rev-parse", "HEAD"); err != nil || len(refs) != 1 || refs["refs/heads/main"].String() != want {
		t.Errorf("refs are %v, %v", refs, err)
	}
}

// TestOperationInTables: what is a file elsewhere is a ref.
func TestOperationInTables(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T) *gittest.Repo{
		"beside":              tables,
		"elsewhere":           func(t *testing.T) *gittest.Repo { return elsewhere(t, "reftable") },
		"in files, elsewhere": func(t *testing.T) *gittest.Repo { return elsewhere(t, "files") },
	} {
		t.Run(name, func(t *testing.T) { operations(t, make(t)) })
	}
}

func operations(t *testing.T, r *gittest.Repo) {
	t.Helper()
	r.Write("a", "middle\n")
	r.Commit("two")
	r.Git("checkout", "-q", "-b", "other")
	r.Write("a", "other\n")
	r.Commit("other")
	r.Git("checkout", "-q", "main")
	r.Write("a", "main\n")
	r.Commit("three")
	at := linked(t, r)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"cherry-pick", "other"}, "cherry-pick"},
		{[]string{"revert", "--no-edit", "HEAD~1"}, "revert"},
		{[]string{"merge", "other"}, "merge"},
		{[]string{"rebase", "other"}, "rebase"},
	} {
		for _, r := range []*gittest.Repo{r, at} {
			_, _ = r.Try(tt.args...)
			for _, seen := range []*gittest.Repo{r, at} {
				want := ""
				if seen == r {
					want = tt.want
				}
				if got, err := find(t, seen).Operation(t.Context()); got != want || err != nil {
					t.Errorf("%s in %s: Operation in %s = %q, %v, want %q", tt.want, r.Dir, seen.Dir, got, err, want)
				}
			}
			r.Git(tt.args[0], "--abort")
			if got, err := find(t, r).Operation(t.Context()); got != "" || err != nil {
				t.Errorf("%s, aborted: Operation = %q, %v", tt.want, got, err)
			}
		}
	}
}

// TestLockOfTables: the error names the lock of all refs, and what a killed git has left of it goes, with the locks of
// tables that it was putting together; what another one locked before or since stays.
func TestLockOfTables(t *testing.T) {
	t.Parallel()
	r := tables(t)
	repo := find(t, linked(t, r))
	first := object.NewHash(r.Git("rev-parse", "HEAD"))
	list := filepath.Join(repo.CommonDir, "reftable", "tables.list")
	own := filepath.Join(repo.GitDir, "reftable", "tables.list")
	update := []Update{{Ref: refA, New: first}}
	left := statedir.Note{At: time.Now().Add(-time.Hour), Words: repo.LockedBy(update)}
	aged(t, filepath.Dir(list), "tables.list", time.Hour-time.Second)
	var seen *LockedError
	if err := repo.UpdateRefs(t.Context(), "test", update); !errors.As(err, &seen) || seen.Path != list+".lock" {
		t.Errorf("with a lock: %v", err)
	}
	if words := repo.LockedBy(update); slices.Contains(words, list) || !slices.Contains(words, own) {
		t.Errorf("what another process has locked is noted: %q", words)
	}
	table := aged(t, filepath.Dir(own), "0x000000000001-0x000000000002-00000000.ref", time.Since(left.At)-time.Second)
	before := aged(t, filepath.Dir(own), "tables.list", 2*time.Hour)
	gittest.Must(t, DropLeftLocks(t.Context(), left))
	if locked(list) || locked(table) || !locked(before) {
		t.Errorf("locked are the list: %t, a table: %t; what was before: %t", locked(list), locked(table), locked(before))
	}
	gittest.Must(t, os.Remove(before+".lock"))
	if err := repo.UpdateRefs(t.Context(), "test", update); err != nil {
		t.Error(err)
	}
}
