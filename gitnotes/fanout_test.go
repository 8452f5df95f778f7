package gitnotes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// The tree of a set of notes is git's, entry for entry, before, at and after each of git's steps,
// growing and shrinking. In the second case there are 32 directories below the
// root instead of 256, and they take their steps at 2,500 notes instead of 20,000.
func TestTreesEqualGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name   string
		mask   byte // of an object's first byte
		sizes  []int
		levels string // of the notes when there are most
	}{
		{"even", 0xff, []int{1, 10, 40, 60, 65, 70, 75, 80, 85, 90, 100, 125, 300, 1000}, "1"},
		{"few directories", 0xf1, []int{100, 1000, 1500, 2000, 2500, 3000}, "1 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			s := memory{}
			n := open(t, s, object.Hash{})
			check := func(size int) {
				t.Helper()
				if got, want := n.tree.String(), r.Git("rev-parse", "refs/notes/git^{tree}"); got != want {
					t.Fatalf("%d notes: tree is %s, git's is %s", size, got, want)
				}
			}
			nth := func(i int) object.Hash {
				h := hash(fmt.Sprint(i))
				return within(h, h.Byte(0)&tt.mask)
			}
			there := 0
			for _, size := range tt.sizes {
				more := make(map[object.Hash]string)
				for ; there < size; there++ {
					more[nth(there)] = "note\n"
				}
				set(t, n, more)
				head := commit(t, n)
				copyNotes(t, r, "git", more)
				check(size)
				n = open(t, s, head)
			}
			if got := levels(r, "git"); got != tt.levels {
				t.Errorf("the notes are at levels %q, want %q", got, tt.levels)
			}
			slices.Reverse(tt.sizes)
			for _, size := range tt.sizes[1:] {
				var fewer []string
				for there > size {
					there--
					fewer = append(fewer, nth(there).String())
					gittest.Must(t, n.Remove(nth(there)))
				}
				head := commit(t, n)
				removeNotes(t, r, "git", slices.Values(fewer))
				check(size)
				n = open(t, s, head)
			}
		})
	}
}

// levels returns how many directories deep the notes of git's tree are.
func levels(r *gittest.Repo, name string) string {
	seen := make(map[int]bool)
	for path := range strings.Lines(r.Git("ls-tree", "-r", "--name-only", "refs/notes/"+name)) {
		seen[strings.Count(path, "/")] = true
	}
	return strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(seen))), "[]")
}

// A random sequence of additions and removals, a commit each, makes
// the trees that it makes in git, with names that bring steps up and down
// at several levels. Reads in between change nothing.
func TestEveryTreeEqualsGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(gittest.Size(2, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := newRepo(t)
			s := objects(t, r)
			blob := r.Pipe("note\n", "hash-object", "-w", "--stdin")
			pool := stepping(rnd)
			there := make(map[object.Hash]bool)
			var head object.Hash
			steps := make(map[int]int) // how often the notes below 5ac3 were this many directories deep
			before := make(map[object.Hash]string)
			for _, on := range pool[:len(pool)/2] {
				before[on] = "note\n"
				there[on] = true
			}
			n := open(t, s, head)
			set(t, n, before)
			head = commit(t, n)
			r.Git("update-ref", "refs/notes/git", head.String())
			for step := range 120 {
				on := pool[rnd.IntN(len(pool))]
				if rnd.IntN(4) == 0 {
					n = open(t, s, head)
				}
				for range rnd.IntN(3) {
					if _, err := n.lookup(pool[rnd.IntN(len(pool))]); err != nil {
						t.Fatal(err)
					}
				}
				if there[on] {
					gittest.Must(t, n.Remove(on))
					r.Git("notes", "--ref=git", "remove", on.String())
				} else {
					gittest.Must(t, n.Set(on, []byte("note\n")))
					r.Git("notes", "--ref=git", "add", "-C", blob, on.String())
				}
				there[on] = !there[on]
				head = commit(t, n)
				theirs := open(t, s, object.NewHash(r.Git("rev-parse", "refs/notes/git")))
				if n.tree != theirs.tree {
					t.Fatalf("step %d, note of %s (there: %t): tree is\n%s\ngit's is\n%s", step, on, there[on],
						r.Git("ls-tree", "-r", "--name-only", n.tree.String()), r.Git("ls-tree", "-r", "--name-only", theirs.tree.String()))
				}
				path, err := theirs.path(within(hash("x"), 0x5a, 0xc3, 0))
				gittest.Must(t, err)
				steps[len(path)-1]++
			}
			if len(steps) < 2 {
				t.Errorf("too few changes of the fan-out: %v", steps)
			}
		})
	}
}

// After a step down, the directories that are no more do not count,
// whether the notes were opened again or not.
func TestStepDown(t *testing.T) {
	t.Parallel()
	in := func(dir byte, rest string) object.Hash { return within(hash(rest), dir) }
	s := memory{}
	n := open(t, s, object.Hash{})
	for digit := range 16 {
		set(t, n, map[object.Hash]string{in(byte(digit<<4|1), "1"): "x", in(byte(digit<<4|2), "2"): "x"})
	}
	// Of the notes below "a", both are in one directory.
	gittest.Must(t, n.Remove(in(0xa2, "2")))
	set(t, n, map[object.Hash]string{in(0xa1, "2"): "x"})
	commit(t, n)
	n = open(t, s, n.commit)

	wantEntries := func(when string, want int) {
		t.Helper()
		commit(t, n)
		entries, err := readTree(s, n.tree)
		gittest.Must(t, err)
		if len(entries) != want {
			t.Errorf("%s the root has %d entries, want %d", when, len(entries), want)
		}
	}
	wantEntries("at first", 31)
	gittest.Must(t, n.Remove(in(0xa1, "2")))
	wantEntries("with one note below a", 31) // flat: as many notes
	gittest.Must(t, n.Remove(in(0xb2, "2")))
	set(t, n, map[object.Hash]string{in(0xa1, "2"): "x", in(0xa1, "3"): "x"})
	wantEntries("with one note below b", 32) // still flat: a directory for each would be 30
	set(t, n, map[object.Hash]string{in(0xb1, "2"): "x"})
	wantEntries("with two notes below b", 30)
}

// stepping returns object names of which about half are enough for the root to be spread,
// and also for one directory in it and one in that.
func stepping(rnd *rand.Rand) []object.Hash {
	var pool []object.Hash
	for digit := range 16 {
		for i := range 8 {
			h := hash(fmt.Sprint(digit, i))
			one := func() byte { return byte(digit<<4 | rnd.IntN(3)) }
			pool = append(pool, within(h, one()), within(h, 0x5a, one()), within(h, 0x5a, 0xc3, one()))
		}
	}
	rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return pool
}

// A hundred thousand notes: git's flat tree is read, the step to two levels
// is git's, and then a note more costs as little as anywhere.
func TestHundredThousand(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newRepo(t)
	head := object.NewHash(r.Commit("one"))
	contents := make([]string, 10)
	blobs := make(map[object.Hash]string)
	for i := range contents {
		contents[i] = fmt.Sprintf("{\"turn\":%d}\n", i)
		blobs[blob(contents[i])] = contents[i]
	}
	want := make(map[object.Hash]string)
	for i := range 100_000 {
		h := hash(fmt.Sprint(i))
		h = within(h, h.Byte(0), h.Byte(1)&0xf0) // one subdirectory for each digit, or git alone would take 10 s to write all the trees
		want[h] = contents[i%10]
	}
	mktree(t, r, "ours", want)
	r.Git("update-ref", "refs/notes/git", "refs/notes/ours")

	n := open(t, overlay{memory{}, objects(t, r)}, tip(r, "ours"))
	on := keys(want)[77_777]
	if got, err := n.Get(on); err != nil || string(got) != want[on] {
		t.Fatalf("Get is %q, %v; want %q", got, err, want[on])
	}
	got := 0
	for note, err := range n.All() {
		gittest.Must(t, err)
		if content, ok := blobs[note.Blob]; !ok || content != want[note.Object] {
			t.Fatalf("note of %s is blob %s, want %q", note.Object, note.Blob, want[note.Object])
		}
		got++
	}
	if got != len(want) {
		t.Fatalf("All has %d notes, want %d", got, len(want))
	}

	r.Git("notes", "--ref=git", "add", "-m", "first", head.String())
	gittest.Must(t, n.Append(head, []byte("first")))
	commit(t, n)
	if got, want := n.tree.String(), r.Git("rev-parse", "refs/notes/git^{tree}"); got != want {
		t.Fatalf("tree is %s, git's is %s", got, want)
	}

	s := count(objects(t, r))
	n = open(t, s, tip(r, "git"))
	gittest.Must(t, n.Append(head, []byte("second")))
	r.Git("update-ref", "refs/notes/ours", commit(t, n).String())
	if got, want := tally(s.read)+", "+tally(s.written), "blob:1 commit:1 tree:3, blob:1 commit:1 tree:3"; got != want {
		t.Errorf("a line more read and wrote %s, want %s", got, want)
	}
	r.Says("first\nsecond", "notes", "--ref=ours", "show", "HEAD")
	r.Says("first\nsecond\n", "log", "--notes=ours", "--format=%N")
	if got := strings.Count(r.Git("notes", "--ref=ours", "list")+"\n", "\n"); got != len(want)+1 {
		t.Errorf("git notes list has %d notes, want %d", got, len(want)+1)
	}

	// And git's next note on ours, read again.
	r.Git("notes", "--ref=ours", "append", "-m", "third", "HEAD")
	r.Git("notes", "--ref=ours", "remove", on.String())
	n = open(t, objects(t, r), tip(r, "ours"))
	if got, err := n.Get(head); err != nil || string(got) != "first\nsecond\n\nthird\n" {
		t.Errorf("Get is %q, %v", got, err)
	}
	if err := n.Remove(on); err == nil {
		t.Errorf("the note that git removed is there")
	}
	r.Says("", "fsck", "--strict", "--no-dangling")
}
