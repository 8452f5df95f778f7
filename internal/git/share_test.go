package git

import (
	"context"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestShare: what a tree shares with a stored one is not written again; what only looks alike is.
func TestShare(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	o := find(t, r).Objects(context.Background())
	defer o.Close()
	blob := func(content string) object.Entry {
		t.Helper()
		h, err := o.Write(plumbing.BlobObject, []byte(content))
		gittest.Must(t, err)
		return object.Entry{Mode: filemode.Regular, Hash: h}
	}
	edit := func(files map[string]object.Entry) object.Hash {
		t.Helper()
		tree, err := o.EditTree(object.Hash{}, files)
		gittest.Must(t, err)
		return tree
	}
	base := map[string]object.Entry{"a": blob("a"), "d/b": blob("b"), "e/f/c": blob("c"), "e/g": blob("g")}
	stored := edit(base)
	gittest.Must(t, o.Flush())

	again := find(t, r).Objects(context.Background())
	defer again.Close()
	o = again
	same := edit(map[string]object.Entry{"a": blob("a"), "d/b": blob("b"), "e/f/c": blob("c"), "e/g": blob("g")})
	gittest.Must(t, o.Share(same, stored))
	if len(o.staged) != 0 {
		t.Errorf("%d objects of a stored tree are staged", len(o.staged))
	}
	moved := blob("b") // it is stored under another name, where Share does not look
	tree := edit(map[string]object.Entry{"a": blob("new a"), "d/b": blob("b"), "e/f/c": blob("c"), "e/g": blob("new g"), "moved": moved})
	gittest.Must(t, o.Share(tree, stored))
	gittest.Must(t, o.Flush())
	if got := r.Git("show", tree.String()+":e/f/c"); got != "c" {
		t.Errorf("e/f/c is %q", got)
	}
	if got := r.Git("show", tree.String()+":moved"); got != "b" {
		t.Errorf("moved is %q", got)
	}
	r.Git("fsck", "--strict", "--no-dangling")
}

// TestFlushTrees: what is staged beside some trees is written with them by nobody.
func TestFlushTrees(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	o := find(t, r).Objects(context.Background())
	defer o.Close()
	write := func(content string) object.Hash {
		t.Helper()
		h, err := o.Write(plumbing.BlobObject, []byte(content))
		gittest.Must(t, err)
		return h
	}
	tree := func(name, content string) object.Hash {
		t.Helper()
		h, err := o.EditTree(object.Hash{}, map[string]object.Entry{name: {Mode: filemode.Regular, Hash: write(content)}})
		gittest.Must(t, err)
		return h
	}
	one, two, other := tree("d/e/f", "1"), tree("d/g", "2"), tree("h", "3")
	said := write("said")
	gittest.Must(t, o.FlushTrees(one, two))
	r.Says("1", "cat-file", "blob", one.String()+":d/e/f")
	r.Says("2", "cat-file", "blob", two.String()+":d/g")
	for _, h := range []object.Hash{said, other} {
		if out, err := r.Try("cat-file", "-e", h.String()); err == nil {
			t.Errorf("%s is there: %s", h, out)
		}
	}
	gittest.Must(t, o.Flush())
	r.Says("said", "cat-file", "blob", said.String())
	r.Says("3", "cat-file", "blob", other.String()+":h")
	r.Git("fsck", "--strict", "--no-dangling")
}

// TestSpare: what is in the database, in a file or a small pack, is not written again.
func TestSpare(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	loose, err := r.Feed("loose", "hash-object", "-w", "--stdin")
	gittest.Must(t, err)
	o := find(t, r).Objects(context.Background())
	packed, err := o.Write(plumbing.BlobObject, []byte("packed"))
	gittest.Must(t, err)
	gittest.Must(t, o.Flush())
	o.Close()

	o = find(t, r).Objects(context.Background())
	defer o.Close()
	for _, content := range []string{"loose", "packed", "new"} {
		_, err := o.Write(plumbing.BlobObject, []byte(content))
		gittest.Must(t, err)
	}
	if size := o.Spare(); size != 3 || len(o.staged) != 1 {
		t.Errorf("%d bytes of %d objects are left", size, len(o.staged))
	}
	if !o.Stored(object.NewHash(strings.TrimSpace(loose))) || !o.Stored(packed) || o.Stored(o.staged[0]) || o.Stored(object.Hash{}) {
		t.Error("what is stored is not told from what is not")
	}
	gittest.Must(t, o.Flush())
	r.Git("fsck")
}
