package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func TestFromTop(t *testing.T) {
	r := gittest.New(t)
	r.Write("sub/deep/file", "x")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(r.Dir, "sub"), link); err != nil {
		t.Skip(err)
	}
	t.Chdir(filepath.Join(r.Dir, "sub"))
	repo, err := Open(t.Context())
	gittest.Must(t, err)
	for name, want := range map[string]string{
		"file": "sub/file", "deep/file": "sub/deep/file", "../file": "file", "./deep/../x": "sub/x", "deep/": "sub/deep", ":(exclude)x": "sub/:(exclude)x",
		filepath.Join(r.Dir, "a", "b"): "a/b", filepath.Join(link, "deep", "file"): "sub/deep/file", filepath.Join(link, "new"): "sub/new",
		"..": "", "../..": "", "../../outside": "", r.Dir: "", filepath.Dir(r.Dir): "", filepath.Join(t.TempDir(), "x"): "",
	} {
		got, ok, err := repo.FromTop(t.Context(), name)
		if err != nil || ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %t, %v; want %q", name, got, ok, err, want)
		}
	}
}

func TestObjectsAt(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("a/b/c", "x")
	r.Write("file", "x")
	commit := object.NewHash(r.Commit("first"))
	repo, err := Find(r.Dir)
	gittest.Must(t, err)
	objects := repo.Objects(t.Context())
	defer objects.Close()
	for path, want := range map[string]filemode.FileMode{
		"file": filemode.Regular, "a/b/c": filemode.Regular, "a": filemode.Dir, "a/b": filemode.Dir, "b": filemode.Empty, "a/c": filemode.Empty, "file/x": filemode.Empty, "x/y": filemode.Empty,
	} {
		if got, err := objects.At(commit, path); err != nil || got.Mode != want {
			t.Errorf("%s: %v, %v; want %v", path, got.Mode, err, want)
		}
	}
	if _, err := objects.At(object.NewHash(gittest.Hash("1234")), "file"); err == nil {
		t.Error("a commit that is not there has a file")
	}
}
