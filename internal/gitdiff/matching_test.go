package gitdiff_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
)

func TestMatching(t *testing.T) {
	r := gittest.New(t)
	var trees []object.Hash
	state := func() {
		r.Git("add", "-A")
		trees = append(trees, object.NewHash(r.Git("write-tree")))
	}
	r.Write("keys/a.pem", "a\n")
	r.Write("b.txt", "b\n")
	state()
	r.Git("rm", "-qf", "keys/a.pem")
	state()
	r.Write(":odd\n.pem", "c\n")
	r.Write("docs/keys/d", "d\n")
	state()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	for spec, want := range map[string][]string{
		"*.pem":                {":odd\n.pem", "keys/a.pem"},
		"keys":                 {"keys/a.pem"},
		":(glob)**/keys/**":    {"docs/keys/d", "keys/a.pem"},
		"nothing":              nil,
		":(icase)DOCS":         {"docs/keys/d"},
		":(exclude,glob)**/k*": {":odd\n.pem", "b.txt", "docs/keys/d", "keys/a.pem"},
	} {
		found, err := gitdiff.Matching(context.Background(), repo, trees, gitdiff.Paths{Specs: []string{spec}})
		gittest.Must(t, err)
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestMatchingBesideMissing: a tree that is not there hides nothing of the one after it.
func TestMatchingBesideMissing(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	var trees []object.Hash
	for _, name := range []string{"a.pem", "b.pem", "c.pem"} {
		r.Write(name, name+"\n")
		r.Git("add", "-A")
		trees = append(trees, object.NewHash(r.Git("write-tree")))
	}
	gone := trees[1].String()
	gittest.Must(t, os.Remove(filepath.Join(r.Dir, ".git", "objects", gone[:2], gone[2:])))
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	found, err := gitdiff.Matching(t.Context(), repo, trees, gitdiff.Paths{Specs: []string{"*.pem"}})
	gittest.Must(t, err)
	if got, want := slices.Sorted(maps.Keys(found)), []string{"a.pem", "b.pem", "c.pem"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
