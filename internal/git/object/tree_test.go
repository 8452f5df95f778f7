package object

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/test/gittest"
)

// A tree of all modes, with names whose order depends on them, equals git's, byte for byte.
func TestTreeEqualsGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	rnd := rand.New(rand.NewPCG(1, 3))
	modes := []filemode.FileMode{filemode.Dir, filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Submodule}
	kinds := map[filemode.FileMode]string{filemode.Dir: "tree", filemode.Submodule: "commit"}
	names := []string{"a", "a.b", "a-b", "a0", "ab", "a\x01", "a b", "é", "\xff", "A", "a\n", "\t", ".git2", strings.Repeat("n", 300)}
	for range 20 {
		var entries []TreeEntry
		var lines strings.Builder
		for _, i := range rnd.Perm(len(names))[:rnd.IntN(len(names)+1)] {
			e := TreeEntry{names[i], Entry{modes[rnd.IntN(len(modes))], tested.Object(plumbing.BlobObject, []byte(names[i]))}}
			kind := kinds[e.Mode]
			if kind == "" {
				kind = "blob"
			}
			entries = append(entries, e)
			fmt.Fprintf(&lines, "%06o %s %s\t%s\x00", uint32(e.Mode), kind, e.Hash, e.Name)
		}
		want, err := r.Feed(lines.String(), "mktree", "-z", "--missing")
		gittest.Must(t, err)
		content, err := EncodeTree(tested, entries)
		if got := tested.Object(plumbing.TreeObject, content); err != nil || got.String() != want {
			t.Errorf("tree %s, %v; git's is %s:\n%s", got, err, want, r.Git("ls-tree", want))
		}
		if got, err := ParseTree(tested, content); err != nil || !slices.Equal(got, entries) {
			t.Errorf("read as %v, %v; want %v", got, err, entries)
		}
	}
}

// Unusual modes in trees written by others are read as git reads them.
func TestParseTreeModes(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	hash := make([]byte, tested.Size())
	for _, mode := range []string{"40000", "040000", "40755", "100644", "100664", "100600", "100755", "100711", "100611", "120000", "120777", "160000", "0", "7777777"} {
		content := append([]byte(mode+" f\x00"), hash...)
		entries, err := ParseTree(tested, content)
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		tree, err := r.Feed(string(content), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
		gittest.Must(t, err)
		r.Git("read-tree", "--empty")
		if got := entries[0].Mode; got == filemode.Dir {
			continue // the index has none
		} else if _, err := r.Try("read-tree", tree); err != nil {
			continue // git refuses it
		} else if want := strings.Fields(r.Git("ls-files", "-s"))[0]; fmt.Sprintf("%06o", uint32(got)) != want {
			t.Errorf("mode %s is read as %o, git has %s", mode, uint32(got), want)
		}
	}
}

func TestParseTreeRefuses(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("h", tested.Size())
	for _, content := range []string{
		"1", "100644", "100644 ", "100644 f", "100644 f\x00", "100644 f\x00" + hash[1:], "100644 \x00" + hash, " f\x00" + hash,
		"f\x00" + hash, "100648 f\x00" + hash, "-1 f\x00" + hash, "777777777777 f\x00" + hash, "100644 f\x00" + hash + "x",
	} {
		if entries, err := ParseTree(tested, []byte(content)); err == nil {
			t.Errorf("%q is read as %v", content, entries)
		}
	}
	for _, name := range []string{"", "a\x00b"} {
		if content, err := EncodeTree(tested, []TreeEntry{{Name: name, Entry: Entry{Mode: filemode.Regular}}}); err == nil {
			t.Errorf("the name %q is written as %q", name, content)
		}
	}
}

// Every tree that can be read survives being written and read again.
func FuzzParseTree(f *testing.F) {
	hash := strings.Repeat("h", tested.Size())
	f.Add([]byte("100644 f\x00" + hash + "40000 d\x00" + hash))
	f.Add([]byte("40000 a\x00" + hash + "100664 a.b\x00" + hash + "100644 a.b\x00" + hash))
	f.Add([]byte("0160000 \xff/\n\x00" + hash))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := ParseTree(tested, content)
		if err != nil {
			return
		}
		if len(entries) > len(content)/len("0 x\x00"+hash) {
			t.Errorf("%d entries in %d bytes", len(entries), len(content))
		}
		written, err := EncodeTree(tested, slices.Clone(entries))
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		again, err := ParseTree(tested, written)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%q, written as %q, is read as %v, %v", content, written, again, err)
		}
		for _, e := range entries {
			if !slices.Contains(again, e) {
				t.Errorf("%q: %v is lost", content, e)
			}
		}
		if second, err := EncodeTree(tested, again); err != nil || !bytes.Equal(written, second) {
			t.Errorf("%q is written as %q, then as %q, %v", content, written, second, err)
		}
	})
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
