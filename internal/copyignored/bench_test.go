package copyignored

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// The dependencies of a large project: TMPDIR says on which file system.
//
//	go test -run - -bench . -benchtime 1x ./internal/copyignored
func BenchmarkInclude(b *testing.B) {
	r := gittest.New(b)
	r.Do(".gitignore=node_modules/; commit one")
	content := strings.Repeat("0123456789abcdef", 1000)
	for i := range gittest.Size(50_000, 1000) {
		r.Write(fmt.Sprintf("node_modules/pkg%d/lib/%d/%d.js", i/100, i/10%10, i), content[:i%12000])
	}
	repo := open(b, r.Dir)
	ctx := context.Background()
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			if _, err := Find(ctx, repo, []string{"node_modules/"}, plenty); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		files := find(b, r, "node_modules/")
		b.SetBytes(files.Amount().Bytes)
		to := worktree(b, r)
		for b.Loop() {
			if _, err := files.Copy(ctx, to, nil); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			gittest.Must(b, os.RemoveAll(filepath.Join(to.Top, "node_modules")))
			b.StartTimer()
		}
	})
}
