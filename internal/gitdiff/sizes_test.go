package gitdiff

import (
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// What is said of several pairs is what is said of each alone.
func TestSizes(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	tree := func() object.Hash { return object.NewHash(r.Git("rev-parse", "HEAD^{tree}")) }
	r.Write("a", strings.Repeat("line\n", 100))
	r.Write("b/c", "c\n")
	r.Write("bin", "\x00")
	r.Commit("one")
	trees := []object.Hash{tree()}
	r.Git("mv", "a", "moved")
	r.Write("b/c", "c\nd\n")
	r.Commit("two")
	trees = append(trees, tree())
	r.Write("bin", "\x00\x01")
	// A name like what git says before a pair.
	r.Write(fmt.Sprintf("%s %s\n1\t1", trees[0], trees[1]), "x\n")
	r.Commit("three")
	trees = append(trees, tree())
	r.Git("rm", "-q", "-r", ".")
	r.Git("commit", "-q", "-m", "four")
	trees = append(trees, tree())
	repo := find(t, r)
	var pairs [][2]object.Hash
	for _, from := range trees {
		for _, to := range trees {
			pairs = append(pairs, [2]object.Hash{from, to})
		}
	}
	got, err := Sizes(t.Context(), repo, pairs)
	gittest.Must(t, err)
	for i, p := range pairs {
		stats, err := Shown(t.Context(), repo, p[0], p[1])
		gittest.Must(t, err)
		want := Size{Files: len(stats)}
		for _, s := range stats {
			want.Insertions += s.Insertions
			want.Deletions += s.Deletions
		}
		if got[i] != want {
			t.Errorf("Sizes of %s and %s = %+v, want %+v", p[0], p[1], got[i], want)
		}
	}
	if got[1] != (Size{2, 1, 0}) {
		t.Errorf("a moved file and a changed one are %+v", got[1])
	}
	if _, err := Sizes(t.Context(), repo, [][2]object.Hash{{trees[0], object.NewHash(gittest.Hash("1"))}}); err == nil {
		t.Error("a missing tree is no error")
	}
	if got, err := Sizes(t.Context(), repo, nil); got != nil || err != nil {
		t.Errorf("Sizes of nothing = %v, %v", got, err)
	}
}
