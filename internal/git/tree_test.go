package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestEditTreeEqualsGit makes random changes to a tree, and compares it with git's index.
func TestEditTreeEqualsGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	o := repo.Objects(ctx)
	defer o.Close()
	var blobs []object.Hash
	for i := range 5 {
		h, err := o.Write(plumbing.BlobObject, []byte(strings.Repeat("x", i)))
		gittest.Must(t, err)
		blobs = append(blobs, h)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a.b", "a-b", "a0", "ab", "b", "é", "\xff", "A"}
	path := func() string {
		elem := make([]string, 1+rnd.IntN(3))
		for i := range elem {
			elem[i] = names[rnd.IntN(len(names))]
		}
		return strings.Join(elem, "/")
	}
	tree := object.Hash{}
	content := make(map[string]object.Entry) // what the tree holds, file by file
	for step := range gittest.Size(200, 50) {
		changes := make(map[string]object.Entry)
		for range 1 + rnd.IntN(6) {
			name := path()
			if clash(changes, name) {
				continue
			}
			entry := object.Entry{Mode: []filemode.FileMode{filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Submodule}[rnd.IntN(4)], Hash: blobs[rnd.IntN(len(blobs))]}
			if rnd.IntN(3) == 0 {
				entry = object.Entry{}
			}
			// Remove by name whatever stands in the way of a new file, as status does.
			for old := range content {
				if strings.HasPrefix(old, name+"/") || entry != (object.Entry{}) && strings.HasPrefix(name, old+"/") {
					changes[old] = object.Entry{}
				}
			}
			changes[name] = entry
		}
		for name, e := range changes {
			if e == (object.Entry{}) {
				delete(content, name)
			}
		}
		for name, e := range changes {
			if e != (object.Entry{}) {
				content[name] = e
			}
		}
		next, err := o.EditTree(tree, changes)
		gittest.Must(t, err)
		if step%10 == 0 { // from here on trees are read back from git
			gittest.Must(t, o.Flush())
			o.Close()
			o = repo.Objects(ctx)
		}
		var lines strings.Builder
		for name, e := range content {
			fmt.Fprintf(&lines, "%o %s\t%s\x00", uint32(e.Mode), e.Hash, name)
		}
		s := *r
		s.Env = append(slices.Clone(r.Env), "GIT_INDEX_FILE="+filepath.Join(gittest.TempDir(t), "index"))
		if _, err := s.Feed(lines.String(), "update-index", "-z", "--index-info"); err != nil {
			t.Fatal(err)
		}
		if want := s.Git("write-tree", "--missing-ok"); next.String() != want {
			t.Fatalf("step %d: tree %s, want %s, after %v", step, next, want, changes)
		}
		tree = next
	}
}

func clash(changes map[string]object.Entry, name string) bool {
	for old := range changes {
		if old == name || strings.HasPrefix(old, name+"/") || strings.HasPrefix(name, old+"/") {
			return true
		}
	}
	return false
}

func TestEditTree(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	o := find(t, r).Objects(context.Background())
	defer o.Close()
	x := object.Entry{Mode: filemode.Regular, Hash: object.NewHash(gittest.Hash("1"))}
	y := object.Entry{Mode: filemode.Symlink, Hash: object.NewHash(gittest.Hash("2"))}
	type tree = map[string]object.Entry
	for _, tt := range []struct {
		name                string
		base, changes, want tree
	}{
		{"nothing", tree{"a": x}, nil, tree{"a": x}},
		{"nothing in nothing", nil, nil, nil},
		{"the last file of a directory", tree{"a": x, "d/e/f": x}, tree{"d/e/f": {}}, tree{"a": x}},
		{"the last file", tree{"a": x}, tree{"a": {}}, nil},
		{"a whole directory", tree{"a": x, "d/e": x, "d/f": x}, tree{"d": {}}, tree{"a": x}},
		{"what is not there", tree{"a": x}, tree{"b": {}, "c/d": {}, "a/b": {}}, tree{"a": x}},
		{"file to directory", tree{"a": x}, tree{"a": {}, "a/b": y}, tree{"a/b": y}},
		{"file to directory, unsaid", tree{"a": x}, tree{"a/b": y}, tree{"a/b": y}},
		{"file to a directory that vanished", tree{"a": x, "b": x}, tree{"a": {}, "a/b": {}}, tree{"b": x}},
		{"directory to file", tree{"a/b": x, "a/c": x}, tree{"a/b": {}, "a/c": {}, "a": y}, tree{"a": y}},
		{"directory to file, unsaid", tree{"a/b": x}, tree{"a": y}, tree{"a": y}},
		{"directory stays when the file does not come", tree{"a/b": x, "a/c": x}, tree{"a": {}, "a/b": {}}, tree{"a/c": x}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, err := o.EditTree(object.Hash{}, tt.base)
			gittest.Must(t, err)
			got, err := o.EditTree(base, tt.changes)
			gittest.Must(t, err)
			want, err := o.EditTree(object.Hash{}, tt.want)
			gittest.Must(t, err)
			if got != want {
				entries, _ := o.Tree(got, MaxTree)
				t.Errorf("top %v, want what %v makes", entries, tt.want)
			}
		})
	}
	if _, err := o.EditTree(object.NewHash(gittest.Hash("3")), tree{"a": x}); err == nil {
		t.Error("a base that is not there is no error")
	}
}
