package git

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// A damaged pack or index is skipped; it neither stops nor fills the process, and never yields
// another object than the requested one.
func FuzzSmallPack(f *testing.F) {
	var objects []*Object
	for _, content := range []string{"", "one", string(bytes.Repeat([]byte("compressed "), 1000))} {
		hash := tested.Object(plumbing.BlobObject, []byte(content))
		objects = append(objects, &Object{hash, plumbing.BlobObject, []byte(content)})
	}
	pack, index, err := encodePack(tested, objects)
	gittest.Must(f, err)
	f.Add(pack, index)
	f.Add(pack[:len(pack)/2], index)
	f.Add(pack, index[:len(index)/2])
	f.Add([]byte("PACK"), bytes.Repeat([]byte{0xff}, 2000))
	f.Add(pack, append(append(bytes.Clone(index[:8]), bytes.Repeat([]byte{0x7f}, 1024)...), index[1032:]...))
	f.Fuzz(func(t *testing.T, pack, index []byte) {
		if len(index) > maxSmallIndex {
			return
		}
		dir := t.TempDir()
		for name, content := range map[string][]byte{"pack-1.pack": pack, "pack-1.idx": index} {
			gittest.Must(t, os.WriteFile(filepath.Join(dir, name), content, 0o666))
		}
		s := smallPacks{dir: dir, format: tested}
		defer s.close()
		for _, want := range objects {
			if kind, got := s.get(want.Hash, 1<<30); got != nil && tested.Object(kind, got) != want.Hash {
				t.Errorf("asked for %s, got %s", want.Hash, tested.Object(kind, got))
			}
		}
	})
}

// TestIndexAlone: an index whose pack is gone has nothing.
func TestIndexAlone(t *testing.T) {
	t.Parallel()
	repo := gittest.New(t)
	repo.Do("file=1; commit first")
	repo.Git("repack", "-adq")
	r, err := Find(repo.Dir)
	gittest.Must(t, err)
	head, err := object.ParseHash(repo.Git("rev-parse", "HEAD"))
	gittest.Must(t, err)
	for _, gone := range []bool{false, true} {
		if gone {
			files, err := filepath.Glob(filepath.Join(repo.Dir, ".git", "objects", "pack", "*.pack"))
			if err != nil || len(files) != 1 {
				t.Fatalf("packs are %q, %v", files, err)
			}
			gittest.Must(t, os.Remove(files[0]))
		}
		s := smallPacks{dir: filepath.Join(repo.Dir, ".git", "objects", "pack"), format: r.Format()}
		if kind, _ := s.get(head, 1<<20); s.has(head) == gone || (kind == plumbing.InvalidObject) != gone {
			t.Errorf("the pack is gone: %t; there it is: %t, %s", gone, s.has(head), kind)
		}
		s.close()
	}
}
