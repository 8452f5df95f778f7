package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/gittest"
)

// find opens a test repository as a hook would.
func find(t testing.TB, r *gittest.Repo) *Repo {
	t.Helper()
	repo, err := Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func TestObjectsRoundTrip(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	ctx := context.Background()
	o := find(t, r).Objects(ctx)
	for _, content := range []string{"", "small\n", strings.Repeat("large and compressible ", 10000)} {
		h, err := o.Write(plumbing.BlobObject, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := o.Blob(h); err != nil || string(got) != content {
			t.Errorf("Blob of a staged object = %d bytes, %v; want %d bytes", len(got), err, len(content))
		}
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := r.Git("cat-file", "blob", h.String()); got != strings.TrimSuffix(content, "\n") {
			t.Errorf("git reads %d bytes, want %d", len(got), len(content))
		}
		again := find(t, r).Objects(ctx)
		if got, err := again.Blob(h); err != nil || string(got) != content {
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
	blob := plumbing.NewHash(r.Git("rev-parse", "HEAD:f"))
	r.Git("gc", "-q", "--prune=now")
	o := find(t, r).Objects(context.Background())
	defer o.Close()
	if got, err := o.Blob(blob); err != nil || string(got) != "packed\n" {
		t.Errorf("Blob = %q, %v", got, err)
	}
	absent := plumbing.NewHash("0123456789012345678901234567890123456789")
	if _, err := o.Blob(absent); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("Blob of an absent object: %v, want ErrObjectNotFound", err)
	}
	if got, err := o.Blob(blob); err != nil || string(got) != "packed\n" {
		t.Errorf("Blob after a miss = %q, %v", got, err)
	}
}

func TestCatFiles(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	for i := range 100 {
		r.Write(fmt.Sprintf("d/%03d", i), fmt.Sprintf("file %d\n", i))
	}
	r.Commit("files")
	var specs []string
	for i := range 100 {
		specs = append(specs, fmt.Sprintf("HEAD:d/%03d", i))
	}
	specs = append(specs, "HEAD:d/none")
	repo := find(t, r)
	n := 0
	err := repo.CatFiles(context.Background(), specs, func(i int, obj *plumbing.MemoryObject) error {
		if i == 100 {
			if obj != nil {
				t.Error("an object for a path that does not exist")
			}
			return nil
		}
		n++
		b, err := Content(obj)
		if want := fmt.Sprintf("file %d\n", i); string(b) != want || err != nil {
			t.Errorf("object %d = %q, %v; want %q", i, b, err, want)
		}
		return nil
	})
	if err != nil || n != 100 {
		t.Errorf("CatFiles handed over %d objects, %v", n, err)
	}
	stop := errors.New("stop")
	if err := repo.CatFiles(context.Background(), specs, func(int, *plumbing.MemoryObject) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("CatFiles = %v, want the callback's error", err)
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
		if err := o.Flush(); err != nil {
			b.Fatal(err)
		}
		o.Close()
	}
}
