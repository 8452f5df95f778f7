package object

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestParseRaw: what a commit has that only others know is kept to the byte, and one that would not be is refused.
func TestParseRaw(t *testing.T) {
	t.Parallel()
	tree, parent := "tree "+tested.EmptyTree().String()+"\n", "parent "+gittest.Hash("1")+"\n"
	for _, content := range []string{
		tree + "author a\ncommitter b\n\n",
		tree + parent + parent + "author  D <> x> 1 -0\ncommitter c\n\nm\n\nmore",
		tree + "author a\ncommitter b\nencoding x\nodd\ngpgsig 1\n 2\n \n 3\nmergetag object\n\n\x00",
	} {
		if c, ok := ParseRaw([]byte(content)); !ok || string(c.Encode()) != content {
			t.Errorf("%q is read as %+v, %t", content, c, ok)
		}
	}
	for _, content := range []string{
		"", tree, tree + "author a\ncommitter b\n", parent + tree + "author a\ncommitter b\n\n",
		tree + "author a\n\n", tree + "committer b\nauthor a\n\n", tree + "author a\nodd\ncommitter b\n\n",
		tree + "author a\nparent " + gittest.Hash("1") + "\ncommitter b\n\n", tree + "author a\ncommitter b\n 2\n\n",
		tree + "parent " + gittest.Hash("0") + "\nauthor a\ncommitter b\n\n",
	} {
		if c, ok := ParseRaw([]byte(content)); ok {
			t.Errorf("%q is read as %+v", content, c)
		}
	}
}

// TestParseRawLongHeader: an untrusted header with many lines takes no more memory than a few copies.
func TestParseRawLongHeader(t *testing.T) {
	content := []byte("tree " + tested.EmptyTree().String() + "\nauthor a\ncommitter b\nx" + strings.Repeat("\n ", 1<<14) + "\n\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, ok := ParseRaw(content)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; !ok || used > 64*uint64(len(content)) {
		t.Errorf("read %t, %d bytes take %d", ok, len(content), used)
	}
}

// TestParseRawTree: modes that git does not write, and names that repeat, are kept to the byte.
func TestParseRawTree(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("h", tested.Size())
	content := "040000 d\x00" + hash + "100664 d\x00" + hash + "0 \x00" + hash
	entries, err := ParseRawTree(tested, []byte(content))
	var again []byte
	var kinds string
	for _, e := range entries {
		again = tested.Append(append(again, e.Head...), e.Hash)
		kinds += fmt.Sprintf("%o %q\n", uint32(e.Kind()), e.Name)
	}
	if want := "40000 \"d\"\n100000 \"d\"\n0 \"\"\n"; err != nil || string(again) != content || kinds != want {
		t.Errorf("%q is read as\n%s, written as %q, %v", content, kinds, again, err)
	}
	for _, content := range []string{"1", "100644 f", "100644 f\x00" + hash[1:], "f\x00" + hash, "8 f\x00" + hash} {
		if entries, err := ParseRawTree(tested, []byte(content)); err == nil {
			t.Errorf("%q is read as %v", content, entries)
		}
	}
}
