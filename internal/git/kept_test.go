package git

import (
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// What a keeper is at stays when git collects garbage, from any worktree, after
// a prune of all refs and without reflogs; without it, it goes.
func TestKeeper(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("f", "1\n")
	r.Commit("one")
	r.Git("worktree", "add", "-q", "--detach", "../linked")
	r.Git("init", "-q", "--bare", "../empty")
	main := find(t, r)
	linked, err := Find(r.Dir + "/../linked")
	gittest.Must(t, err)
	for i, repo := range []*Repo{main, linked} {
		commit := r.Git("commit-tree", "-m", strings.Repeat("kept ", i+1), "HEAD^{tree}")
		keeper := repo.Keeper(uint32(27 + i))
		gittest.Must(t, keeper.Move(t.Context(), object.NewHash(commit)))
		for _, as := range []*Repo{main, linked} {
			if at, pointed := as.Keeper(uint32(27 + i)).At(t.Context()); at.String() != commit || !pointed {
				t.Errorf("the keeper %s is at %s, want %s", keeper.Ref(), at, commit)
			}
		}
	}
	if got, want := strings.Fields(r.Git("for-each-ref", "--format=%(refname)", Keepers)), "refs/agent/kept/bb refs/agent/kept/bc"; strings.Join(got, " ") != want {
		t.Errorf("keepers are %q, want %s", got, want)
	}
	numbers, err := linked.Kept(t.Context())
	gittest.Must(t, err)
	if len(numbers) != 2 || numbers[0] != 27 || numbers[1] != 28 {
		t.Errorf("numbers are %d", numbers)
	}
	for _, dir := range []string{r.Dir, linked.Top} {
		r.Git("-C", dir, "fetch", "-q", "--prune", "../empty", "+refs/agent/*:refs/agent/*")
		r.Git("-C", dir, "reflog", "expire", "--expire=now", "--all")
		r.Git("-C", dir, "gc", "-q", "--prune=now")
		r.Git("-C", dir, "prune", "--expire=now")
		for _, n := range numbers {
			at, _ := main.Keeper(n).At(t.Context())
			r.Git("cat-file", "-e", at.String())
		}
	}
	at, _ := main.Keeper(27).At(t.Context())
	gittest.Must(t, linked.Keeper(27).Move(t.Context(), object.Hash{}))
	r.Git("gc", "-q", "--prune=now")
	if _, err := r.Try("cat-file", "-e", at.String()); err == nil {
		t.Error("what nothing keeps is there")
	}
	if numbers, err := main.Kept(t.Context()); err != nil || len(numbers) != 1 {
		t.Errorf("numbers are %d, %v", numbers, err)
	}
}

// A keeper moves together with other refs, whatever it was at, and its symbolic
// ref is made again.
func TestKeeperTogether(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("f", "1\n")
	r.Commit("one")
	repo := find(t, r)
	keeper := repo.Keeper(0)
	for _, message := range []string{"one", "two"} {
		commit := object.NewHash(r.Git("commit-tree", "-m", message, "HEAD^{tree}"))
		gittest.Must(t, repo.UpdateRefs(t.Context(), "test", []Update{{Ref: "refs/agent/" + message, New: commit}, keeper.Update(commit)}))
		gittest.Must(t, keeper.Point(t.Context()))
		if at := r.Git("rev-parse", keeper.Ref()); at != commit.String() {
			t.Errorf("it is at %s, want %s", at, commit)
		}
		r.Git("symbolic-ref", "--delete", keeper.Ref())
	}
	// In a transaction that fails it stays.
	commit := object.NewHash(r.Git("commit-tree", "-m", "three", "HEAD^{tree}"))
	before, pointed := keeper.At(t.Context())
	if pointed {
		t.Error("the symbolic ref that was deleted is there")
	}
	if err := repo.UpdateRefs(t.Context(), "test", []Update{{Ref: "refs/agent/one", New: commit}, keeper.Update(commit)}); err == nil {
		t.Error("a ref that has moved is moved")
	}
	gittest.Must(t, keeper.Point(t.Context()))
	if at, pointed := keeper.At(t.Context()); at != before || !pointed || r.Git("rev-parse", keeper.Ref()) != before.String() {
		t.Errorf("it is at %s, want %s", at, before)
	}
}
