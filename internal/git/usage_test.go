package git

import (
	"fmt"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestUsage: what commits keep is what no branch, but those of our own, keeps as well.
func TestUsage(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("base", "base\n")
	repo.Commit("base")
	for i := range 9 {
		repo.Write(fmt.Sprint("file", i), fmt.Sprintln("content", i))
	}
	repo.Git("switch", "-q", "-c", "own/1")
	tip := object.NewHash(repo.Commit("nine files"))
	repo.Git("switch", "-q", "main")
	g, err := Find(repo.Dir)
	gittest.Must(t, err)
	for _, test := range []struct {
		own     string
		tips    []object.Hash
		objects int64
	}{
		{"own/", []object.Hash{tip}, 11}, // with a tree and the commit
		{"own/", []object.Hash{tip, tip}, 11},
		{"own/", nil, 0},
		{"other/", []object.Hash{tip}, 0},
	} {
		got, err := Usage(t.Context(), g, test.tips, test.own)
		if err != nil || got.Objects != test.objects || (got.Bytes > 0) != (test.objects > 0) {
			t.Errorf("%v without %s: %+v, %v, want %d objects", test.tips, test.own, got, err, test.objects)
		}
	}
}
