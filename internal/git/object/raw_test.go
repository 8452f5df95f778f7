package object

import (
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
