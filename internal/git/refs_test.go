package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// commits returns n commits that no ref refers to.
func commits(t testing.TB, r *gittest.Repo, n int) []object.Hash {
	t.Helper()
	tree := r.Git("write-tree")
	var hashes []object.Hash
	for i := range n {
		hashes = append(hashes, object.NewHash(r.Git("commit-tree", "-m", fmt.Sprint("commit ", i), tree)))
	}
	return hashes
}

const (
	refA = "refs/agent/missions/a"
	refN = "refs/notes/agent/a"
	refB = "refs/heads/agent/mission/a"
)

func refsOf(t testing.TB, repo *Repo) map[string]object.Hash {
	t.Helper()
	refs, err := repo.Refs(context.Background(), "refs/")
	gittest.Must(t, err)
	return refs
}

func TestUpdateRefs(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	zero := object.Hash{}
	for _, tt := range []struct {
		name     string
		before   map[string]int // ref to the number of the commit, from 1
		updates  []Update       // the first byte of a hash is the number of the commit
		after    map[string]int // nil: as before
		conflict bool
		fails    bool
	}{
		{name: "nothing"},
		{name: "create", updates: []Update{{Ref: refA, New: h(1), Old: zero}}, after: map[string]int{refA: 1}},
		{name: "create several", updates: []Update{{Ref: refA, New: h(1), Old: zero}, {Ref: refN, New: h(2), Old: zero}, {Ref: refB, New: h(3), Old: zero}}, after: map[string]int{refA: 1, refN: 2, refB: 3}},
		{name: "move", before: map[string]int{refA: 1}, updates: []Update{{Ref: refA, New: h(2), Old: h(1)}}, after: map[string]int{refA: 2}},
		{name: "delete", before: map[string]int{refA: 1, refN: 2}, updates: []Update{{Ref: refA, New: zero, Old: h(1)}}, after: map[string]int{refN: 2}},
		{name: "create, move and delete", before: map[string]int{refA: 1, refN: 1}, updates: []Update{{Ref: refA, New: h(2), Old: h(1)}, {Ref: refN, New: zero, Old: h(1)}, {Ref: refB, New: h(3), Old: zero}}, after: map[string]int{refA: 2, refB: 3}},
		{name: "to itself", before: map[string]int{refA: 1}, updates: []Update{{Ref: refA, New: h(1), Old: h(1)}}},
		{name: "exists already", before: map[string]int{refA: 1}, updates: []Update{{Ref: refA, New: h(2), Old: zero}}, conflict: true},
		{name: "does not exist", updates: []Update{{Ref: refA, New: h(2), Old: h(1)}}, conflict: true},
		{name: "has moved", before: map[string]int{refA: 3}, updates: []Update{{Ref: refA, New: h(2), Old: h(1)}}, conflict: true},
		{name: "delete what has moved", before: map[string]int{refA: 3}, updates: []Update{{Ref: refA, New: zero, Old: h(1)}}, conflict: true},
		{name: "one of two has moved", before: map[string]int{refA: 1, refN: 3}, updates: []Update{{Ref: refA, New: h(2), Old: h(1)}, {Ref: refN, New: h(2), Old: h(1)}}, conflict: true},
		{name: "a ref is in the way", before: map[string]int{"refs/heads/agent": 1}, updates: []Update{{Ref: refB, New: h(1), Old: zero}, {Ref: refA, New: h(1), Old: zero}}, fails: true},
		{name: "a directory is in the way", before: map[string]int{refB: 1}, updates: []Update{{Ref: "refs/heads/agent", New: h(1), Old: zero}}, fails: true},
		{name: "no such object", updates: []Update{{Ref: refA, New: h(99), Old: zero}}, fails: true},
		{name: "no such name", updates: []Update{{Ref: "refs/agent/..", New: h(1), Old: zero}}, fails: true},
		{name: "the same ref twice", updates: []Update{{Ref: refA, New: h(1), Old: zero}, {Ref: refA, New: h(2), Old: zero}}, fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			c := commits(t, r, 3)
			resolve := func(hash object.Hash) object.Hash {
				if n := int(hash.Byte(0)); n > 0 && n <= len(c) {
					return c[n-1]
				}
				return hash
			}
			want := make(map[string]object.Hash)
			for ref, n := range tt.before {
				r.Git("update-ref", ref, c[n-1].String())
				want[ref] = c[n-1]
			}
			if tt.after != nil {
				want = make(map[string]object.Hash)
				for ref, n := range tt.after {
					want[ref] = c[n-1]
				}
			}
			var updates []Update
			for _, u := range tt.updates {
				updates = append(updates, Update{Ref: u.Ref, New: resolve(u.New), Old: resolve(u.Old)})
			}
			repo := find(t, r)
			err := repo.UpdateRefs(context.Background(), "test", updates)
			if errors.Is(err, ErrConflict) != tt.conflict || (err != nil) != (tt.conflict || tt.fails) {
				t.Errorf("error %v, want a conflict: %v, a failure: %v", err, tt.conflict, tt.fails)
			}
			got := refsOf(t, repo)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("refs %v, want %v", got, want)
			}
		})
	}
}

// h stands for a commit that the test has yet to make.
func h(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

func TestUpdateRefsMany(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := commits(t, r, 2)
	repo := find(t, r)
	var create, move, remove []Update
	for i := range 500 {
		ref := fmt.Sprintf("refs/agent/missions/%03d", i)
		create = append(create, Update{Ref: ref, New: c[0], Old: object.Hash{}})
		move = append(move, Update{Ref: ref, New: c[1], Old: c[0]})
		remove = append(remove, Update{Ref: ref, New: object.Hash{}, Old: c[1]})
	}
	for i, updates := range [][]Update{create, move, remove} {
		gittest.Must(t, repo.UpdateRefs(context.Background(), "test", updates))
		if i == 1 {
			r.Git("pack-refs", "--all")
		}
		if n := len(refsOf(t, repo)); n != []int{500, 500, 0}[i] {
			t.Errorf("step %d: %d refs", i, n)
		}
	}
}

// The reason is in the reflog of a branch; refs of our own have no reflog unless the user wants one
// for every ref.
func TestUpdateRefsReflog(t *testing.T) {
	t.Parallel()
	r := committed(t)
	head := object.NewHash(r.Git("rev-parse", "HEAD"))
	next := object.NewHash(r.Git("commit-tree", "-m", "two", "-p", "HEAD", "HEAD^{tree}"))
	gittest.Must(t, find(t, r).UpdateRefs(context.Background(), "agent mission a: turn", []Update{{Ref: "refs/heads/main", New: next, Old: head}, {Ref: refA, New: next, Old: object.Hash{}}}))
	for _, ref := range []string{"main", "HEAD"} {
		if got := r.Git("reflog", "-1", "--format=%gs", ref); got != "agent mission a: turn" {
			t.Errorf("reflog of %s: %q", ref, got)
		}
	}
	if _, err := os.Stat(r.Dir + "/.git/logs/" + refA); err == nil {
		t.Error("our own ref has a reflog")
	}
}

func TestUpdateRefsRunsNoHook(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := commits(t, r, 1)
	r.Write(".git/hooks/reference-transaction", "#!/bin/sh\nexit 1\n")
	gittest.Must(t, os.Chmod(r.Dir+"/.git/hooks/reference-transaction", 0o755))
	if _, err := r.Try("update-ref", refA, c[0].String()); err == nil {
		t.Fatal("the hook vetoes nothing, so this tests nothing")
	}
	if err := find(t, r).UpdateRefs(context.Background(), "test", []Update{{Ref: refA, New: c[0], Old: object.Hash{}}}); err != nil {
		t.Error(err)
	}
}

func TestRefTransactionAbort(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	commits(t, r, 1)
	repo := find(t, r)
	ctx := context.Background()
	tx, err := repo.BeginRefs(ctx, "test")
	gittest.Must(t, err)
	tx.Abort()
	tx.Abort()
	if n := len(refsOf(t, repo)); n != 0 {
		t.Errorf("%d refs", n)
	}
	if err := repo.UpdateRefs(ctx, "test", nil); err != nil {
		t.Error(err)
	}
}

// Git may be killed before or after it has committed: the transaction reports which.
func TestRefTransactionKilled(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	c := commits(t, r, 2)
	repo := find(t, r)
	ctx := context.Background()
	tx, err := repo.BeginRefs(ctx, "test")
	gittest.Must(t, err)
	gittest.Must(t, tx.proc.cmd.Process.Kill())
	err = tx.Commit(ctx, []Update{{Ref: refA, New: c[0], Old: object.Hash{}}})
	if err == nil || errors.Is(err, ErrConflict) {
		t.Errorf("killed before: %v, want an error that is no conflict", err)
	}
	// Killed after: the refs have moved, and git can't say so.
	tx, err = repo.BeginRefs(ctx, "test")
	gittest.Must(t, err)
	gittest.Must(t, tx.proc.cmd.Process.Kill())
	r.Git("update-ref", refA, c[0].String())
	if err := tx.Commit(ctx, []Update{{Ref: refA, New: c[0], Old: object.Hash{}}}); err != nil {
		t.Errorf("killed after: %v", err)
	}
}

// Eight writers move one ref, each from the value that it has read: no step is lost, and each
// conflict is reported as one.
func TestUpdateRefsConcurrently(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	first := commits(t, r, 1)[0]
	repo := find(t, r)
	ctx := context.Background()
	const writers, steps = 8, 6
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			own := fmt.Sprint("refs/agent/missions/", w)
			for range steps {
				for {
					refs, err := repo.Refs(ctx, refA, own)
					if err != nil {
						t.Error(err)
						return
					}
					parent := refs[refA]
					if parent.IsZero() {
						parent = first
					}
					o := repo.Objects(ctx)
					tree, _ := o.EmptyTree()
					sig := Config(nil).Author(time.Unix(int64(w), 0))
					next, err := o.CommitTree(tree, []object.Hash{parent}, sig, sig, fmt.Sprint("writer ", w))
					if err == nil {
						err = o.Flush()
					}
					o.Close()
					if err != nil {
						t.Error(err)
						return
					}
					err = repo.UpdateRefs(ctx, "test", []Update{{Ref: refA, New: next, Old: refs[refA]}, {Ref: own, New: next, Old: refs[own]}})
					if err == nil {
						break
					}
					if now, e := repo.Refs(ctx, own); e != nil || now[own] != refs[own] {
						t.Errorf("our own ref moved in a transaction that failed: %v", err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if got := r.Git("rev-list", "--count", refA); got != fmt.Sprint(writers*steps+1) {
		t.Errorf("%s commits, want %d", got, writers*steps+1)
	}
	r.Git("fsck", "--strict", "--no-dangling")
}

// Eight worktrees of one repository, each committing to its own branch at the same time.
func TestCommitInWorktreesConcurrently(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := committed(t)
	ctx := context.Background()
	var wg sync.WaitGroup
	for w := range 8 {
		dir := filepath.Join(gittest.TempDir(t), "linked")
		branch := fmt.Sprint("refs/heads/b", w)
		r.Git("worktree", "add", "-q", "-b", strings.TrimPrefix(branch, "refs/heads/"), dir)
		repo := find(t, r.In(dir))
		wg.Go(func() {
			for n := range 10 {
				head, err := repo.Head(ctx)
				if err != nil || head.Branch != branch {
					t.Errorf("Head = %+v, %v", head, err)
					return
				}
				o := repo.Objects(ctx)
				base, err := o.TreeOf(head.Commit)
				if err != nil {
					t.Error(err)
					return
				}
				blob, _ := o.Write(plumbing.BlobObject, fmt.Appendf(nil, "%d\n", n)) // the same in all
				tree, err := o.EditTree(base, map[string]object.Entry{"d/new": {Mode: 0o100644, Hash: blob}})
				if err != nil {
					t.Error(err)
					return
				}
				sig := Config(nil).Author(time.Unix(int64(n), 0))
				next, _ := o.CommitTree(tree, []object.Hash{head.Commit}, sig, sig, fmt.Sprint("turn ", n))
				if err := o.Flush(); err != nil {
					t.Error(err)
					return
				}
				o.Close()
				if err := repo.UpdateRefs(ctx, "turn", []Update{{Ref: branch, New: next, Old: head.Commit}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for w := range 8 {
		if got := r.Git("rev-list", "--count", fmt.Sprint("b", w)); got != "11" {
			t.Errorf("branch %d has %s commits, want 11", w, got)
		}
	}
	r.Git("fsck", "--strict", "--no-dangling")
}
