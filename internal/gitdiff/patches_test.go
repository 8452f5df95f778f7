package gitdiff_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
)

// TestPatches: for each pair of trees the patch of each file, as git writes it for the two versions alone.
func TestPatches(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintln(&long, "line", i)
	}
	states := []map[string]string{
		{"a": "one\ntwo\nthree\n", "diff --git a b": "x\n", "new\nline": "1\n", "bin": "\x00\x01", "crlf": "a\r\nb\r\n", "end": "no newline", "long": ""},
		{"a": "one\n2\nthree\n", "diff --git a b": "@@ -1 +1 @@\n-a\n+b\n", "new\nline": "2\n", "bin": "\x00\x02", "crlf": "a\r\nc\r\n", "end": "with one\n", "long": long.String()},
		{"a": "index 0000000..1111111\ndiff --git a/x b/x\nBinary files a and b differ\n", "bin": "\x00\x02", "end": "with one\n", "long": long.String()},
	}
	var trees []object.Hash
	for _, files := range states {
		r.Git("rm", "-rq", "--cached", "--ignore-unmatch", ".")
		for name, text := range files {
			r.Write(name, text)
			r.Git("add", "--", name)
		}
		trees = append(trees, object.NewHash(strings.TrimSpace(r.Git("write-tree"))))
	}
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	empty := object.NewHash(strings.TrimSpace(r.Git("hash-object", "-w", "-t", "tree", "/dev/null")))
	pairs := [][2]object.Hash{{empty, trees[0]}, {trees[0], trees[1]}, {trees[1], trees[1]}, {trees[1], trees[2]}, {trees[2], trees[0]}}
	next := 0
	err = gitdiff.Patches(context.Background(), repo, pairs, gitdiff.Paths{}, 10_000, func(i int, patches map[gitdiff.Versions]*gitdiff.Patch) error {
		if i != next {
			t.Errorf("pair %d comes when %d should", i, next)
		}
		next++
		raw := strings.Split(strings.TrimSuffix(r.Git("diff-tree", "-r", "-z", "--no-renames", pairs[i][0].String(), pairs[i][1].String()), "\x00"), "\x00")
		for k := 0; k+1 < len(raw); k += 2 {
			f := strings.Fields(raw[k])
			versions := gitdiff.Versions{Old: object.NewHash(f[2]), New: object.NewHash(f[3])}
			p := patches[versions]
			if p == nil {
				t.Errorf("pair %d lacks %q", i, raw[k+1])
				continue
			}
			whole := r.Git("diff-tree", "-p", "--no-renames", pairs[i][0].String(), pairs[i][1].String(), "--", ":(literal)"+raw[k+1])
			_, hunks, found := strings.Cut(whole, "\n@@ ")
			want := ""
			if found {
				want = "@@ " + strings.TrimSuffix(hunks, "\n") + "\n" // the helper cuts it
			}
			if p.Long != (len(want) > 10_000) || p.Binary != strings.Contains(whole, "\nBinary files ") && !found || !p.Long && p.Hunks != want {
				t.Errorf("pair %d, %q: %+v\nwant %q", i, raw[k+1], p, want)
			}
		}
		if len(raw) > 1 && len(patches) != len(raw)/2 {
			t.Errorf("pair %d has %d patches, and git %d", i, len(patches), len(raw)/2)
		}
		return nil
	})
	if err != nil || next != len(pairs) {
		t.Errorf("%d pairs: %v", next, err)
	}

	stop := errors.New("enough")
	if err := gitdiff.Patches(context.Background(), repo, pairs, gitdiff.Paths{}, 10_000, func(i int, _ map[gitdiff.Versions]*gitdiff.Patch) error {
		if i > 0 {
			t.Errorf("pair %d after it was enough", i)
		}
		return stop
	}); !errors.Is(err, stop) {
		t.Errorf("enough: %v", err)
	}
	if err := gitdiff.Patches(context.Background(), repo, [][2]object.Hash{{trees[0], object.NewHash(gittest.Hash("1"))}}, gitdiff.Paths{}, 1, func(int, map[gitdiff.Versions]*gitdiff.Patch) error { return nil }); err == nil {
		t.Error("a tree that is not there is no error")
	}
}

// TestPatchesMany: however many files there are, their patches are held within a limit, and those beyond are said to be long.
func TestPatchesMany(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	blob := strings.Repeat("a line of a file\n", 12_000)
	for i := range 300 { // git keeps them as one line and what they have in common
		r.Write(fmt.Sprint("file", i), fmt.Sprint(i, "\n", blob))
	}
	r.Git("add", ".")
	tree := object.NewHash(strings.TrimSpace(r.Git("write-tree")))
	empty := object.NewHash(strings.TrimSpace(r.Git("hash-object", "-w", "-t", "tree", "/dev/null")))
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	size, long := 0, 0
	gittest.Must(t, gitdiff.Patches(context.Background(), repo, [][2]object.Hash{{empty, tree}}, gitdiff.Paths{}, 256<<10, func(_ int, patches map[gitdiff.Versions]*gitdiff.Patch) error {
		for _, p := range patches {
			size += len(p.Hunks)
			if p.Long {
				long++
			}
		}
		return nil
	}))
	if size == 0 || size > 32<<20 || long == 0 || long == 300 {
		t.Errorf("patches of %d MB, and %d are too long", size>>20, long)
	}
}
