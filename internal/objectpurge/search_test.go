package objectpurge

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/test/gittest"
)

// TestSearch: whatever holds the secret is found, in an object of any kind and place, or in a file.
func TestSearch(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	lender := gittest.New(t)
	lender.Write("lent", secret+" is lent")
	lender.Commit("lent")
	r := gittest.New(t)
	r.Do("clean:nothing; commit first")
	r.Write("packed", "a "+secret)
	r.Do("commit packed; git repack -adq")
	r.Write("large", strings.Repeat("x", piece-len(secret)/2)+secret+strings.Repeat("y", 100))
	r.Write("name of "+secret, "in a tree")
	r.Commit("a message with " + secret)
	r.Git("tag", "-m", "in a tag: "+secret, "v1")
	r.Git("update-ref", "refs/heads/"+secret, "HEAD~1")
	r.Git("pack-refs", "--all")
	r.Write(".git/agent/log", "said: "+secret+"\n")
	r.Write(".git/agent/logs/deep", strings.Repeat("z", 100))
	r.Write(".git/objects/info/alternates", lender.Dir+"/.git/objects\n")
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	got, err := Search(t.Context(), repo, has)
	gittest.Must(t, err)
	var found []string
	for _, f := range got.Found {
		name := f.Type.String()
		if f.Path != "" {
			name, _ = filepath.Rel(repo.CommonDir, f.Path)
		}
		if f.Elsewhere {
			name += " elsewhere"
		}
		found = append(found, name)
	}
	slices.Sort(found)
	want := []string{
		"COMMIT_EDITMSG", "agent/log", "blob", "blob", "blob elsewhere", "commit", "index", "logs/HEAD", "logs/refs/heads/main",
		"packed-refs", "tag", "tree",
	}
	least := 8 // files
	if r.InTables() {
		least = 5
		in := func(name string) bool {
			return strings.HasPrefix(name, "reftable/") || strings.HasPrefix(name, "logs/") || name == "packed-refs"
		}
		if !slices.ContainsFunc(found, in) {
			t.Errorf("found %q, want tables as well", found)
		}
		found, want = slices.DeleteFunc(found, in), slices.DeleteFunc(want, in)
	}
	if !slices.Equal(found, want) {
		t.Errorf("found\n%q, want\n%q", found, want)
	}
	if n := len(objects(t, r)); got.Objects != n || got.Bytes < piece || got.Files < least || len(got.Unread)+len(got.Garbage) != 0 {
		t.Errorf("%+v, and there are %d objects", got, n)
	}
}

// TestSearchDamaged: what can't be read is named, and the rest is searched.
func TestSearchDamaged(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(*gittest.Repo) {})
	var hurt []string
	for name, content := range l.all {
		if strings.HasPrefix(content, "blob") && !strings.Contains(content, secret) {
			path := filepath.Join(l.repo.CommonDir, "objects", name[:2], name[2:])
			gittest.Must(t, os.Chmod(path, 0o600))
			gittest.Must(t, os.WriteFile(path, []byte("not zlib"), 0o600))
			hurt = append(hurt, name)
		}
		if len(hurt) == 2 {
			break
		}
	}
	left := filepath.Join(l.repo.CommonDir, "objects", "pack", "tmp_pack_dead")
	gittest.Must(t, os.WriteFile(left, []byte("PACK"), 0o600))
	got, err := Search(t.Context(), l.repo, has)
	gittest.Must(t, err)
	var unread []string
	for _, h := range got.Unread {
		unread = append(unread, h.String())
	}
	slices.Sort(unread)
	slices.Sort(hurt)
	if !slices.Equal(unread, hurt) || got.Objects != len(l.all)-2 || !slices.Equal(got.Garbage, []string{left}) {
		t.Errorf("%d objects, unread %q, want %q, garbage %q", got.Objects, unread, hurt, got.Garbage)
	}
	n := 0
	for _, content := range l.all {
		if strings.Contains(content, secret) {
			n++
		}
	}
	if len(got.Found) != n {
		t.Errorf("%d found of %d", len(got.Found), n)
	}
}

// TestPieces: a large content is seen whole, and what is cut is seen again.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, smallest - 1, smallest, smallest + 1, 3 * smallest, piece - 1, piece, piece + 1, 2*piece - overlap, 2*piece - overlap + 1, 3 * piece} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i>>8 ^ i)
		}
		seen := 0
		_, err := pieces(bytes.NewReader(content), nil, func(part []byte) bool {
			from := max(0, seen-overlap)
			if !bytes.Equal(part, content[from:from+len(part)]) {
				t.Errorf("size %d: another content after %d", size, seen)
			}
			seen = from + len(part)
			return false
		})
		if err != nil || seen != size {
			t.Errorf("size %d: seen %d, %v", size, seen, err)
		}
	}
}

// TestShortened: files that are cut while they are read, however many, keep nobody from reading the next one.
func TestShortened(t *testing.T) {
	t.Parallel()
	s := newSearchers(has, 0)
	for range 100 {
		if err := s.object(Found{Path: "cut"}, strings.NewReader(secret), 1000); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a file that is cut: %v", err)
		}
	}
	gittest.Must(t, s.object(Found{Path: "whole"}, strings.NewReader(secret), int64(len(secret))))
	if found := s.wait(); len(found) != 1 || found[0].Path != "whole" {
		t.Errorf("found %+v", found)
	}
}
