package gitdiff_test

import (
	"context"
	"maps"
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
