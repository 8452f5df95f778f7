package snapshot

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/scrub"
	"gitagent/test/gittest"
)

// TestEdit: a snapshot by paths is the one of the whole worktree, if only these were changed; or it says that it
// can't tell.
func TestEdit(t *testing.T) {
	t.Parallel()
	if ignoresCase {
		t.Skip("new files are left to Take on", runtime.GOOS)
	}
	small := policy
	small.MaxFileSize, small.Exclude = 100, []string{"*.skip"}
	purged := policy
	finder, err := scrub.Fixed([]byte("hunter22-hunter22"))
	gittest.Must(t, err)
	purged.Purged = finder
	for _, tt := range []struct {
		name   string
		before string // what is changed before the earlier snapshot
		edit   string
		paths  string // with blanks between them
		policy *Policy
		whole  bool // only a whole snapshot tells
	}{
		{name: "nothing", paths: "a b nowhere d/nowhere nowhere/at/all"},
		{name: "no path"},
		{name: "a file", edit: "a=changed", paths: "a"},
		{name: "the content of another", edit: "a=b", paths: "a"},
		{name: "some deep ones", edit: "d/e/three=x; f/g/h/i=y; d/one=z", paths: "d/e/three f/g/h/i d/one b"},
		{name: "staged ones", before: "a=staged; git add a", edit: "a=changed; b=x; git add b", paths: "a b"},
		{name: "untracked before", before: "u=u; d/u=u", edit: "u=v; rm d/u", paths: "u d/u"},
		{name: "a new file", edit: "new=n", paths: "new"},
		{name: "new directories", edit: "new/x/y=n; d/new=m", paths: "new/x/y d/new"},
		{name: "deleted", edit: "rm a d/one", paths: "a d/one"},
		{name: "the last of a directory", edit: "rm f/g/h/i", paths: "f/g/h/i"},
		{name: "a new one that has gone", paths: "new"},
		{name: "a directory in its place", edit: "rm a; a/x=1", paths: "a a/x"},
		{name: "a file in a directory's place", edit: "rm d; d=1", paths: "d d/one"},
		{name: "empty", edit: "a:", paths: "a"},
		{name: "a mode", edit: "chmod 755 a; chmod 644 run", paths: "a run"},
		{name: "a link", edit: "rm link a; ln b link; ln nowhere a; ln b new", paths: "link a new"},
		{name: "a link that was none", edit: "rm link; link=1", paths: "link"},
		{name: "carriage returns", edit: "a:1\r\n2\r\n", paths: "a"},
		{name: "ignored", edit: "x.o=1; ignored/y=1; new=1", paths: "x.o ignored/y new"},
		{name: "ignored since it was taken", before: "u=u", edit: ".git/info/exclude=u; u=v", paths: "u"},
		{name: "ignored but tracked", before: "x.o=1; git add -f x.o", edit: "x.o=2", paths: "x.o"},
		{name: "ignored by a directory's own file", before: "d/.gitignore=u", edit: "d/u=1", paths: "d/u"},
		{name: "a commit between", edit: "a=c; commit two; b=x", paths: "a b"},
		{name: "unborn", before: "git update-ref -d HEAD", edit: "a=c; new=1", paths: "a new"},

		{name: "what is ignored changes", edit: ".gitignore=x", paths: ".gitignore", whole: true},
		{name: "attributes are new", edit: ".gitattributes=* text; a:1\r\n", paths: ".gitattributes a", whole: true},
		{name: "attributes that nobody told of", edit: ".gitattributes=* text; a:1\r\n", paths: "a", whole: true},
		{name: "those of a directory", before: "d/.gitattributes=* text", edit: "d/e/three:1\r\n", paths: "d/e/three", whole: true},
		{name: "those of another directory", before: "d/.gitattributes=* text", edit: "a:1\r\n", paths: "a"},
		{name: "those are gone", before: "d/.gitattributes=* text; git add d", edit: "rm d/.gitattributes; d/one:1\r\n", paths: "d/one", whole: true},
		{name: "the repository's", edit: ".git/info/attributes=* text", paths: "a", whole: true},
		{name: "a new secret", edit: "x.pem=1", paths: "x.pem", whole: true},
		{name: "a secret that is staged alone", before: "x.pem=1; git add x.pem", edit: "x.pem=2", paths: "x.pem", whole: true},
		{name: "a tracked secret", before: "x.pem=1; commit two", edit: "x.pem=2", paths: "x.pem"},
		{name: "a new excluded one", edit: "x.skip=1", paths: "x.skip", policy: &small, whole: true},
		{name: "a large one", edit: "a=" + strings.Repeat("x", 100), paths: "a", policy: &small, whole: true},
		{name: "purged", edit: "a=the hunter22-hunter22 again", paths: "a", policy: &purged, whole: true},
		{name: "not purged", edit: "a=another", paths: "a", policy: &purged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			if tt.policy == nil {
				tt.policy = &policy
			}
			with := func(o *Options) { o.Policy = *tt.policy }
			if tt.before != "" {
				edit(t, r, tt.before)
			}
			earlier, err := tryTake(t, r, with)
			gittest.Must(t, err)
			if !earlier.Plain {
				t.Fatal("the worktree is not plain")
			}
			if tt.edit != "" {
				edit(t, r, tt.edit)
			}
			repo := open(t, r)
			objects := repo.Objects(context.Background())
			defer objects.Close()
			tree, ok, err := Edit(context.Background(), repo, objects, *tt.policy, earlier.Head.Commit, earlier.Tree, strings.Fields(tt.paths))
			gittest.Must(t, err)
			if ok == tt.whole {
				t.Fatalf("it can tell: %v", ok)
			}
			if !ok {
				return
			}
			if tree == earlier.Tree && objects.Spare() > 0 {
				t.Error("nothing changed, and something is to be written")
			}
			gittest.Must(t, objects.Flush())
			want, err := tryTake(t, r, with)
			gittest.Must(t, err)
			if tree != want.Tree {
				t.Errorf("it is %s, and the worktree %s:\n%s", tree, want.Tree, r.Git("diff-tree", "-r", tree.String(), want.Tree.String()))
			}
			r.Git("rev-list", "--objects", "--quiet", tree.String()) // all of it is there
		})
	}
}

// TestEditLost: if an object of the earlier tree is gone, the whole worktree has to be looked at.
func TestEditLost(t *testing.T) {
	t.Parallel()
	r := base(t)
	repo := open(t, r)
	objects := repo.Objects(context.Background())
	defer objects.Close()
	gone := object.NewHash(gittest.Hash("1"))
	if _, ok, err := Edit(context.Background(), repo, objects, policy, object.Hash{}, gone, []string{"a"}); ok || err != nil {
		t.Errorf("it can tell: %v, %v", ok, err)
	}
}

// TestPlain: whether files are in git as on the disk.
func TestPlain(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		"a=x":                                             true,
		"git config core.autocrlf input":                  false,
		"git config core.autocrlf false":                  true,
		"git config core.symlinks false":                  false,
		"git config core.filemode false":                  false,
		"git config core.ignorecase true":                 ignoresCase,
		"git config core.attributesfile x":                false,
		"git sparse-checkout set --no-cone /*":            false,
		".gitattributes=* text":                           false,
		"d/.gitattributes=* text":                         true, // Edit looks for it
		".git/info/attributes=* text":                     false,
		".gitattributes=x; commit two; rm .gitattributes": false,
	} {
		r := base(t)
		edit(t, r, script)
		if s := take(t, r, false); s.Plain != want {
			t.Errorf("%s: it is plain: %v", script, s.Plain)
		}
	}
	r := base(t)
	edit(t, r, "u=1; v=2")
	s, err := tryTake(t, r, func(o *Options) { o.Policy.MaxUntrackedFiles = 1 })
	gittest.Must(t, err)
	if s.Plain {
		t.Error("it is plain with too many files")
	}
}

// TestInside: where a name leads to, through links and to what is gone.
func TestInside(t *testing.T) {
	t.Parallel()
	r := base(t)
	r.Git("init", "-q", "nested")
	symlink(t, r, r.Dir, "up")
	repo := open(t, r)
	other := gittest.TempDir(t)
	symlink(t, r, other, "out")
	for file, want := range map[string]string{
		"a": "a", "d/one": "d/one", "new": "new", "new/x": "new/x", "a/x": "a/x", "d/../a": "a",
		"link": "a", "dirlink/one": "d/one", "dirlink/new/x": "d/new/x", "up/d/one": "d/one",
		".": "", "": "", "..": "", "../x": "", ".git": "", ".git/config": "", "d/.GIT/x": "", "nested": "", "nested/x": "", "nested/y/z": "",
		"out/x": "", "up": "",
	} {
		got, ok := Inside(repo, filepath.Join(r.Dir, file))
		if ok != (want != "") || got != want {
			t.Errorf("%q is %q, %v", file, got, ok)
		}
	}
	if got, ok := Inside(&git.Repo{Top: r.Dir}, filepath.Join(other, "a")); ok {
		t.Errorf("outside is %q", got)
	}
}
