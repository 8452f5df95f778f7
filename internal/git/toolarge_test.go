package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestTooLarge: an object that is larger than its reader allows costs an error and no memory,
// wherever it is, and says so in Each as well.
func TestTooLarge(t *testing.T) {
	gittest.Check(t)
	const size = 16 << 20
	zeros := strings.Repeat("\x00", size)
	large := tested.Object(plumbing.BlobObject, []byte(zeros))
	for name, put := range map[string]func(r *gittest.Repo){
		"loose": func(*gittest.Repo) {},
		"in a small pack": func(r *gittest.Repo) {
			r.Git("repack", "-q", "-a", "-d")
		},
		"in a large pack": func(r *gittest.Repo) {
			crowd(t, r, 3000)
			r.Git("repack", "-q", "-a", "-d")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			if _, err := r.Feed(zeros, "hash-object", "-w", "--stdin"); err != nil {
				t.Fatal(err)
			}
			r.Git("update-ref", "refs/tags/large", large.String())
			put(r)
			o := find(t, r).Objects(t.Context())
			defer o.Close()
			if grown := allocated(func() {
				if _, err := o.Blob(large, size-1); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprint(size)) {
					t.Errorf("Blob: %v, want ErrTooLarge with the size", err)
				}
				err := o.Each([]Wanted{{large, 1 << 20}}, func(_ int, _ *Object, err error) error { return err })
				if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), large.String()) {
					t.Errorf("Each: %v, want ErrTooLarge with the name", err)
				}
			}); grown > 4<<20 {
				t.Errorf("%d bytes were allocated", grown)
			}
			if err := o.Has(large); err != nil {
				t.Errorf("Has: %v", err)
			}
			if got, err := o.Blob(large, size); err != nil || string(got) != zeros {
				t.Errorf("allowed, it has %d bytes, %v", len(got), err)
			}
		})
	}
}

// TestDeltaBomb: deltas that are small themselves, of objects or with results that are not.
func TestDeltaBomb(t *testing.T) {
	gittest.Check(t)
	const size, most = 16 << 20, 1 << 20
	base := bytes.Repeat([]byte{0}, size)
	for name, tt := range map[string]struct {
		deltas [][]byte // each of the object before
		result []byte
	}{
		"a large base":           {[][]byte{deltaOf(size, 100, 0)}, base[:100]},
		"a large result":         {[][]byte{deltaOf(size, size, 1)}, append(bytes.Repeat([]byte{0}, size-1), 1)},
		"a large one in between": {[][]byte{deltaOf(size, 100, 0), deltaOf(100, 50, 0)}, base[:50]},
		"grown from a small one": {[][]byte{deltaOf(size, 100, 0), grow(100, size)}, base},
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			h := tested.Object(plumbing.BlobObject, tt.result)
			plantPack(t, r, base, tt.deltas)
			o := find(t, r).Objects(t.Context())
			defer o.Close()
			if grown := allocated(func() {
				content, err := o.Blob(h, most)
				if err == nil && !bytes.Equal(content, tt.result) {
					t.Errorf("%d bytes of another content", len(content))
				}
				if len(tt.result) > most && err == nil {
					t.Error("it was read")
				}
			}); grown > 6<<20 {
				t.Errorf("%d bytes were allocated", grown)
			}
		})
	}
}

// TestStream: a large blob is read without having all of it in memory.
func TestStream(t *testing.T) {
	gittest.Check(t)
	const size = 40 << 20
	r := gittest.New(t)
	zeros := strings.Repeat("\x00", size)
	if _, err := r.Feed(zeros, "hash-object", "-w", "--stdin"); err != nil {
		t.Fatal(err)
	}
	large := tested.Object(plumbing.BlobObject, []byte(zeros))
	o := find(t, r).Objects(t.Context())
	defer o.Close()
	small, err := o.Write(plumbing.BlobObject, []byte("small"))
	gittest.Must(t, err)
	for h, want := range map[object.Hash]int64{large: size, small: 5} {
		if grown := allocated(func() {
			err := o.Stream(h, size, func(r io.Reader) error {
				n, err := io.Copy(io.Discard, r)
				if n != want {
					t.Errorf("%d bytes, want %d", n, want)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}); grown > 4<<20 {
			t.Errorf("%d bytes were allocated", grown)
		}
	}
	if err := o.Stream(large, size-1, func(io.Reader) error { return nil }); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Stream: %v, want ErrTooLarge", err)
	}
	stop := errors.New("stop")
	if err := o.Stream(large, size, func(io.Reader) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Stream: %v, want the error of the function", err)
	}
	if err := o.Stream(h(1), size, func(io.Reader) error { return nil }); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("Stream of nothing: %v", err)
	}
}

// crowd gives a repository so many objects.
func crowd(t *testing.T, r *gittest.Repo, n int) {
	t.Helper()
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "blob\ndata <<E\n%d\nE\n", i)
	}
	in.WriteString("done\n")
	if _, err := r.Feed(in.String(), "fast-import", "--quiet", "--done"); err != nil {
		t.Fatal(err)
	}
}

// allocated is how many bytes f allocates, in this process: no other test may run beside it.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// deltaOf makes a delta whose result is the beginning of its base, and with last ends in that byte.
func deltaOf(from, to int, last byte) []byte {
	d := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
	left := to
	if last != 0 {
		left--
	}
	for left > 0 {
		n := min(left, 0xffff)
		d = append(d, 0x80|0x10|0x20, byte(n), byte(n>>8)) // copy n bytes from 0
		left -= n
	}
	if last != 0 {
		d = append(d, 1, last)
	}
	return d
}

// grow makes a delta whose result repeats its base.
func grow(from, to int) []byte {
	d := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
	for left := to; left > 0; left -= min(left, from) {
		d = append(d, 0x80|0x10, byte(min(left, from)))
	}
	return d
}

// plantPack gives a repository a pack of a blob and of deltas, each of the object before.
func plantPack(t *testing.T, r *gittest.Repo, base []byte, deltas [][]byte) {
	t.Helper()
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02")
	pack.Write(binary.BigEndian.AppendUint32(nil, uint32(1+len(deltas))))
	before := pack.Len()
	pack.Write(entryHeader(plumbing.BlobObject, int64(len(base))))
	new(deflater).deflate(&pack, base, false)
	for _, d := range deltas {
		at := pack.Len()
		pack.Write(entryHeader(plumbing.OFSDeltaObject, int64(len(d))))
		back := []byte{byte((at - before) & 0x7f)}
		for n := (at-before)>>7 - 1; n >= 0; n = n>>7 - 1 {
			back = append([]byte{0x80 | byte(n&0x7f)}, back...)
		}
		pack.Write(back)
		new(deflater).deflate(&pack, d, false)
		before = at
	}
	sum := tested.Checksum(pack.Bytes())
	pack.Write(sum.Bytes())
	if _, err := r.Feed(pack.String(), "index-pack", "--stdin"); err != nil {
		t.Fatal(err)
	}
}
