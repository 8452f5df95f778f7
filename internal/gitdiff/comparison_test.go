package gitdiff

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestCompare: what git tells beside patches is what Differences finds, in its order, or is said not to be whole.
func TestCompare(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Git("config", "diff.ignoreSubmodules", "all")
	repo := find(t, r)
	o := repo.Objects(t.Context())
	defer o.Close()
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a.go", "a-b", "b\nc", `"q"`, "é", "\xff", "z"}
	modes := []filemode.FileMode{filemode.Regular, filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Submodule, filemode.Deprecated}
	trees := []object.Hash{repo.Format().EmptyTree()}
	for range 60 {
		base := trees[random.IntN(len(trees))]
		changes := make(map[string]object.Entry)
		for range 1 + random.IntN(4) {
			path := names[random.IntN(len(names))]
			for range random.IntN(3) {
				path += "/" + names[random.IntN(len(names))]
			}
			blob, err := o.Write(plumbing.BlobObject, []byte(fmt.Sprintln(random.IntN(5))))
			gittest.Must(t, err)
			if changes[path] = (object.Entry{Mode: modes[random.IntN(len(modes))], Hash: blob}); random.IntN(3) == 0 {
				changes[path] = object.Entry{}
			}
		}
		tree, err := o.EditTree(base, changes)
		gittest.Must(t, err)
		trees = append(trees, tree)
	}
	_, err := o.EmptyTree()
	gittest.Must(t, err)
	gittest.Must(t, o.Flush())
	var pairs [][2]object.Hash
	for _, a := range trees {
		for range 10 {
			pairs = append(pairs, [2]object.Hash{a, trees[random.IntN(len(trees))]})
		}
	}
	var patches []map[Versions]*Patch
	gittest.Must(t, Patches(t.Context(), repo, pairs, Paths{}, 1000, func(_ int, p map[Versions]*Patch) error {
		patches = append(patches, p)
		return nil
	}))
	whole, next := 0, 0
	err = Compare(t.Context(), repo, pairs, 1000, 100, func(i int, c *Comparison) error {
		if i != next {
			t.Errorf("pair %d comes when %d should", i, next)
		}
		next++
		want, _, err := Differences(o, pairs[i][0], pairs[i][1:], 100)
		gittest.Must(t, err)
		if c.Whole {
			whole++
			if !slices.Equal(c.Found, want) {
				t.Errorf("pair %d: %v\nwant %v", i, c.Found, want)
			}
		}
		if !c.Links && !reflect.DeepEqual(c.Patches, patches[i]) {
			t.Errorf("pair %d has other patches than alone", i)
		}
		return nil
	})
	gittest.Must(t, err)
	if whole < len(pairs)/4 || whole == len(pairs) {
		t.Errorf("%d of %d are whole", whole, len(pairs))
	}
}

// TestCompareBounds: what is too much, too deep or named twice is not whole.
func TestCompareBounds(t *testing.T) {
	t.Parallel()
	repo := find(t, gittest.New(t))
	o := repo.Objects(t.Context())
	defer o.Close()
	blob, err := o.Write(plumbing.BlobObject, []byte("x\n"))
	gittest.Must(t, err)
	file := object.Entry{Mode: filemode.Regular, Hash: blob}
	tree := func(paths ...string) object.Hash {
		changes := make(map[string]object.Entry)
		for _, path := range paths {
			changes[path] = file
		}
		tree, err := o.EditTree(object.Hash{}, changes)
		gittest.Must(t, err)
		return tree
	}
	twice, err := object.EncodeTree(repo.Format(), []object.TreeEntry{{Name: "a", Entry: file}, {Name: "a", Entry: file}})
	gittest.Must(t, err)
	repeated, err := o.Write(plumbing.TreeObject, twice)
	gittest.Must(t, err)
	empty, err := o.EmptyTree()
	gittest.Must(t, err)
	tests := []struct {
		name  string
		tree  object.Hash
		whole bool
	}{
		{"three", tree("a", "b", "c"), true},
		{"four", tree("a", "b", "c", "d"), false},
		{"four with a directory", tree("a", "d/b", "d/c"), false},
		{"deep", tree(strings.Repeat("d/", maxDeep+1) + "a"), false},
		{"a long name", tree(strings.Repeat("n", maxDiffPath+1)), false},
		{"a name twice", repeated, false},
	}
	gittest.Must(t, o.Flush())
	var pairs [][2]object.Hash
	for _, tt := range tests {
		pairs = append(pairs, [2]object.Hash{empty, tt.tree})
	}
	gittest.Must(t, Compare(t.Context(), repo, pairs, 1000, 3, func(i int, c *Comparison) error {
		if c.Whole != tests[i].whole {
			t.Errorf("%s: whole is %t", tests[i].name, c.Whole)
		}
		return nil
	}))
	missing := [2]object.Hash{empty, object.NewHash(gittest.Hash("1"))}
	err = Compare(t.Context(), repo, [][2]object.Hash{pairs[0], missing, pairs[1]}, 1000, 3, func(i int, c *Comparison) error {
		if i > 0 || len(c.Found) != 3 {
			t.Errorf("beside a missing tree, pair %d has %v", i, c.Found)
		}
		return nil
	})
	if err == nil {
		t.Error("a missing tree is no error")
	}
}
