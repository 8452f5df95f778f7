package git

import (
	"bytes"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestReadHeader reads what entryHeader writes, and checks that impossible sizes are refused.
func TestReadHeader(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 15, 16, 2047, 2048, 1 << 20, 1<<53 - 1} {
		kind, got, err := readHeader(bytes.NewReader(entryHeader(plumbing.TreeObject, size)))
		if err != nil || kind != plumbing.TreeObject || got != size {
			t.Errorf("a tree of %d bytes is read as %v of %d, %v", size, kind, got, err)
		}
	}
	for _, header := range []string{"", "\xb0", "\xbf\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\xb0\x80\x80\x80\x80\x80\x80\x80\x80\x40"} {
		if kind, size, err := readHeader(bytes.NewReader([]byte(header))); err == nil {
			t.Errorf("%x is read as %v of %d bytes", header, kind, size)
		}
	}
}
