package object

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/test/gittest"
)

// TestCommitEqualsGit checks that we read and write commits as git does.
func TestCommitEqualsGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	tree := NewHash(r.Git("mktree"))
	var parents []Hash
	for i, tt := range []struct {
		name, email, at string
		message         string
	}{
		{"Dev", "dev@example.invalid", "1795176000 +0000", "one\n"},
		{"D. é V", "d@example.invalid", "1795176000 +0530", "two\n\nbody\n"},
		{"x", "y", "0 -1130", "no newline"},
		{"name  in  parts", "not an address", "4102444800 +1400", ""},
		{"Dev", "dev@example.invalid", "1795176000 -0030", "\n\nblank lines first\n"},
		{"Dev", "dev@example.invalid", "99999999999 +0100", "tree 1234\nparent ä\n"},
	} {
		s := *r
		for _, who := range []string{"AUTHOR", "COMMITTER"} {
			s.Env = append(s.Env[:len(s.Env):len(s.Env)], "GIT_"+who+"_NAME="+tt.name, "GIT_"+who+"_EMAIL="+tt.email, "GIT_"+who+"_DATE=@"+tt.at)
		}
		args := []string{"commit-tree", tree.String()}
		for _, p := range parents {
			args = append(args, "-p", p.String())
		}
		out, err := s.Feed(tt.message, args...)
		gittest.Must(t, err)
		want := NewHash(out)
		who := Signature{tt.name, tt.email, parseTime(strings.Fields(tt.at))}
		written := (&Commit{tree, parents, who, who, tt.message}).Encode()
		if got := tested.Object(plumbing.CommitObject, written); got != want {
			t.Errorf("%d: commit\n%s\ngit's is\n%s", i, written, r.Git("cat-file", "commit", out))
		}
		if c, err := ParseCommit(written); err != nil || !bytes.Equal(c.Encode(), written) {
			t.Errorf("%d: %s, read and written again, is %s, %v", i, want, c.Encode(), err)
		}
		parents = append(parents, want)
	}
}

// Commits that others have written, and some that nobody should have.
func TestParseCommit(t *testing.T) {
	t.Parallel()
	tree, parent := tested.EmptyTree().String(), gittest.Hash("1")
	const dev = "Dev <dev@example.invalid> 1795176000 +0100"
	who := Signature{"Dev", "dev@example.invalid", time.Unix(1795176000, 0).In(time.FixedZone("", 3600))}
	format := func(s Signature) string {
		return fmt.Sprintf("%s <%s> %s", s.Name, s.Email, s.When.Format(time.RFC3339))
	}
	for _, tt := range []struct {
		name, content string
		parents       int
		author        Signature
		message       string
	}{
		{"plain", "author " + dev + "\ncommitter " + dev + "\n\nmessage\n", 0, who, "message\n"},
		{"parents", "parent " + parent + "\nparent " + parent + "\nauthor " + dev + "\ncommitter " + dev + "\n\nm", 2, who, "m"},
		{"parent in the message", "author " + dev + "\ncommitter " + dev + "\n\nparent " + parent + "\n", 0, who, "parent " + parent + "\n"},
		{"parent after the author", "author " + dev + "\nparent " + parent + "\ncommitter " + dev + "\n\nm", 0, who, "m"},
		{"signed", "author " + dev + "\ncommitter " + dev + "\ngpgsig -----BEGIN\n \n author Eve <> 0 +0000\n -----END\n\nm", 0, who, "m"},
		{"mergetag, encoding, unknown", "parent " + parent + "\nauthor " + dev + "\ncommitter " + dev + "\nmergetag object " + parent + "\n type commit\nencoding ISO-8859-1\nodd\nHG:extra x\n\n\xe9", 1, who, "\xe9"},
		{"author twice", "author " + dev + "\nauthor Eve <eve@example.invalid> 1 +0000\ncommitter " + dev + "\n\nm", 0, who, "m"},
		{"no message", "author " + dev + "\ncommitter " + dev + "\n", 0, who, ""},
		{"no end", "author " + dev, 0, who, ""},
		{"nobody", "\nm", 0, Signature{}, "m"},
		{"no name", "author <> 1 +0000\n\nm", 0, Signature{When: time.Unix(1, 0).UTC()}, "m"},
		{"brackets in the name", "author a <b> c> 1 +0000\n\nm", 0, Signature{"a", "b", time.Unix(1, 0).UTC()}, "m"},
		{"no brackets", "author a b c 1 +0000\n\nm", 0, Signature{}, "m"},
		{"no time", "author a <b>\n\nm", 0, Signature{Name: "a", Email: "b"}, "m"},
		{"no zone", "author a <b> 1\n\nm", 0, Signature{"a", "b", time.Unix(1, 0).UTC()}, "m"},
		{"time of no sense", "author a <b> 99999999999999999999 +0000\n\nm", 0, Signature{Name: "a", Email: "b"}, "m"},
		{"zone of no sense", "author a <b> 1 +0099\n\nm", 0, Signature{"a", "b", time.Unix(1, 0).UTC()}, "m"},
	} {
		c, err := ParseCommit([]byte("tree " + tree + "\n" + tt.content))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if c.Tree.String() != tree || len(c.Parents) != tt.parents || c.Message != tt.message || format(c.Author) != format(tt.author) {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
	for _, content := range []string{"", "tree", "tree " + parent[1:] + "\n", "parent " + parent + "\ntree " + tree + "\n", "\ntree " + tree + "\n", "Tree " + tree + "\n"} {
		if c, err := ParseCommit([]byte(content)); err == nil {
			t.Errorf("%q is read as %+v", content, c)
		}
	}
}

// FuzzParseCommit checks that a commit survives being written and read again, and that a commit
// that git accepts is read as git reads it.
func FuzzParseCommit(f *testing.F) {
	tree := "tree " + tested.EmptyTree().String() + "\n"
	f.Add([]byte(tree + "parent " + gittest.Hash("1") + "\nauthor a <b> 1 +0130\ncommitter c <d> 2 -0930\n\nm\n"))
	f.Add([]byte(tree + "author a <b> 1 +0000\ncommitter <> -1 +9999\ngpgsig x\n y\n\nm"))
	f.Add([]byte(tree + "author > <a> 1 x\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := ParseCommit(content)
		if err != nil {
			return
		}
		if len(c.Parents) > len(content)/len("parent \n") {
			t.Errorf("%d parents in %d bytes", len(c.Parents), len(content))
		}
		first := c.Encode()
		again, err := ParseCommit(first)
		if err != nil {
			t.Fatalf("%q, written as %q: %v", content, first, err)
		}
		if second := again.Encode(); !bytes.Equal(first, second) {
			t.Errorf("%q is written as %q, then as %q", content, first, second)
		}
		if again.Tree != c.Tree || len(again.Parents) != len(c.Parents) || again.Message != c.Message {
			t.Errorf("%q: read %+v, then %+v", content, c, again)
		}
	})
}

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
