package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestRollUpBesideGit runs writers, readers, and roll-ups or joins, beside a git that collects garbage or
// repacks: no object is lost, and no `git gc` fails. A `git repack` may fail: nothing shows that it
// runs, a pack that it has listed may go, and here packs go faster than anywhere else.
func TestRollUpBesideGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	rounds := gittest.Size(20, 3)
	for i := range 4 {
		args, how := []string{"gc", "-q"}, "roll up"
		if i%2 == 1 {
			args = []string{"repack", "-A", "-d", "-q"}
		}
		if i >= 2 {
			how = "join"
		}
		t.Run(how+" beside "+strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			repo := find(t, r)
			ctx := context.Background()
			var mu sync.Mutex
			var all []object.Hash
			var rolled atomic.Bool
			done, wrote := make(chan struct{}), make(chan struct{}, 2*maxSmallPacks)
			write := func(w, i int, last object.Hash) object.Hash {
				hashes := commitPack(t, repo, fmt.Sprint("writer ", w, " pack ", i), last)
				update := Update{Ref: fmt.Sprint("refs/agent/writers/", w), New: hashes[0], Old: last}
				if err := repo.UpdateRefs(ctx, "test", []Update{update}); err != nil {
					t.Errorf("move ref: %v", err)
				}
				mu.Lock()
				all = append(all, hashes...)
				recent := all[max(0, len(all)-50):]
				mu.Unlock()
				var err error
				if how == "join" {
					err = Join(ctx, repo)
				} else if RollUpDue(repo) {
					err = RollUp(ctx, repo)
				}
				if err != nil {
					t.Errorf("%s: %v", how, err)
				}
				for _, note := range []string{oldPacksFile, joinedPacksFile} {
					if isFile(agentDir(repo).Path(note)) {
						rolled.Store(true)
					}
					if old := time.Now().Add(-oldPacksWait); i%8 == 0 {
						_ = os.Chtimes(agentDir(repo).Path(note), old, old) // an hour has passed, if there is one
					}
				}
				o := repo.Objects(ctx)
				defer o.Close()
				for _, h := range recent {
					if err := o.Has(h); err != nil {
						t.Errorf("read %s: %v", h, err)
					}
				}
				return hashes[0]
			}
			var writers sync.WaitGroup
			for w := range 3 {
				writers.Go(func() {
					var last object.Hash
					for i := 0; ; i++ {
						last = write(w, i, last)
						select {
						case wrote <- struct{}{}:
						case <-done:
							return
						}
					}
				})
			}
			// None is rolled up while a gc runs, so some more rounds may be needed.
			for n := 0; n < rounds || !rolled.Load(); n++ {
				for range maxSmallPacks - 3 + rand.IntN(maxSmallPacks) { // around the moment when a roll-up is due
					<-wrote
				}
				if _, err := r.Try(args...); err != nil && args[0] == "gc" {
					t.Error(err)
				}
			}
			close(done)
			writers.Wait()
			present(t, r, all)
		})
	}
}

// commitPack writes a pack of a commit, its tree and its blobs, and returns them, the commit first.
func commitPack(t testing.TB, repo *Repo, text string, parent object.Hash) []object.Hash {
	t.Helper()
	o := repo.Objects(context.Background())
	defer o.Close()
	must := func(h object.Hash, err error) object.Hash {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return h
	}
	one, all := must(o.Write(plumbing.BlobObject, []byte(text))), must(o.Write(plumbing.BlobObject, []byte("in all packs")))
	tree := must(o.EditTree(object.Hash{}, map[string]object.Entry{"a": {Mode: 0o100644, Hash: one}, "b/c": {Mode: 0o100644, Hash: all}}))
	var parents []object.Hash
	if !parent.IsZero() {
		parents = []object.Hash{parent}
	}
	who := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(1_700_000_000, 0)}
	commit := must(o.CommitTree(tree, parents, who, who, text+"\n"))
	if err := o.Flush(); err != nil {
		t.Error(err)
	}
	return []object.Hash{commit, tree, one, all}
}
