package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestBlobs: every blob comes in its place, however much of it and of the others is read, and so does
// why one does not.
func TestBlobs(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	content := func(i int) string { return strings.Repeat(fmt.Sprintf("file %d\n", i), 1+i*i%7000) }
	for i := range 300 {
		r.Write(fmt.Sprintf("d/%03d", i), content(i))
	}
	r.Commit("files")
	var list []Wanted
	var want []string
	for i, hash := range strings.Fields(r.Git("ls-tree", "--object-only", "HEAD:d/")) {
		w, text := Wanted{object.NewHash(hash), 1 << 20}, content(i)
		switch i % 40 {
		case 7:
			w.Hash, text = h(1), "absent"
		case 8:
			w.Most, text = int64(len(text)-1), "too large"
		case 9:
			w.Hash, text = object.NewHash(r.Git("rev-parse", "HEAD^{tree}")), "absent"
		}
		list, want = append(list, w), append(want, text)
	}
	o := find(t, r).Objects(t.Context())
	defer o.Close()
	n := 0
	err := o.Blobs(list, func(i int, content io.Reader, err error) error {
		var got string
		switch {
		case errors.Is(err, plumbing.ErrObjectNotFound):
			got = "absent"
		case errors.Is(err, ErrTooLarge):
			got = "too large"
		case err == nil:
			part := len(want[i]) * (i % 3) / 2
			data := make([]byte, part)
			_, err = io.ReadFull(content, data)
			if got = string(data); got == want[i][:part] && i%3 != 2 {
				got = want[i]
			}
			if part == len(want[i]) {
				if n, err := content.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("blob %d goes on: %d, %v", i, n, err)
				}
			}
		}
		if i != n || got != want[i] {
			t.Errorf("blob %d, after %d: %.30q, %v; want %.30q", i, n, got, err, want[i])
		}
		n++
		return nil
	})
	if err != nil || n != len(list) {
		t.Errorf("Blobs handed over %d of %d, %v", n, len(list), err)
	}
	stop := errors.New("stop")
	for _, at := range []int{0, 7, 290} {
		err := o.Blobs(list, func(i int, _ io.Reader, _ error) error {
			if i == at {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) {
			t.Errorf("Blobs = %v, want the callback's error", err)
		}
		if _, err := o.Blob(list[0].Hash, 100); err != nil {
			t.Errorf("after a walk that was stopped: %v", err)
		}
	}
}

// TestBlobsDamaged: a damaged blob is an error for itself alone, although git ends at it.
func TestBlobsDamaged(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	content := func(i int) string { return strings.Repeat(fmt.Sprintf("blob %d, some are damaged\n", i), 1000) }
	var list []Wanted
	for i := range 20 {
		hash, err := r.Feed(content(i), "hash-object", "-w", "--stdin")
		gittest.Must(t, err)
		list = append(list, Wanted{object.NewHash(hash), 1 << 20})
		if i%3 == 1 {
			loose := filepath.Join(r.Dir, ".git", "objects", hash[:2], hash[2:])
			gittest.Must(t, os.Chmod(loose, 0o666))
			if err := os.Truncate(loose, 30); err != nil { // only its size can be read
				t.Fatal(err)
			}
		}
	}
	o := find(t, r).Objects(t.Context())
	defer o.Close()
	n := 0
	err := o.Blobs(list, func(i int, r io.Reader, err error) error {
		var got []byte
		if err == nil {
			got, err = io.ReadAll(r)
		}
		if damaged := i%3 == 1; i != n || (err != nil) != damaged || !damaged && string(got) != content(i) {
			t.Errorf("blob %d: %d bytes, %v", i, len(got), err)
		}
		n++
		return nil
	})
	if err != nil || n != len(list) {
		t.Errorf("Blobs handed over %d of %d, %v", n, len(list), err)
	}
}
