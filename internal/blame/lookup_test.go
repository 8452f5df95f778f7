package blame

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/compact"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestLookup: what files were in commits is what git says of each, for merges, files that become directories or
// submodules, equal trees, and commits that come later, after some files were looked up.
func TestLookup(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	rnd := rand.New(rand.NewPCG(5, 38))
	blobs := make([]string, 4)
	for i := range blobs {
		blobs[i] = r.Pipe(fmt.Sprintf("text %d\n", i), "hash-object", "-w", "--stdin")
	}
	names := []string{"file", "dir/one", "dir/two", "dir/three", "dir/sub/deep", "dir/*", ":odd", "gone"}
	c := newChart(nil, nil)
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	var want []map[string]object.Hash
	more := func(n int) {
		for range n {
			at := len(c.list)
			commit := real{hash: object.NewHash(fmt.Sprintf("%0*x", len(blobs[0]), at+1)), tree: object.NewHash(treeOf(r, rnd, blobs)), edge: at < 6}
			if at > 6 && rnd.IntN(20) > 0 {
				commit.parents = []object.Hash{c.list[rnd.IntN(at)].hash}
			}
			c.add(commit)
			want = append(want, blobsIn(r, commit.tree))
		}
	}
	compare := func(name string, next []string) {
		t.Helper()
		got, err := c.blobs(t.Context(), repo, name, next)
		gittest.Must(t, err)
		for at := range want {
			if got[at] != want[at][name] {
				t.Errorf("%q with %q is %s at %d, want %s", name, next, got[at], at, want[at][name])
			}
		}
	}
	more(40)
	compare("file", nil)
	compare("dir/one", names)
	more(20)
	compare("gone", nil)
	for _, name := range names {
		if compare(name, nil); !c.files.has(name) {
			t.Errorf("%q is not looked up", name)
		}
	}
	before := c.anew
	compare("dir/two", nil)
	if c.anew > before {
		t.Errorf("git compared %d again", c.anew-before)
	}
	kept := unpackChart(compact.NewReader(packed(c)))
	if kept == nil {
		t.Fatal("the chart can't be read again")
	}
	c = kept
	c.anew = 0
	for _, name := range names {
		compare(name, nil)
	}
	if c.anew > 0 {
		t.Errorf("git compared %d that were kept", c.anew)
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

// TestFollow: with which place a place is compared.
func TestFollow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trees   []byte
		parents []int // -1 for none
		want    []int
	}{
		{"none", nil, nil, nil},
		{"the first parent", []byte{1, 2, 3}, []int{-1, 0, 0}, []int{-1, 0, 0}},
		{"the same tree", []byte{1, 2, 1}, []int{-1, 0, 1}, []int{-1, 0, 0}},
		{"without parents", []byte{1, 2, 3}, []int{-1, -1, -1}, []int{-1, 0, 1}},
		{"a parent that comes later", []byte{1, 2, 3}, []int{-1, 2, -1}, []int{-1, 0, 1}},
	} {
		for first := range len(tt.trees) + 1 { // the others are added later
			c := newChart(nil, nil)
			for at, tree := range tt.trees {
				r := real{hash: made(byte(at + 10)), tree: made(tree)}
				if p := tt.parents[at]; p >= 0 {
					r.parents = []object.Hash{made(byte(p + 10))}
				}
				if c.add(r); at < first {
					c.files.follow(c.list, c.index)
				}
			}
			c.files.follow(c.list, c.index)
			if got := c.files.from; !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
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
