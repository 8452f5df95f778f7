package gitdiff

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
	"gitagent/test/worst"
)

func TestTrees(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := gittest.New(t)
	r.Write("a", "1\n2\n3\n")
	r.Write("bin", "\x00\x01")
	r.Write("gone", "x\n")
	r.Write("mode", "m\n")
	r.Write("same", "s\n")
	r.Write("to-link", "target\n")
	r.Write("d/e/f", "f\n")
	r.Commit("one")
	from := object.NewHash(r.Git("rev-parse", "HEAD^{tree}"))
	r.Write("a", "1\ntwo\n3\n4\n")
	r.Write("bin", "\x00\x02\x03")
	r.Write("new\nline", "n\n")
	r.Write("\xff \"quoted\"\t", "n\nm\n")
	r.Write("d/e/f", "changed") // no newline at the end
	for _, name := range []string{"gone", "to-link"} {
		gittest.Must(t, os.Remove(filepath.Join(r.Dir, name)))
	}
	gittest.Must(t, os.Symlink("a", filepath.Join(r.Dir, "to-link")))
	gittest.Must(t, os.Chmod(filepath.Join(r.Dir, "mode"), 0o755))
	// The user's diff settings are for people to read, and must not change what we count.
	for _, c := range [][]string{{"diff.renames", "copies"}, {"diff.noprefix", "true"}, {"diff.external", "false"}, {"color.ui", "always"}, {"diff.orderFile", "/nowhere"}, {"core.quotePath", "true"}, {"diff.x.textconv", "false"}} {
		r.Git("config", c[0], c[1])
	}
	r.Git("config", "--unset", "diff.orderFile")
	r.Commit("two")
	to := object.NewHash(r.Git("rev-parse", "HEAD^{tree}"))
	repo := find(t, r)
	want := []FileStat{
		{Path: "a", Insertions: 2, Deletions: 1},
		{Path: "bin", Binary: true},
		{Path: "d/e/f", Insertions: 1, Deletions: 1},
		{Path: "gone", Deletions: 1},
		{Path: "mode"},
		{Path: "new\nline", Insertions: 1},
		{Path: "to-link", Insertions: 1, Deletions: 1},
		{Path: "\xff \"quoted\"\t", Insertions: 2},
	}
	got, err := Trees(ctx, repo, from, to)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("Trees = %+v, %v; want %+v", got, err, want)
	}
	if got, err := Shown(ctx, repo, from, to); err != nil || !slices.Equal(got, want) {
		t.Errorf("Shown = %+v, %v; want %+v", got, err, want)
	}
	o := repo.Objects(ctx)
	defer o.Close()
	if got, ok, err := Stat(o, from, to); err != nil || ok && !slices.Equal(got, want) {
		t.Errorf("Stat = %+v, %v, %v; want %+v", got, ok, err, want)
	}
	empty := tested.EmptyTree()
	if got, err := Trees(ctx, repo, empty, from); err != nil || len(got) != 7 {
		t.Errorf("from the empty tree: %+v, %v", got, err)
	}
	if got, err := Trees(ctx, repo, to, to); err != nil || len(got) != 0 {
		t.Errorf("to itself: %+v, %v", got, err)
	}
	if _, err := Trees(ctx, repo, to, object.NewHash(gittest.Hash("1"))); git.Status(err) != 128 {
		t.Errorf("a tree that is not there: %v", err)
	}
}

// TestShown: a large file is not read, and so not counted.
func TestShown(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	r.Write("large", "x\n")
	r.Commit("one")
	r.Write("large", strings.Repeat("x\n", 17<<20))
	r.Commit("two")
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	from, to := object.NewHash(r.Git("rev-parse", "HEAD~")), object.NewHash(r.Git("rev-parse", "HEAD"))
	if got, err := Shown(t.Context(), repo, from, to); err != nil || !slices.Equal(got, []FileStat{{Path: "large", Binary: true}}) {
		t.Errorf("Shown = %+v, %v", got, err)
	}
}

// TestAlignWorst: no two texts are aligned for long; beyond the limits they are not.
func TestAlignWorst(t *testing.T) {
	gittest.Check(t)
	for _, size := range []int{30_000, 256 << 10} {
		last := ""
		worst.Hold(t, size, []string{"a", "b", "\n", "a\n", "b\n", "ab\n", "\n\n", "c\nd\n"}, func(text string) {
			Align([]byte(last), []byte(text))
			last = text
		})
	}
}
