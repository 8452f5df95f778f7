package git

import (
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
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
	held := lock(t)
	for i, repo := range []*Repo{main, linked} {
		commit := r.Git("commit-tree", "-m", strings.Repeat("kept ", i+1), "HEAD^{tree}")
		keeper := repo.Keeper(uint32(27 + i))
		gittest.Must(t, keeper.Move(t.Context(), held, object.NewHash(commit)))
		for _, as := range []*Repo{main, linked} {
			if at, pointed := as.Keeper(uint32(27 + i)).At(t.Context()); at.String() != commit || !pointed {
				t.Errorf("the keeper %s is at %s, want %s", keeper.Ref(), at, commit)
			}
		}
	}
	if got, want := strings.Fields(r.Git("for-each-ref", "--format=%(refname)", Keepers)), "refs/agent/kept/bb refs/agent/kept/bb-plain refs/agent/kept/bc refs/agent/kept/bc-plain"; strings.Join(got, " ") != want {
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
	gittest.Must(t, linked.Keeper(27).Move(t.Context(), held, object.Hash{}))
	r.Git("gc", "-q", "--prune=now")
	if _, err := r.Try("cat-file", "-e", at.String()); err == nil {
		t.Error("what nothing keeps is there")
	}
	if numbers, err := main.Kept(t.Context()); err != nil || len(numbers) != 1 {
		t.Errorf("numbers are %d, %v", numbers, err)
	}
}

// Programs that don't know main-worktree/ see by a plain ref what a keeper is at,
// wherever that moves.
func TestKeeperPlain(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("f", "1\n")
	repo, held := find(t, r), lock(t)
	first := object.NewHash(r.Commit("one"))
	r.Git("commit", "-q", "--allow-empty", "-m", "two")
	second := object.NewHash(r.Git("rev-parse", "HEAD"))
	keeper := repo.Keeper(5)
	plain := func(want object.Hash) {
		t.Helper()
		refs, err := repo.Refs(t.Context(), keeper.Plain())
		gittest.Must(t, err)
		if got := refs[keeper.Plain()]; got != want {
			t.Errorf("%s is at %s, want %s", keeper.Plain(), got, want)
		}
	}
	gittest.Must(t, keeper.Move(t.Context(), held, first))
	plain(first)
	gittest.Must(t, repo.UpdateRefs(t.Context(), "test", keeper.Updates(second, true)))
	plain(second)
	gittest.Must(t, keeper.Move(t.Context(), held, object.Hash{}))
	plain(object.Hash{})

	// What is in the way of the plain one alone keeps the keeper from nothing else.
	r.Git("update-ref", keeper.Plain()+"/x", "HEAD")
	if err := keeper.Move(t.Context(), held, second); err == nil {
		t.Error("it is not said that the plain ref stays")
	}
	if at, pointed := keeper.At(t.Context()); at != second || !pointed {
		t.Errorf("it is at %s, %v, want %s", at, pointed, second)
	}
	r.Git("update-ref", "-d", keeper.Plain()+"/x")
	gittest.Must(t, keeper.Move(t.Context(), held, first)) // the first time
	gittest.Must(t, keeper.Move(t.Context(), held, second))
	plain(second)
	gittest.Must(t, keeper.Move(t.Context(), held, object.Hash{}))

	// What is in the way of both keeps no other ref from moving.
	r.Git("update-ref", strings.TrimSuffix(Keepers, "/"), "HEAD")
	gittest.Must(t, repo.UpdateRefs(t.Context(), "test", keeper.Updates(first, false)))
}

// A keeper moves together with other refs, whatever it was at, and its symbolic
// ref is made again.
func TestKeeperTogether(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("f", "1\n")
	r.Commit("one")
	repo := find(t, r)
	keeper, held := repo.Keeper(0), lock(t)
	for _, message := range []string{"one", "two"} {
		commit := object.NewHash(r.Git("commit-tree", "-m", message, "HEAD^{tree}"))
		gittest.Must(t, repo.UpdateRefs(t.Context(), "test", []Update{{Ref: "refs/agent/" + message, New: commit}, keeper.Updates(commit, false)[0]}))
		gittest.Must(t, keeper.Point(t.Context(), held, commit))
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
	if err := repo.UpdateRefs(t.Context(), "test", []Update{{Ref: "refs/agent/one", New: commit}, keeper.Updates(commit, false)[0]}); err == nil {
		t.Error("a ref that has moved is moved")
	}
	gittest.Must(t, keeper.Point(t.Context(), held, commit))
	if at, pointed := keeper.At(t.Context()); at != before || !pointed || r.Git("rev-parse", keeper.Ref()) != before.String() {
		t.Errorf("it is at %s, want %s", at, before)
	}
}

func lock(t *testing.T) *statedir.Lock {
	t.Helper()
	held, err := statedir.In(t.TempDir(), "state").Lock(t.Context(), "lock")
	gittest.Must(t, err)
	t.Cleanup(held.Release)
	return held
}

// A keeper can be moved and deleted after a power cut, and where a clone of a
// mirror has brought plain refs of its name.
func TestKeeperDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(r *gittest.Repo, k Keeper){
		"an empty file":      func(r *gittest.Repo, k Keeper) { r.Write(".git/"+k.beside(), "") },
		"zeros":              func(r *gittest.Repo, k Keeper) { r.Write(".git/"+k.beside(), strings.Repeat("\x00", 41)) },
		"an empty plain ref": func(r *gittest.Repo, k Keeper) { r.Write(".git/"+k.Plain(), "") },
		"an empty symref":    func(r *gittest.Repo, k Keeper) { r.Write(".git/"+k.Ref(), "") },
		"a plain ref":        func(r *gittest.Repo, k Keeper) { r.Git("update-ref", "--no-deref", k.Ref(), "HEAD") },
		"a packed one": func(r *gittest.Repo, k Keeper) {
			r.Git("update-ref", "--no-deref", k.Ref(), "HEAD")
			r.Git("pack-refs", "--all")
		},
		"the symref is gone":   func(r *gittest.Repo, k Keeper) { r.Git("symbolic-ref", "--delete", k.Ref()) },
		"what it leads to, is": func(r *gittest.Repo, k Keeper) { r.Git("update-ref", "-d", k.beside()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			r.Write("f", "1\n")
			head := object.NewHash(r.Commit("one"))
			repo, held := find(t, r), lock(t)
			if repo.InTables() && name != "a plain ref" {
				t.Skip("a file")
			}
			for _, to := range []object.Hash{object.NewHash(r.Git("commit-tree", "-m", "kept", "HEAD^{tree}")), {}} {
				keeper := repo.Keeper(3)
				gittest.Must(t, keeper.Move(t.Context(), held, head))
				damage(r, keeper)
				gittest.Must(t, keeper.Move(t.Context(), held, to))
				if at, pointed := keeper.At(t.Context()); at != to || pointed == to.IsZero() {
					t.Errorf("it is at %s, %v, want %s", at, pointed, to)
				}
				if there, err := repo.Kept(t.Context()); err != nil || len(there) > 0 == to.IsZero() {
					t.Errorf("there are %d, %v", there, err)
				}
			}
		})
	}
}
