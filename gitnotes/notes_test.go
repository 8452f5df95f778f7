package gitnotes

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// dev is who commits, with the date that gittest gives to git.
var dev = object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}

func open(t testing.TB, s Store, commit object.Hash) *Notes {
	t.Helper()
	n, err := Open(s, commit)
	gittest.Must(t, err)
	return n
}

func commit(t testing.TB, n *Notes) object.Hash {
	t.Helper()
	hash, err := n.Commit(dev, dev, "notes\n")
	gittest.Must(t, err)
	return hash
}

// set makes the notes of n those of want, in any order.
func set(t testing.TB, n *Notes, want map[object.Hash]string) {
	t.Helper()
	for on, content := range want {
		gittest.Must(t, n.Set(on, []byte(content)))
	}
}

// all returns the notes of n as All and Get have them, and checks the order.
func all(t testing.TB, n *Notes) map[object.Hash]string {
	t.Helper()
	var list []Note
	for note, err := range n.All() {
		gittest.Must(t, err)
		list = append(list, note)
	}
	got := make(map[object.Hash]string)
	for i, note := range list {
		if i > 0 && list[i-1].Object.Compare(note.Object) >= 0 {
			t.Fatalf("All: %s comes after %s", note.Object, list[i-1].Object)
		}
		content, err := n.Get(note.Object)
		gittest.Must(t, err)
		if hash := format.Object(plumbing.BlobObject, content); hash != note.Blob {
			t.Fatalf("All: note of %s is blob %s, Get has %s", note.Object, note.Blob, hash)
		}
		got[note.Object] = string(content)
	}
	return got
}

// diff says where got and want differ, and nothing if they don't.
func diff(got, want map[object.Hash]string) string {
	var b strings.Builder
	for on, content := range want {
		if have, ok := got[on]; !ok || have != content {
			fmt.Fprintf(&b, "note of %s is %q (there: %t), want %q\n", on, have, ok, content)
		}
	}
	for on, content := range got {
		if _, ok := want[on]; !ok {
			fmt.Fprintf(&b, "note of %s is %q, want none\n", on, content)
		}
	}
	return b.String()
}

// same fails the test where the notes are not those that are wanted.
func same(t testing.TB, got, want map[object.Hash]string) {
	t.Helper()
	if d := diff(got, want); d != "" {
		t.Error(d)
	}
}

// hash is an object name made of text, as evenly spread as any.
func hash(text string) object.Hash { return format.Checksum([]byte(text)) }

// within is the hash with other bytes at its beginning.
func within(h object.Hash, first ...byte) object.Hash {
	return format.Hash(append(first, h.Bytes()[len(first):]...))
}

// format is that of the stores that have no repository.
var format = object.NewHash(gittest.Hash("1")).Format()

// blob is the blob that has text as its content.
func blob(text string) object.Hash { return format.Object(plumbing.BlobObject, []byte(text)) }

// newRepo makes a repository in which git does not wait for the disk.
func newRepo(t testing.TB) *gittest.Repo {
	r := gittest.New(t)
	r.Env = append(r.Env, "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=core.fsync", "GIT_CONFIG_VALUE_0=none",
		"GIT_CONFIG_KEY_1=core.looseCompression", "GIT_CONFIG_VALUE_1=0")
	return r
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		before string // no note if it is "-"
		want   string
	}{
		{"no note", "-", "line\n"},
		{"empty note", "", "line\n"},
		{"whole lines", "a\nb\n", "a\nb\nline\n"},
		{"no newline at the end", "a\nb", "a\nb\nline\n"},
		{"blank line at the end", "a\n\n", "a\n\nline\n"},
		{"a newline", "\n", "\nline\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := open(t, memory{}, object.Hash{})
			if tt.before != "-" {
				set(t, n, map[object.Hash]string{hash("x"): tt.before})
			}
			gittest.Must(t, n.Append(hash("x"), []byte("line")))
			got, err := n.Get(hash("x"))
			gittest.Must(t, err)
			if string(got) != tt.want {
				t.Errorf("%q with a line more is %q, want %q", tt.before, got, tt.want)
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	s := memory{}
	n := open(t, s, object.Hash{})
	set(t, n, map[object.Hash]string{hash("x"): "x"})
	n = open(t, s, commit(t, n))
	if _, err := n.Get(hash("y")); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get: %v, want ErrNotFound", err)
	}
	if err := n.Remove(hash("y")); !errors.Is(err, ErrNotFound) {
		t.Errorf("Remove: %v, want ErrNotFound", err)
	}
	gittest.Must(t, n.Remove(hash("x")))
	if _, err := n.Get(hash("x")); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get after Remove: %v, want ErrNotFound", err)
	}
}

// What Get returns and Set is given can be changed without changing the note.
func TestContentIsCopied(t *testing.T) {
	t.Parallel()
	n := open(t, memory{}, object.Hash{})
	given := []byte("note")
	gittest.Must(t, n.Set(hash("x"), given))
	given[0] = 'X'
	got, err := n.Get(hash("x"))
	gittest.Must(t, err)
	got[1] = 'X'
	same(t, all(t, n), map[object.Hash]string{hash("x"): "note"})
}

func TestCommitWithoutChange(t *testing.T) {
	t.Parallel()
	s := memory{}
	n := open(t, s, object.Hash{})
	if got := commit(t, n); !got.IsZero() {
		t.Errorf("commit of no notes is %s, want none", got)
	}
	set(t, n, map[object.Hash]string{hash("x"): "x"})
	gittest.Must(t, n.Remove(hash("x")))
	if got := commit(t, n); !got.IsZero() {
		t.Errorf("commit of a note set and removed is %s, want none", got)
	}
	set(t, n, map[object.Hash]string{hash("x"): "x"})
	first := commit(t, n)
	for _, n := range []*Notes{n, open(t, s, first)} {
		set(t, n, map[object.Hash]string{hash("x"): "x"})
		if got := commit(t, n); got != first {
			t.Errorf("commit of a note set to what it was is %s, want %s", got, first)
		}
		set(t, n, map[object.Hash]string{hash("x"): "y"})
		set(t, n, map[object.Hash]string{hash("x"): "x"})
		if got := commit(t, n); got != first {
			t.Errorf("commit of a note changed and changed back is %s, want %s", got, first)
		}
	}
}

func TestCommitParents(t *testing.T) {
	t.Parallel()
	s := memory{}
	n := open(t, s, object.Hash{})
	var parents []object.Hash
	for i := range 3 {
		gittest.Must(t, n.Append(hash("x"), fmt.Append(nil, i)))
		h := commit(t, n)
		c, err := readCommit(s, h)
		gittest.Must(t, err)
		if !slices.Equal(c.Parents, parents) {
			t.Errorf("commit %d has parents %v, want %v", i, c.Parents, parents)
		}
		if c.Message != "notes\n" || c.Author != dev {
			t.Errorf("commit %d is by %s with message %q", i, c.Author, c.Message)
		}
		parents = []object.Hash{h}
	}
}

func TestMissingObjects(t *testing.T) {
	t.Parallel()
	if _, err := Open(memory{}, hash("commit")); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("Open of a commit that is not there: %v", err)
	}
	whole := memory{}
	n := open(t, whole, object.Hash{})
	set(t, n, map[object.Hash]string{hash("x"): "x"})
	head := commit(t, n)

	noTree := memory{head: whole[head]}
	n = open(t, noTree, head)
	for name, do := range map[string]func() error{
		"Get":    func() error { _, err := n.Get(hash("x")); return err },
		"Set":    func() error { return n.Set(hash("y"), nil) },
		"Append": func() error { return n.Append(hash("y"), nil) },
		"Remove": func() error { return n.Remove(hash("x")) },
		"All": func() error {
			for _, err := range n.All() {
				return err
			}
			return nil
		},
	} {
		if err := do(); !errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, ErrNotFound) {
			t.Errorf("%s without the tree: %v", name, err)
		}
	}
	if got := commit(t, n); got != head {
		t.Errorf("commit after failures is %s, want %s", got, head)
	}

	delete(whole, blob("x"))
	n = open(t, whole, head)
	for name, do := range map[string]func() error{
		"Get":    func() error { _, err := n.Get(hash("x")); return err },
		"Append": func() error { return n.Append(hash("x"), []byte("y")) },
	} {
		if err := do(); !errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, ErrNotFound) {
			t.Errorf("%s without the blob: %v", name, err)
		}
	}
}

func TestAllStops(t *testing.T) {
	t.Parallel()
	n := open(t, memory{}, object.Hash{})
	for i := range 300 {
		set(t, n, map[object.Hash]string{hash(fmt.Sprint(i)): "x"})
	}
	commit(t, n)
	for want := range 5 {
		got := 0
		for _, err := range n.All() {
			gittest.Must(t, err)
			if got++; got > want {
				break
			}
		}
		if got != want+1 {
			t.Errorf("loop left after note %d saw %d", want+1, got)
		}
	}
}

// A random sequence of operations leaves what it leaves in a map.
func TestRandomOperations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 0))
			s := memory{}
			n := open(t, s, object.Hash{})
			want := make(map[object.Hash]string)
			pool := crowded(rnd, 400)
			for range 3000 {
				on := pool[rnd.IntN(len(pool))]
				switch op := rnd.IntN(100); {
				case op < 40:
					content := fmt.Sprint(rnd.IntN(5))
					set(t, n, map[object.Hash]string{on: content})
					want[on] = content
				case op < 60:
					gittest.Must(t, n.Append(on, []byte("line")))
					if before := want[on]; before != "" && !strings.HasSuffix(before, "\n") {
						want[on] += "\n"
					}
					want[on] += "line\n"
				case op < 95:
					err := n.Remove(on)
					if _, ok := want[on]; ok != (err == nil) || err != nil && !errors.Is(err, ErrNotFound) {
						t.Fatalf("Remove of a note (there: %t): %v", ok, err)
					}
					delete(want, on)
				case op < 97:
					h := commit(t, n)
					if !h.IsZero() {
						checkTrees(t, s, n.tree, nil)
					}
					if rnd.IntN(2) == 0 {
						n = open(t, s, h)
					}
				default:
					// Phases of growing and shrinking, so that fan-out comes and goes.
					if rnd.IntN(4) == 0 {
						for on := range want {
							if rnd.IntN(3) > 0 {
								gittest.Must(t, n.Remove(on))
								delete(want, on)
							}
						}
					}
				}
			}
			same(t, all(t, n), want)                        // before the commit
			same(t, all(t, open(t, s, commit(t, n))), want) // after the commit
		})
	}
}

// crowded returns n object names that begin alike in ways that make git spread
// a directory and its subdirectories with few notes.
func crowded(rnd *rand.Rand, n int) []object.Hash {
	var pool []object.Hash
	for i := range n {
		h := hash(fmt.Sprint(i))
		switch rnd.IntN(4) {
		case 0:
			h = within(h, 0x5a)
		case 1:
			h = within(h, 0x5a, 0xc3)
		case 2:
			h = within(h, h.Byte(0)&0xf1)
		}
		pool = append(pool, h)
	}
	return pool
}

// checkTrees checks what git fsck --strict would: that names are in order and each is there once.
// The trees in old are not looked at: somebody else wrote them.
func checkTrees(t testing.TB, s Store, root object.Hash, old map[object.Hash]bool) {
	t.Helper()
	if old[root] {
		return
	}
	entries, err := readTree(s, root)
	gittest.Must(t, err)
	names := make(map[string]bool)
	for _, e := range entries {
		if names[e.Name] {
			t.Errorf("tree %s has %q twice", root, e.Name)
		}
		names[e.Name] = true
		kind := plumbing.BlobObject
		if e.Mode == filemode.Dir {
			kind = plumbing.TreeObject
		}
		if _, err := s.Read(kind, e.Hash, maxTree); err != nil && e.Mode != filemode.Submodule {
			t.Errorf("tree %s names %q, which is not there: %v", root, e.Name, err)
		}
		if e.Mode == filemode.Dir {
			checkTrees(t, s, e.Hash, old)
		}
	}
	if !slices.IsSortedFunc(entries, func(a, b object.TreeEntry) int {
		return strings.Compare(sortName(a), sortName(b))
	}) {
		t.Errorf("tree %s is not in order", root)
	}
}

func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// Many lines appended to one note before a commit cost one blob, and a reader of
// one note reads the way to it and nothing else.
func TestObjectsReadAndWritten(t *testing.T) {
	t.Parallel()
	s := count(memory{})
	n := open(t, s, object.Hash{})
	for i := range 1000 {
		set(t, n, map[object.Hash]string{hash(fmt.Sprint(i)): "x\n"})
	}
	head := commit(t, n)
	for _, tt := range []struct {
		name          string
		do            func(n *Notes) error
		read, written string
	}{
		{"get", func(n *Notes) error { _, err := n.Get(hash("1")); return err }, "blob:1 commit:1 tree:2", ""},
		{"get none", func(n *Notes) error { _, _ = n.Get(hash("none")); return nil }, "commit:1 tree:2", ""},
		{"append", func(n *Notes) error { return n.Append(hash("1"), []byte("y")) }, "blob:1 commit:1 tree:2", "blob:1 commit:1 tree:2"},
		{"append 50", func(n *Notes) error {
			for range 50 {
				if err := n.Append(hash("1"), []byte("y")); err != nil {
					return err
				}
			}
			return nil
		}, "blob:1 commit:1 tree:2", "blob:1 commit:1 tree:2"},
		{"append and commit twice", func(n *Notes) error {
			if err := n.Append(hash("1"), []byte("y")); err != nil {
				return err
			}
			if _, err := n.Commit(dev, dev, "notes\n"); err != nil {
				return err
			}
			return n.Append(hash("1"), []byte("z"))
		}, "blob:2 commit:1 tree:2", "blob:2 commit:2 tree:4"},
		{"set", func(n *Notes) error { return n.Set(hash("1"), []byte("y")) }, "commit:1 tree:2", "blob:1 commit:1 tree:2"},
		{"remove", func(n *Notes) error { return n.Remove(hash("1")) }, "commit:1 tree:2", "commit:1 tree:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clear(s.read)
			clear(s.written)
			n := open(t, s, head)
			gittest.Must(t, tt.do(n))
			commit(t, n)
			if got := tally(s.read); got != tt.read {
				t.Errorf("read %q, want %q", got, tt.read)
			}
			if got := tally(s.written); got != tt.written {
				t.Errorf("wrote %q, want %q", got, tt.written)
			}
		})
	}
}

func tally(counts map[plumbing.ObjectType]int) string {
	var words []string
	for t, n := range counts {
		words = append(words, fmt.Sprintf("%s:%d", t, n))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// A Commit that failed can be tried again, and loses nothing.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	want := make(map[object.Hash]string)
	for i := range 200 {
		want[hash(fmt.Sprint(i))] = fmt.Sprint(i)
	}
	s := &failing{Store: memory{}}
	n := open(t, s, object.Hash{})
	set(t, n, want)
	failures := 0
	for limit := 1; ; limit += 37 {
		s.left = limit
		hash, err := n.Commit(dev, dev, "notes\n")
		if err == nil {
			same(t, all(t, open(t, s, hash)), want)
			checkTrees(t, s, n.tree, nil)
			break
		}
		if failures++; !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		if d := diff(all(t, n), want); d != "" {
			t.Fatalf("after a failure:\n%s", d)
		}
	}
	if failures == 0 {
		t.Error("nothing failed")
	}
}

var errFull = errors.New("disk full")

// A tree that names one subtree many times, level after level, has no end.
// Reading one note of it is fine; reading all of them ends with an error.
func TestEndlessTree(t *testing.T) {
	t.Parallel()
	s := memory{}
	n := open(t, s, object.Hash{})
	leaf, err := n.store([]object.TreeEntry{{Name: "00", Entry: object.Entry{Mode: filemode.Regular, Hash: blob("x")}}})
	gittest.Must(t, err)
	for depth := n.maxDepth() - 1; depth >= 0; depth-- {
		var entries []object.TreeEntry
		for b := range 256 {
			entries = append(entries, object.TreeEntry{Name: digits(byte(b)), Entry: object.Entry{Mode: filemode.Dir, Hash: leaf}})
			// And a note beside each subdirectory, which belongs into it.
			rest := strings.Repeat(digits(byte(b)), format.Size()-depth)
			entries = append(entries, object.TreeEntry{Name: rest, Entry: object.Entry{Mode: filemode.Regular, Hash: blob("x")}})
		}
		leaf, err = n.store(entries)
		gittest.Must(t, err)
	}
	n.fresh[hash("x")] = []byte("x")
	gittest.Must(t, n.storeNote(Note{Object: hash("x")}))
	head, err := n.advance(&object.Commit{Author: dev, Committer: dev, Tree: leaf})
	gittest.Must(t, err)
	n = open(t, s, head)
	if n.unread != maxEntries {
		t.Errorf("%d entries may be read, want %d", n.unread, maxEntries)
	}
	n.unread = 20_000 // enough for the test, and quicker
	any := hash("any")
	last := format.Hash(append(any.Bytes()[:n.maxDepth():n.maxDepth()], 0))
	if got, err := n.Get(last); err != nil || string(got) != "x" {
		t.Errorf("Get is %q, %v", got, err)
	}
	seen, ended := 0, false
	for _, err := range n.All() {
		if err != nil {
			ended = true
			break
		}
		seen++
	}
	if !ended || seen > 20_000 {
		t.Errorf("All gave %d notes, with an error at the end: %t", seen, ended)
	}
	theirs := open(t, s, head)
	theirs.unread = 20_000
	if err := merge(open(t, s, object.Hash{}), open(t, s, object.Hash{}), theirs); err == nil {
		t.Error("merge of an endless tree ended without an error")
	}
}

// keys returns the objects of notes in order.
func keys(notes map[object.Hash]string) []object.Hash {
	return slices.SortedFunc(maps.Keys(notes), object.Hash.Compare)
}
