package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

// TestSince: the commits after another one come, the newest first, with all that they keep, also where
// git takes one of them for the first.
func TestSince(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "1\n")
	kept := r.Commit("kept")
	tree := r.Git("rev-parse", "HEAD^{tree}")
	hashes := []git.Hash{git.NewHash(r.Git("commit-tree", "-m", "0", tree))}
	for n := 1; n < 6; n++ {
		hashes = append(hashes, git.NewHash(r.Git("commit-tree", "-m", fmt.Sprint(n), "-p", hashes[n-1].String(), "-p", kept, tree)))
	}
	repo, objects := open(t, r)
	look := func(tip, before git.Hash, most int) (got []string, whole bool, err error) {
		commits, whole, err := Since(t.Context(), repo, objects, tip, before, most)
		for _, c := range commits {
			got = append(got, c.Message[:1])
			if len(c.Parents) != 2 && c.Message != "0\n" {
				t.Errorf("commit %q has the parents %v", c.Message, c.Parents)
			}
		}
		return got, whole, err
	}
	for _, shallow := range []string{"", hashes[3].String() + "\n"} {
		if err := os.WriteFile(filepath.Join(r.Dir, ".git", "shallow"), []byte(shallow), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			before git.Hash
			most   int
			want   []string
			whole  bool
		}{
			{git.Hash{}, 100, []string{"5", "4", "3", "2", "1", "0"}, true},
			{git.Hash{}, 6, []string{"5", "4", "3", "2", "1", "0"}, true},
			{git.Hash{}, 4, []string{"5", "4", "3", "2"}, false},
			{hashes[2], 100, []string{"5", "4", "3"}, true},
			{hashes[2], 3, []string{"5", "4", "3"}, true},
			{hashes[5], 100, nil, true},
		} {
			got, whole, err := look(hashes[5], tt.before, tt.most)
			if err != nil || whole != tt.whole || !slices.Equal(got, tt.want) {
				t.Errorf("shallow at %q, since %s at most %d: %q, whole %t, %v; want %q", shallow, tt.before, tt.most, got, whole, err, tt.want)
			}
		}
	}
	if err := os.Remove(filepath.Join(r.Dir, ".git", "objects", hashes[2].String()[:2], hashes[2].String()[2:])); err != nil {
		t.Fatal(err)
	}
	if _, _, err := look(hashes[5], git.Hash{}, 100); err == nil {
		t.Error("a commit that is not here is no error")
	}
}
