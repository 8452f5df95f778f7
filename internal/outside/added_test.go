package outside

import (
	"os"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

const (
	sumA = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	sumB = "5d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
)

func pointerTo(sum string) string {
	return "version https://git-lfs.github.com/spec/v1\noid sha256:" + sum + "\nsize 12345\n"
}

// TestIn: what is known, at a remote or above a size is left out; a commit that is gone stops nothing.
func TestIn(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a.bin", pointerTo(sumA))
	r.Commit("first")
	first := r.Git("rev-parse", "HEAD")
	r.Write("b.bin", pointerTo(sumB))
	r.Write("text", "text\n")
	r.Commit("second")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+first+",lib")
	r.Git("commit", "-q", "-m", "a submodule")
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	hash := func(text string) object.Hash {
		h, err := object.ParseHash(text)
		gittest.Must(t, err)
		return h
	}
	tip := hash(r.Git("rev-parse", "HEAD"))
	look := func(c Commits) *Added {
		t.Helper()
		objects := repo.Objects(t.Context())
		defer objects.Close()
		c.Tips, c.Remote = []object.Hash{tip}, "origin"
		added, err := In(t.Context(), repo, objects, c)
		gittest.Must(t, err)
		return added
	}
	all := look(Commits{Known: []object.Hash{hash(gittest.Hash("1"))}})
	if all.Objects[sumA] != "a.bin" || all.Objects[sumB] != "b.bin" || len(all.Objects) != 2 || all.Submodules[hash(first)] != "lib" || len(all.Submodules) != 1 {
		t.Errorf("all is %v", all)
	}
	if added := look(Commits{Known: []object.Hash{hash(first)}}); len(added.Objects) != 1 || added.Objects[sumB] != "b.bin" {
		t.Errorf("after the first it is %v", added)
	}
	r.Git("update-ref", "refs/remotes/origin/main", tip.String())
	if added := look(Commits{}); len(added.Objects)+len(added.Submodules) != 0 {
		t.Errorf("a remote has all, but it is %v", added)
	}
}

// TestUnpushed: what no remote of a submodule has is told from what one has, also when the submodule is checked out no more.
func TestUnpushed(t *testing.T) {
	t.Parallel()
	library, r := gittest.New(t), gittest.New(t)
	library.Write("f", "1\n")
	library.Commit("first")
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.Dir, "lib")
	r.Commit("a submodule")
	lib := r.In(r.Dir + "/lib")
	there := lib.Git("rev-parse", "HEAD")
	lib.Write("f", "2\n")
	lib.Commit("second")
	here := lib.Git("rev-parse", "HEAD")
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	want := func(when, path, commit string, want bool) {
		t.Helper()
		h, err := object.ParseHash(commit)
		gittest.Must(t, err)
		if got := Unpushed(t.Context(), repo, path, h); (got != "") != want {
			t.Errorf("%s: Unpushed(%q) = %q, want one: %t", when, path, got, want)
		}
	}
	want("at the remote", "lib", there, false)
	want("only here", "lib", here, true)
	want("nowhere", "lib", gittest.Hash("1"), false)
	want("outside", "../"+library.Dir, here, false)
	want("no submodule", "other", here, false)
	r.Git("submodule", "--quiet", "deinit", "--force", "lib")
	want("deinit", "lib", here, true)
	want("deinit, at the remote", "lib", there, false)
}
