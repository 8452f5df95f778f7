package turns

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// TestBatches: a batch of a search has no more bytes of records than it may, but for its last one.
func TestBatches(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	objects := repo.Objects(t.Context())
	defer objects.Close()
	const id, n = record.ID("a1b2c3d4"), 60
	files := make(map[string][]byte)
	for number := 1; number <= n; number++ {
		files[ledger.TurnPath("turns", number, ".json")] = fmt.Appendf(nil, `{"v":1,"kind":"turn","mission":%q,"turn":%d,"outcome":"done","prompt":%q,"code":"`+gittest.Hash("035889dde589b207bdc928f32292daf5f0ad0bad")+`"}`,
			id, number, strings.Repeat("x", maxBatchBytes/20))
	}
	tip, err := ledger.New(objects, &record.Mission{V: record.Version, ID: id}).Append(ledger.Event{Subject: "turns", Files: files})
	err = errors.Join(err, objects.Flush())
	gittest.Must(t, err)
	gittest.Must(t, repo.UpdateRefs(t.Context(), "test", []git.Update{{Ref: id.Ref(), New: tip, Old: object.Hash{}}}))
	found := 0
	err = new(Search).walk(t.Context(), workspace.New(repo, config.Default()), "", func(b *batch) error {
		size := 0
		for _, c := range b.turns[:len(b.turns)-1] {
			size += 2 * c.Text.Size()
		}
		if found += len(b.turns); size >= maxBatchBytes {
			t.Errorf("a batch of %d turns has %d bytes of records before the last", len(b.turns), size)
		}
		return nil
	})
	if err != nil || found != n {
		t.Errorf("%d turns of %d, %v", found, n, err)
	}
}
