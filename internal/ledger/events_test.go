package ledger

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestEvents: they come the newest first, with all that they keep, also where git takes one of them for the
// first.
func TestEvents(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "1\n")
	kept := r.Commit("kept")
	tree := r.Git("rev-parse", "HEAD^{tree}")
	hashes := []object.Hash{object.NewHash(r.Git("commit-tree", "-m", "0", tree))}
	for n := 1; n < 100; n++ { // more than are read one by one
		hashes = append(hashes, object.NewHash(r.Git("commit-tree", "-m", fmt.Sprint(n), "-p", hashes[n-1].String(), "-p", kept, tree)))
	}
	repo, _ := open(t, r)
	look := func(most int) (got []string, err error) {
		objects := repo.Objects(t.Context())
		defer objects.Close()
		for e, err := range Events(t.Context(), repo, objects, hashes[99], most) {
			if err != nil {
				return got, err
			}
			first := e.Before.IsZero() && len(e.Keeps) == 0
			if kept := len(e.Keeps) == 1 && e.Keeps[0].String() == kept; e.Tree.String() != tree || first == kept || first != (e.Subject == "0") {
				t.Errorf("event %s is %+v", e.Subject, e)
			}
			got = append(got, e.Subject)
		}
		return got, nil
	}
	var want []string
	for n := range hashes {
		want = append([]string{fmt.Sprint(n)}, want...)
	}
	for _, shallow := range []string{"", hashes[70].String() + "\n", hashes[30].String() + "\n"} {
		gittest.Must(t, os.WriteFile(filepath.Join(r.Dir, ".git", "shallow"), []byte(shallow), 0o600))
		for _, most := range []int{0, 1, 31, 32, 33, 34, 50, 99, 100, 101, math.MaxInt} {
			got, err := look(most)
			if want := want[:min(most, len(want))]; err != nil || !slices.Equal(got, want) {
				t.Errorf("shallow at %q, at most %d: %q, %v; want %q", shallow, most, got, err, want)
			}
		}
	}
	gittest.Must(t, os.Remove(filepath.Join(r.Dir, ".git", "shallow")))
	links := make(map[object.Hash]bool)
	for e, err := range Links(t.Context(), repo, hashes[50], hashes[99], hashes[50]) {
		if err != nil || links[e.Hash] || len(e.Keeps) == 0 != e.Before.IsZero() || e.At.Unix() == 0 {
			t.Fatalf("link %+v: %v", e, err)
		}
		links[e.Hash] = true
	}
	if len(links) != len(hashes) {
		t.Errorf("%d links, want %d", len(links), len(hashes))
	}
	for range Links(t.Context(), repo) {
		t.Error("there are links of nothing")
	}
	for _, n := range []int{40, 90} { // in what is read together, and before that
		gittest.Must(t, os.Remove(filepath.Join(r.Dir, ".git", "objects", hashes[n].String()[:2], hashes[n].String()[2:])))
		if got, err := look(100); err == nil || len(got) > 99-n {
			t.Errorf("without event %d: %q, %v", n, got, err)
		}
	}
}
