package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// find opens a test repository the way a hook does.
func find(t testing.TB, r *gittest.Repo) *Repo {
	t.Helper()
	repo, err := Find(r.Dir)
	gittest.Must(t, err)
	return repo
}

func TestObjectsRoundTrip(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	ctx := context.Background()
	o := find(t, r).Objects(ctx)
	for _, content := range []string{"", "small\n", strings.Repeat("large and compressible ", 10000)} {
		h, err := o.Write(plumbing.BlobObject, []byte(content))
		gittest.Must(t, err)
		if got, err := o.Blob(h, 1<<30); err != nil || string(got) != content {
			t.Errorf("Blob of a staged object = %d bytes, %v; want %d bytes", len(got), err, len(content))
		}
		gittest.Must(t, o.Flush())
		if got := r.Git("cat-file", "blob", h.String()); got != strings.TrimSuffix(content, "\n") {
			t.Errorf("git reads %d bytes, want %d", len(got), len(content))
		}
		again := find(t, r).Objects(ctx)
		if got, err := again.Blob(h, 1<<30); err != nil || string(got) != content {
			t.Errorf("Blob of a flushed object = %d bytes, %v; want %d bytes", len(got), err, len(content))
		}
		again.Close()
	}
	o.Close()
	r.Git("fsck", "--strict")
}

func TestObjectsReadsPacks(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("f", "packed\n")
	r.Commit("one")
	blob := object.NewHash(r.Git("rev-parse", "HEAD:f"))
	r.Git("gc", "-q", "--prune=now")
	o := find(t, r).Objects(context.Background())
	defer o.Close()
	if got, err := o.Blob(blob, 1<<30); err != nil || string(got) != "packed\n" {
		t.Errorf("Blob = %q, %v", got, err)
	}
	absent := object.NewHash(gittest.Hash("0123456789"))
	if _, err := o.Blob(absent, 1<<30); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("Blob of an absent object: %v, want ErrObjectNotFound", err)
	}
	if got, err := o.Blob(blob, 1<<30); err != nil || string(got) != "packed\n" {
		t.Errorf("Blob after a miss = %q, %v", got, err)
	}
}

// Objects of every kind and place: loose, whole and as deltas in a small pack, in a large pack, in
// an alternate, and missing ones.
func TestObjectsReads(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	ctx := context.Background()
	lender := gittest.New(t)
	lender.Write("lent", "lent\n")
	lender.Commit("lent")
	r := gittest.New(t)
	r.Git("pull", "-q", lender.Dir, "main")
	lent := r.Git("rev-parse", "HEAD:lent")
	clone := filepath.Join(gittest.TempDir(t), "clone")
	r.Git("clone", "-q", "--shared", r.Dir, clone)
	c := r.In(clone)
	text := strings.Repeat("a line of text that is long enough for a delta\n", 100)
	for i := range 10 {
		c.Write("delta", fmt.Sprintf("%d\n%s%d\n", i, text, i))
		c.Commit(fmt.Sprint("delta ", i))
	}
	c.Git("tag", "-a", "-m", "a tag", "v1")
	c.Git("repack", "-q", "-d") // small, with deltas
	if out := c.Git("verify-pack", "-v", strings.TrimSuffix(packs(t, find(t, c), ".idx")[0], "\n")); !strings.Contains(out, "chain length") {
		t.Fatal("no deltas, so this tests nothing")
	}
	var many strings.Builder // an index too large to be read in-process
	for i := range 3000 {
		fmt.Fprintf(&many, "blob\ndata %d\n%d\n", len(fmt.Sprint(i)), i)
	}
	if _, err := c.Feed(many.String(), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
	c.Write("loose", "loose\n")
	c.Commit("loose")
	repo := find(t, c)
	flushed(t, repo, "", "small", strings.Repeat("compressed ", 1000))
	o := repo.Objects(ctx)
	defer o.Close()
	list := strings.Split(c.Git("cat-file", "--batch-all-objects", "--batch-check"), "\n")
	list = append(list, lent+" blob 5")
	if len(list) < 3000 {
		t.Fatalf("only %d objects", len(list))
	}
	for _, line := range list {
		f := strings.Fields(line)
		h, want := object.NewHash(f[0]), f[1]+" "+f[2]
		obj, err := o.object(h, 1<<30)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := fmt.Sprintf("%s %d", obj.Type, len(obj.Content)); got != want || tested.Object(obj.Type, obj.Content) != h {
			t.Errorf("%s: %s, or another content", line, got)
		}
		if err := o.Has(h); err != nil {
			t.Errorf("%s: Has: %v", line, err)
		}
	}
	absent := object.NewHash(gittest.Hash("0123456789"))
	for range 2 {
		if _, err := o.object(absent, 1<<30); !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Errorf("an object that is not there: %v", err)
		}
		if err := o.Has(absent); !errors.Is(err, plumbing.ErrObjectNotFound) {
			t.Errorf("Has of nothing: %v", err)
		}
	}
	if _, err := o.Read(plumbing.TreeObject, object.NewHash(lent), 1<<30); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a blob read as a tree: %v", err)
	}
	if _, err := o.Blob(object.NewHash(c.Git("rev-parse", "HEAD")), 1<<30); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a commit read as a blob: %v", err)
	}
}

// An object that is not flushed can be read by its writer alone.
func TestObjectsUnflushed(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	o := repo.Objects(ctx)
	h, err := o.Write(plumbing.BlobObject, []byte("staged"))
	gittest.Must(t, err)
	other := repo.Objects(ctx)
	defer other.Close()
	if _, err := r.Try("cat-file", "-e", h.String()); err == nil {
		t.Error("git sees it")
	}
	if _, err := other.Blob(h, 1<<30); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("others see it: %v", err)
	}
	if got, err := o.Blob(h, 1<<30); string(got) != "staged" || err != nil {
		t.Errorf("Blob = %q, %v", got, err)
	}
	if err := o.Has(h); err != nil {
		t.Error(err)
	}
	o.Close()
	if len(packs(t, repo, "")) > 0 {
		t.Error("Close writes")
	}
	if err := repo.Objects(ctx).Flush(); err != nil || len(packs(t, repo, "")) > 0 {
		t.Errorf("Flush of nothing: %v", err)
	}
}

func TestObjectsPack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		contents []string
	}{
		{"one", []string{"x"}},
		{"empty", []string{""}},
		{"at the limits of the size's bytes", []string{strings.Repeat("a", 15), strings.Repeat("b", 16), strings.Repeat("c", 2047), strings.Repeat("d", 2048), strings.Repeat("e", 1<<18-1), strings.Repeat("f", 1<<18)}},
		{"at the limit of what is stored as it is", []string{strings.Repeat("a", maxStored), strings.Repeat("b", maxStored+1)}},
		{"twice the same", []string{"x", "x"}},
		{"many", func() (s []string) {
			for i := range 2000 {
				s = append(s, fmt.Sprint(i))
			}
			return s
		}()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			repo := find(t, r)
			hashes := flushed(t, repo, tt.contents...)
			for i, h := range hashes {
				if want := tested.Object(plumbing.BlobObject, []byte(tt.contents[i])); h != want {
					t.Errorf("%d: hash %s, want %s", i, h, want)
				}
			}
			idx := packs(t, repo, ".idx")
			if len(idx) != 1 {
				t.Fatalf("%q, want one", idx)
			}
			r.Git("verify-pack", idx[0])
			// The index is identical to git's own.
			again := filepath.Join(gittest.TempDir(t), "x.idx")
			r.Git("index-pack", "--no-rev-index", "-o", again, strings.TrimSuffix(idx[0], ".idx")+".pack")
			ours, err := os.ReadFile(idx[0])
			gittest.Must(t, err)
			gits, err := os.ReadFile(again)
			if err != nil || !bytes.Equal(ours, gits) {
				t.Errorf("git's index of the pack differs, %v", err)
			}
			present(t, r, hashes)
		})
	}
}

// FuzzObjects: everything written is read back, by git and by us.
func FuzzObjects(f *testing.F) {
	f.Add([]byte("a"), []byte(""), uint16(3))
	f.Add([]byte("\x00\xff"), []byte("b"), uint16(9000))
	r := gittest.New(f)
	repo := find(f, r)
	f.Fuzz(func(t *testing.T, a, b []byte, repeat uint16) {
		want := [][]byte{a, b, bytes.Repeat(a, int(repeat)%5000), append(bytes.Clone(a), b...)}
		ctx := context.Background()
		o := repo.Objects(ctx)
		defer o.Close()
		var list []Wanted
		for _, content := range want {
			h, err := o.Write(plumbing.BlobObject, content)
			gittest.Must(t, err)
			list = append(list, Wanted{h, int64(len(content))})
		}
		gittest.Must(t, o.Flush())
		err := o.Each(list, func(i int, obj *Object, err error) error {
			gittest.Must(t, err)
			if !bytes.Equal(obj.Content, want[i]) {
				t.Errorf("git reads %q, want %q", obj.Content, want[i])
			}
			return nil
		})
		gittest.Must(t, err)
		again := repo.Objects(ctx)
		defer again.Close()
		for i, w := range list {
			if got, err := again.Blob(w.Hash, w.Most); err != nil || !bytes.Equal(got, want[i]) {
				t.Errorf("we read %q, %v; want %q", got, err, want[i])
			}
		}
		for _, name := range packs(t, repo, "") { // the directory stays small
			_ = os.Remove(name)
		}
	})
}

// Writers of the same objects at the same time, and several goroutines on one Objects.
func TestObjectsConcurrently(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	shared := repo.Objects(ctx)
	defer shared.Close()
	var mu sync.Mutex
	var all []object.Hash
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				own := flushed(t, repo, fmt.Sprint("the same ", i), fmt.Sprint("of all ", i))
				h, err := shared.Write(plumbing.BlobObject, fmt.Append(nil, "shared ", w, i))
				if err == nil {
					err = shared.Flush()
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, h := range append(own, h) {
					if _, err := shared.Blob(h, 1<<30); err != nil {
						t.Error(err)
					}
				}
				if _, err := shared.Blob(object.NewHash(gittest.Hash("1")), 1<<30); !errors.Is(err, plumbing.ErrObjectNotFound) {
					t.Error(err)
				}
				mu.Lock()
				all = append(append(all, own...), h)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	present(t, r, all)
	if keeps := packs(t, repo, ".keep"); len(keeps) > 0 {
		t.Errorf("%q are left", keeps)
	}
}

// Objects that exist already, loose or packed, may be written again.
func TestObjectsExisting(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "loose\n")
	r.Commit("one")
	repo := find(t, r)
	hashes := append(flushed(t, repo, "loose\n", "new\n"), flushed(t, repo, "loose\n", "new\n")...)
	if n := len(packs(t, repo, ".pack")); n != 1 {
		t.Errorf("%d packs: the same objects make the same pack", n)
	}
	r.Git("gc", "-q")
	hashes = append(hashes, flushed(t, repo, "loose\n")...)
	present(t, r, hashes)
}

// Files left by a writer that died do not disturb git or the next writer.
func TestObjectsAfterCrash(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	want := flushed(t, repo, "x", "y")
	pack := packs(t, repo, ".pack")[0]
	index := strings.TrimSuffix(pack, ".pack") + ".idx"
	half, err := os.ReadFile(pack)
	gittest.Must(t, err)
	for _, name := range []string{"tmp_pack_abc", "tmp_idx_abc"} {
		gittest.Must(t, os.WriteFile(filepath.Join(packDir(repo), name), half[:len(half)/2], 0o444))
	}
	if err := os.Remove(index); err != nil { // died between the two
		t.Fatal(err)
	}
	gittest.Must(t, os.Link(pack, strings.TrimSuffix(pack, ".pack")+".keep"))
	r.Git("fsck", "--strict")
	o := repo.Objects(context.Background())
	defer o.Close()
	if _, err := o.Blob(want[0], 1<<30); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a pack without an index is read: %v", err)
	}
	flushed(t, repo, "x", "y")
	present(t, r, want)
	gittest.Must(t, os.Chmod(pack, 0o644))
	// An index without its pack, and one that is garbage.
	for name, content := range map[string]string{"pack-1111111111111111111111111111111111111111.idx": "garbage", "pack-2222222222222222222222222222222222222222.idx": ""} {
		gittest.Must(t, os.WriteFile(filepath.Join(packDir(repo), name), []byte(content), 0o444))
	}
	again := repo.Objects(context.Background())
	defer again.Close()
	if got, err := again.Blob(want[1], 1<<30); string(got) != "y" || err != nil {
		t.Errorf("Blob = %q, %v", got, err)
	}
}

func TestObjectsModes(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	flushed(t, repo, "x")
	for _, name := range packs(t, repo, "") {
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o444 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	shared := gittest.New(t, "--shared=group")
	repo = find(t, shared)
	flushed(t, repo, "x")
	shared.Write("a", "a\n")
	shared.Commit("one")
	shared.Git("repack", "-q", "-d", "--no-write-bitmap-index")
	names := packs(t, repo, ".idx")
	for _, name := range names { // one is ours, one git's
		info, err := os.Stat(name)
		if err != nil || info.Mode()&0o440 != 0o440 || info.Mode()&0o222 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// A directory that can't be written is an error, and no object is lost.
func TestFlushFails(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	o := repo.Objects(context.Background())
	defer o.Close()
	h, err := o.Write(plumbing.BlobObject, []byte("x"))
	gittest.Must(t, err)
	dir := packDir(repo)
	gittest.Must(t, os.RemoveAll(dir))
	gittest.Must(t, os.WriteFile(dir, nil, 0o666))
	if err := o.Flush(); err == nil {
		t.Fatal("no error")
	}
	gittest.Must(t, os.Remove(dir))
	gittest.Must(t, o.Flush())
	present(t, r, []object.Hash{h})
}

// The batch process may die; the next object starts another one.
func TestObjectsBatchDies(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a", "a\n")
	r.Commit("one")
	r.Git("gc", "-q", "--prune=now")
	h := object.NewHash(r.Git("rev-parse", "HEAD:a"))
	repo := find(t, r)
	o := repo.Objects(context.Background())
	defer o.Close()
	_ = o.Has(object.NewHash(gittest.Hash("1")))
	gittest.Must(t, o.batch.cmd.Process.Kill())
	_ = o.batch.cmd.Wait()
	if err := o.Has(h); err == nil {
		t.Log("the first answer came before the end")
	}
	if err := o.Has(h); err != nil {
		t.Error(err)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	o := find(t, gittest.New(t)).Objects(t.Context())
	defer o.Close()
	absent := h(1)
	var list []Wanted
	var want []string
	for i := range 700 {
		content := fmt.Sprintf("file %d\n", i)
		most := int64(len(content))
		hash, err := o.Write(plumbing.BlobObject, []byte(content))
		gittest.Must(t, err)
		switch i % 50 {
		case 7:
			hash, content = absent, "absent"
		case 8:
			most, content = most-1, "too large"
		}
		list, want = append(list, Wanted{hash, most}), append(want, content)
	}
	gittest.Must(t, o.Flush())
	n := 0
	err := o.Each(list, func(i int, obj *Object, err error) error {
		var got string
		switch {
		case errors.Is(err, plumbing.ErrObjectNotFound):
			got = "absent"
		case errors.Is(err, ErrTooLarge):
			got = "too large"
		case err == nil && obj.Hash == list[i].Hash:
			got = string(obj.Content)
		}
		if i != n || got != want[i] {
			t.Errorf("object %d, after %d: %q, %v; want %q", i, n, got, err, want[i])
		}
		n++
		return nil
	})
	if err != nil || n != 700 {
		t.Errorf("Each handed over %d objects, %v", n, err)
	}
	stop := errors.New("stop")
	for _, at := range []int{0, 7, 300, 699} {
		err := o.Each(list, func(i int, _ *Object, _ error) error {
			if i == at {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) {
			t.Errorf("Each = %v, want the callback's error", err)
		}
		if _, err := o.Blob(list[0].Hash, 100); err != nil {
			t.Errorf("after a walk that was stopped: %v", err)
		}
	}
	if err := o.Each(nil, nil); err != nil {
		t.Error(err)
	}
}

// TestEachDamaged: a damaged object is an error for itself alone, although git ends at it.
func TestEachDamaged(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	var list []Wanted
	for i := range 20 {
		hash, err := r.Feed(fmt.Sprintf("blob %d of those of which some are damaged\n", i), "hash-object", "-w", "--stdin")
		gittest.Must(t, err)
		list = append(list, Wanted{object.NewHash(hash), 1 << 10})
		if i%3 == 1 {
			loose := filepath.Join(r.Dir, ".git", "objects", hash[:2], hash[2:])
			gittest.Must(t, os.Chmod(loose, 0o666))
			if err := os.Truncate(loose, 20); err != nil { // only its size can be read
				t.Fatal(err)
			}
		}
	}
	o := find(t, r).Objects(t.Context())
	defer o.Close()
	err := o.Each(list, func(i int, obj *Object, err error) error {
		if damaged := i%3 == 1; (err != nil) != damaged || errors.Is(err, plumbing.ErrObjectNotFound) || !damaged && string(obj.Content) != fmt.Sprintf("blob %d of those of which some are damaged\n", i) {
			t.Errorf("object %d: %v, %v", i, obj, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkWriteTurn(b *testing.B) {
	r := gittest.New(b)
	repo := find(b, r)
	for n := range b.N {
		o := repo.Objects(context.Background())
		for i := range 14 {
			if _, err := o.Write(plumbing.BlobObject, []byte(strings.Repeat(fmt.Sprintf("%d.%d ", n, i), 200))); err != nil {
				b.Fatal(err)
			}
		}
		gittest.Must(b, o.Flush())
		o.Close()
	}
}
