package blame

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestLookup: what files were in the commits of a graph is what git says of each commit, for merges, ends of the graph,
// commits without a tree, files that become directories or submodules, and equal trees.
func TestLookup(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	rnd := rand.New(rand.NewPCG(5, 38))
	blobs := make([]string, 4)
	for i := range blobs {
		blobs[i] = r.Pipe(fmt.Sprintf("text %d\n", i), "hash-object", "-w", "--stdin")
	}
	names := []string{"file", "dir/one", "dir/two", "dir/three", "dir/sub/deep", "dir/*", ":odd", "gone"}
	var nodes []*node
	for at := range 60 {
		n := &node{first: -1, edge: at < 6}
		if at >= 6 && rnd.IntN(20) > 0 {
			n.first = rnd.IntN(at)
		}
		if rnd.IntN(15) > 0 {
			n.tree = object.NewHash(treeOf(r, rnd, blobs))
		}
		nodes = append(nodes, n)
	}
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	want := make([]map[string]object.Hash, len(nodes))
	for at, n := range nodes {
		want[at] = blobsIn(r, n.tree)
	}
	for _, together := range [][]string{names[:1], names[1:3], names} {
		l := newLookup(nodes)
		gittest.Must(t, l.ask(t.Context(), repo, nodes, together))
		for _, name := range together {
			if !l.has(name) {
				t.Fatalf("%q is not looked up", name)
			}
			for at, got := range l.blobs(name) {
				if got != want[at][name] {
					t.Errorf("of %d files, %q is %s at %d, want %s", len(together), name, got, at, want[at][name])
				}
			}
		}
	}
}

// treeOf makes a tree of a few files: here and there a file is a directory, or a directory a submodule.
func treeOf(r *gittest.Repo, rnd *rand.Rand, blobs []string) string {
	var index strings.Builder
	add := func(mode, hash, name string) { fmt.Fprintf(&index, "%s %s\t%s\n", mode, hash, name) }
	blob := func() string { return blobs[rnd.IntN(len(blobs))] }
	if rnd.IntN(8) == 0 {
		add("100644", blob(), "file/below")
	} else {
		add("100755", blob(), "file")
	}
	switch rnd.IntN(8) {
	case 0:
		add("160000", strings.Repeat("12", len(blobs[0])/2), "dir")
	case 1:
	default:
		for _, name := range []string{"dir/one", "dir/two", "dir/three", "dir/sub/deep", "dir/*"} {
			if rnd.IntN(4) > 0 {
				add("100644", blob(), name)
			}
		}
		add("160000", strings.Repeat("34", len(blobs[0])/2), "dir/four")
	}
	add("120000", blob(), ":odd")
	r.Git("read-tree", "--empty")
	r.Pipe(index.String(), "update-index", "--add", "--index-info")
	return r.Git("write-tree")
}

// blobsIn is what git says files are in a tree.
func blobsIn(r *gittest.Repo, tree object.Hash) map[string]object.Hash {
	blobs := make(map[string]object.Hash)
	if tree.IsZero() {
		return blobs
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(r.Git("ls-tree", "-r", "-z", tree.String()), "\x00"), "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(meta); fields[1] == "blob" {
			blobs[path] = object.NewHash(fields[2])
		}
	}
	return blobs
}

// TestNeighbours: with which place a place is compared.
func TestNeighbours(t *testing.T) {
	tree := func(n byte) object.Hash {
		if n == 0 {
			return object.Hash{}
		}
		return made(n)
	}
	for _, tt := range []struct {
		name  string
		trees []byte
		first []int
		want  []int
	}{
		{"none", nil, nil, []int{}},
		{"the first parent", []byte{1, 2, 3}, []int{-1, 0, 0}, []int{-1, 0, 0}},
		{"the same tree", []byte{1, 2, 1}, []int{-1, 0, 1}, []int{-1, 0, 0}},
		{"ends of the graph follow one another", []byte{1, 2, 3}, []int{-1, -1, -1}, []int{-1, 0, 1}},
		{"a parent without a tree", []byte{1, 0, 3}, []int{-1, -1, 1}, []int{-1, -1, 0}},
		{"a parent that comes later", []byte{1, 2, 3}, []int{-1, 2, -1}, []int{-1, 0, 1}},
		{"no tree before it", []byte{0, 2}, []int{-1, 0}, []int{-1, -1}},
	} {
		var nodes []*node
		for at, n := range tt.trees {
			nodes = append(nodes, &node{tree: tree(n), first: tt.first[at]})
		}
		if got := neighbours(nodes); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestLimits: which paths git is given for some files.
func TestLimits(t *testing.T) {
	for _, tt := range []struct{ names, want string }{
		{"a", "a"},
		{"a b c d", "a b c d"},
		{"dir/a dir/b", "dir/a dir/b"},
		{"dir/a x dir/b dir/c", "dir x"},
		{"dir/a dir/b dir/sub/c", "dir/a dir/b dir/sub/c"},
	} {
		if got := strings.Join(limits(strings.Fields(tt.names)), " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.names, got, tt.want)
		}
	}
}

// TestParseComparisons: answers of git that are not as they should be.
func TestParseComparisons(t *testing.T) {
	one, two := made(1).String(), made(2).String()
	trees := [][2]object.Hash{{made(1), made(2)}, {made(2), made(1)}}
	pairs := []string{one + " " + two + "\n", two + " " + one + "\n"}
	raw := ":100644 100644 " + one + " " + two + " M\x00"
	for _, tt := range []struct {
		name, out string
		ok        bool
	}{
		{"two pairs", pairs[0] + raw + "file\x00" + pairs[1], true},
		{"another path", pairs[0] + raw + "other\x00" + pairs[1], true},
		{"skipped at the end", pairs[0] + raw + "file\x00", false},
		{"skipped at first", pairs[1] + pairs[0], false},
		{"a pair too many", pairs[0] + pairs[1] + pairs[1], false},
		{"a change before all pairs", raw + "file\x00" + pairs[0] + pairs[1], false},
		{"cut off", pairs[0] + pairs[1] + raw + "fil", false},
		{"cut off in a hash", pairs[0] + pairs[1] + raw[:60], false},
		{"no hash", pairs[0] + pairs[1] + ":1 2 3 4 M\x00file\x00", false},
	} {
		got, err := parseComparisons([]byte(tt.out), trees, []int{7, 8}, []string{"file"})
		if (err == nil) != tt.ok || git.Lost(err) != strings.HasPrefix(tt.name, "skipped") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if want := []change{{7, made(2)}}; tt.name == "two pairs" && !slices.Equal(got["file"], want) {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
	}
}

// TestReached: to which commits git may come.
func TestReached(t *testing.T) {
	parents := [][]int{nil, {0}, {0}, {1}, {3, 1}, {2}}
	if got, want := reached(4, parents), []bool{true, true, false, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
