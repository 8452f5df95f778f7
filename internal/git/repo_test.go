package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// committed makes a repository with one commit.
func committed(t testing.TB) *gittest.Repo {
	t.Helper()
	r := gittest.New(t)
	r.Write("a", "a\n")
	r.Write("d/b", "b\n")
	r.Commit("one")
	return r
}

func mkdir(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	gittest.Must(t, os.MkdirAll(dir, 0o777))
	return dir
}

// Find, without running git, agrees with git.
func TestFindEqualsGit(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name string
		make func(t *testing.T) *gittest.Repo // seen from the directory that is asked about
	}{
		{"top", func(t *testing.T) *gittest.Repo { return committed(t) }},
		{"below", func(t *testing.T) *gittest.Repo { r := committed(t); return r.In(mkdir(t, r.Dir, "d/e/f")) }},
		{"unborn", func(t *testing.T) *gittest.Repo { return gittest.New(t) }},
		{"outside", func(t *testing.T) *gittest.Repo { return committed(t).In(gittest.TempDir(t)) }},
		{"linked worktree", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			dir := filepath.Join(gittest.TempDir(t), "linked")
			r.Git("worktree", "add", "-q", "-b", "linked", dir)
			return r.In(mkdir(t, dir, "d"))
		}},
		{"linked worktree inside", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Git("worktree", "add", "-q", "-b", "linked", "wt")
			return r.In(r.Dir + "/wt")
		}},
		{"linked worktree that git has forgotten", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Git("worktree", "add", "-q", "-b", "linked", "wt")
			gittest.Must(t, os.RemoveAll(r.Dir+"/.git/worktrees"))
			return r.In(r.Dir + "/wt")
		}},
		{"linked worktree of a bare repository", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			bare := filepath.Join(gittest.TempDir(t), "bare.git")
			r.Git("clone", "-q", "--bare", r.Dir, bare)
			dir := filepath.Join(gittest.TempDir(t), "linked")
			r.In(bare).Git("worktree", "add", "-q", dir, "main")
			return r.In(dir)
		}},
		{"submodule", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.Dir, "sub")
			return r.In(r.Dir + "/sub/d")
		}},
		{"separate git directory", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Git("init", "-q", "--separate-git-dir", filepath.Join(gittest.TempDir(t), "git dir"))
			return r
		}},
		{"relative .git file", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			gittest.Must(t, os.Rename(r.Dir+"/.git", r.Dir+"/../elsewhere"))
			r.Write(".git", "gitdir: ../elsewhere\r\n")
			return r
		}},
		{"bare", func(t *testing.T) *gittest.Repo { return gittest.New(t, "--bare") }},
		{"below a bare one", func(t *testing.T) *gittest.Repo { r := gittest.New(t, "--bare"); return r.In(r.Dir + "/refs") }},
		{"bare inside a worktree", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Git("init", "-q", "--bare", "bare.git")
			return r.In(r.Dir + "/bare.git/objects")
		}},
		{"inside .git", func(t *testing.T) *gittest.Repo { r := committed(t); return r.In(r.Dir + "/.git/refs/heads") }},
		{"nested repository", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Git("init", "-q", "nested")
			return r.In(mkdir(t, r.Dir, "nested/x"))
		}},
		{".git directory that is none", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			mkdir(t, r.Dir, "x/.git/refs")
			return r.In(r.Dir + "/x")
		}},
		{".git directory without refs", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			mkdir(t, r.Dir, "x/.git/objects")
			r.Write("x/.git/HEAD", "ref: refs/heads/main\n")
			return r.In(r.Dir + "/x")
		}},
		{".git file that points nowhere", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Write("x/.git", "gitdir: /nowhere\n")
			return r.In(r.Dir + "/x")
		}},
		{".git file that is none", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Write("x/.git", "hello\n")
			return r.In(r.Dir + "/x")
		}},
		{".git as a symlink", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			dir := gittest.TempDir(t)
			gittest.Must(t, os.Rename(r.Dir+"/.git", dir+"/real"))
			gittest.Must(t, os.Symlink(dir+"/real", r.Dir+"/.git"))
			return r
		}},
		{"through a symlink", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			link := filepath.Join(gittest.TempDir(t), "link")
			gittest.Must(t, os.Symlink(r.Dir+"/d", link))
			return r.In(link)
		}},
		{"odd characters", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			dir := filepath.Join(gittest.TempDir(t), "a b\tc'\"é\xff")
			r.Git("clone", "-q", r.Dir, dir)
			return r.In(dir)
		}},
		{"reftable's HEAD", func(t *testing.T) *gittest.Repo {
			r := committed(t)
			r.Write(".git/HEAD", "ref: refs/heads/.invalid\n")
			return r
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tt.make(t)
			got, err := Find(r.Dir)
			top, gitErr := r.Try("rev-parse", "--path-format=absolute", "--show-toplevel")
			if gitErr != nil {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("Find = %+v, %v; git says %v", got, err, gitErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("Find: %v; git says %s", err, top)
			}
			dirs := strings.Split(r.Git("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"), "\n")
			same := func(a, b string) bool { // git follows links here and there
				x, err := os.Stat(a)
				if err != nil {
					return false
				}
				y, err := os.Stat(b)
				return err == nil && os.SameFile(x, y)
			}
			if got.Top != top || !same(got.GitDir, dirs[0]) || !same(got.CommonDir, dirs[1]) {
				t.Errorf("Find = %q, %q, %q; git says %q, %q", got.Top, got.GitDir, got.CommonDir, top, dirs)
			}
		})
	}
}

// Where git is told not to look, Find does not look either.
func TestFindBelowCeilings(t *testing.T) {
	r := committed(t)
	top, x, deep := r.Dir, mkdir(t, r.Dir, "x"), mkdir(t, r.Dir, "x/y/z")
	link := filepath.Join(gittest.TempDir(t), "link")
	gittest.Must(t, os.Symlink(top, link))
	for _, tt := range []struct{ ceilings, from, found string }{
		{top, top, top},
		{top, x, ""},
		{top, deep, ""},
		{top + "/", x, ""},
		{x, x, top},
		{x, deep, ""},
		{"/nowhere:" + x, deep, ""},
		{filepath.Dir(top), deep, top},
		{deep, deep, top},
		{"/", deep, top},
		{link, deep, ""},
		{":" + link, deep, top},
		{":" + top, deep, ""},
		{top + "::" + link, deep, ""}, // after an empty one no link is followed
		{"x", deep, top},
	} {
		t.Setenv("GIT_CEILING_DIRECTORIES", tt.ceilings)
		there := r.In(tt.from)
		there.Env = append(there.Env, "GIT_CEILING_DIRECTORIES="+tt.ceilings)
		if out, _ := there.Try("rev-parse", "--show-toplevel"); out != tt.found && tt.found != "" || strings.HasPrefix(out, "/") != (tt.found != "") {
			t.Fatalf("below %q, in %s, git says %q", tt.ceilings, tt.from, out)
		}
		if got, err := Find(tt.from); tt.found == "" && !errors.Is(err, ErrNotFound) || tt.found != "" && (err != nil || got.Top != tt.found) {
			t.Errorf("below %q, in %s, the repository is not %q: %v", tt.ceilings, tt.from, tt.found, err)
		}
	}
}

func TestFindDropsLocation(t *testing.T) {
	r, other := committed(t), committed(t)
	want := r.Git("rev-parse", "HEAD")
	other.Commit("two")
	for _, name := range location {
		t.Setenv(name, other.Dir+"/.git")
	}
	repo := find(t, r)
	if got, err := repo.Resolve(context.Background(), "HEAD"); err != nil || got.String() != want {
		t.Errorf("HEAD = %s, %v; want %s", got, err, want)
	}
	if c, err := repo.Config(context.Background()); err != nil || c.Get("core.bare") != "false" {
		t.Errorf("core.bare = %q, %v", c.Get("core.bare"), err)
	}
}

// Open is for commands that a person types: the environment counts, and its relative paths keep
// their meaning when git is run at the top of the worktree.
func TestOpen(t *testing.T) {
	r := committed(t)
	head := r.Git("rev-parse", "HEAD")
	elsewhere := gittest.TempDir(t)
	for _, tt := range []struct {
		name, dir string
		env       []string // NAME=value
		top       string   // "" for none
	}{
		{"top", r.Dir, nil, r.Dir},
		{"below", r.Dir + "/d", nil, r.Dir},
		{"GIT_DIR", elsewhere, []string{"GIT_DIR=" + r.Dir + "/.git"}, elsewhere},
		{"GIT_DIR and GIT_WORK_TREE", elsewhere, []string{"GIT_DIR=" + r.Dir + "/.git", "GIT_WORK_TREE=" + r.Dir}, ""},
		{"relative", r.Dir + "/d", []string{"GIT_DIR=../.git", "GIT_WORK_TREE=.."}, r.Dir},
		{"inside .git", r.Dir + "/.git", nil, ""},
		{"GIT_CONFIG", r.Dir, []string{"GIT_CONFIG=/dev/null"}, r.Dir},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(tt.dir)
			for _, v := range tt.env {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			ctx := context.Background()
			repo, err := Open(ctx)
			gittest.Must(t, err)
			if repo.Top != tt.top || repo.GitDir != r.Dir+"/.git" || repo.CommonDir != repo.GitDir {
				t.Errorf("Open = %q, %q, %q; want top %q", repo.Top, repo.GitDir, repo.CommonDir, tt.top)
			}
			if got, err := repo.Resolve(ctx, "HEAD"); err != nil || got.String() != head {
				t.Errorf("HEAD = %s, %v; want %s", got, err, head)
			}
			if c, err := repo.Config(ctx); err != nil || c.Get("core.repositoryformatversion") == "" {
				t.Errorf("no configuration: %v", err)
			}
		})
	}
	t.Run("outside", func(t *testing.T) {
		t.Chdir(elsewhere)
		if _, err := Open(context.Background()); !errors.Is(err, ErrNotFound) {
			t.Errorf("Open: %v, want ErrNotFound", err)
		}
	})
	t.Run("GIT_DIR points nowhere", func(t *testing.T) {
		t.Chdir(r.Dir)
		t.Setenv("GIT_DIR", "/nowhere")
		if _, err := Open(context.Background()); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("Open: %v, want git's own error", err)
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Chdir(r.Dir)
		t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
		if _, err := Open(context.Background()); Status(err) != 128 || errors.Is(err, ErrNotFound) {
			t.Errorf("Open: %v, want git's own error", err)
		}
	})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	r := committed(t)
	head := r.Git("rev-parse", "HEAD")
	r.Git("tag", "-a", "-m", "tag", "v1")
	repo := find(t, r)
	ctx := context.Background()
	for _, rev := range []string{"HEAD", "main", "v1", "@", head, head[:10], "HEAD^0", "refs/heads/main"} {
		if got, err := repo.Resolve(ctx, rev); err != nil || got.String() != head {
			t.Errorf("Resolve(%q) = %s, %v", rev, got, err)
		}
	}
	for _, rev := range []string{"", "none", "HEAD~1", "HEAD:a", "HEAD^{tree}", "-x", "--all", "--help", "main..v1", "a\nb", gittest.Hash("0"), strings.Repeat("1", 64), "HEAD@{99}", ":/nothing"} {
		if got, err := repo.Resolve(ctx, rev); err == nil {
			t.Errorf("Resolve(%q) = %s, want an error", rev, got)
		}
	}
	for _, rev := range []string{"none", "HEAD~1", "--all"} {
		if _, err := repo.Resolve(ctx, rev); !errors.Is(err, ErrNotFound) {
			t.Errorf("Resolve(%q): %v, want ErrNotFound", rev, err)
		}
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := gittest.New(t)
	repo := find(t, r)
	expect := func(want Head) {
		t.Helper()
		if got, err := repo.Head(ctx); err != nil || got != want {
			t.Errorf("Head = %+v, %v; want %+v", got, err, want)
		}
		if got, err := repo.HeadRef(ctx); err != nil || got != want.Branch {
			t.Errorf("HeadRef = %q, %v; want %q", got, err, want.Branch)
		}
	}
	expect(Head{Branch: "refs/heads/main"})
	r.Write("a", "a\n")
	commit := object.NewHash(r.Commit("one"))
	expect(Head{Commit: commit, Branch: "refs/heads/main"})
	r.Git("checkout", "-q", "-b", "agent/mission/x")
	expect(Head{Commit: commit, Branch: "refs/heads/agent/mission/x"})
	r.Git("checkout", "-q", "--detach")
	expect(Head{Commit: commit})
}

func TestRefs(t *testing.T) {
	t.Parallel()
	r := gittest.Files(t)
	r.Write("a", "a\n")
	r.Commit("one")
	head := r.Git("rev-parse", "HEAD")
	for _, ref := range []string{"refs/agent/missions/a", "refs/agent/missions/b", "refs/agent/missions2/c", "refs/heads/a/b"} {
		r.Git("update-ref", ref, head)
	}
	r.Write(".git/refs/agent/missions/broken", "garbage\n")
	r.Write(".git/refs/agent/zeros/broken", strings.Repeat("\x00", 41)) // as long as a whole one
	repo := find(t, r)
	for _, tt := range []struct {
		names, want []string
	}{
		{[]string{"refs/agent/missions/a"}, []string{"refs/agent/missions/a"}},
		{[]string{"refs/agent/missions/a", "refs/agent/missions/none"}, []string{"refs/agent/missions/a"}},
		{[]string{"refs/agent/missions/"}, []string{"refs/agent/missions/a", "refs/agent/missions/b", "refs/agent/missions/broken"}},
		{[]string{"refs/agent/missions/broken"}, []string{"refs/agent/missions/broken"}},
		{[]string{"refs/agent/zeros/"}, []string{"refs/agent/zeros/broken"}},
		{[]string{"refs/agent/zeros/broken"}, []string{"refs/agent/zeros/broken"}},
		{[]string{"refs/heads/none"}, nil},
		{[]string{"refs/heads/main"}, []string{"refs/heads/main"}},
	} {
		got, err := repo.Refs(context.Background(), tt.names...)
		if err != nil || len(got) != len(tt.want) {
			t.Errorf("Refs(%q) = %v, %v; want %q", tt.names, got, err, tt.want)
		}
		for _, name := range tt.want {
			want := head
			if strings.HasSuffix(name, "/broken") {
				want = object.Hash{}.String()
			}
			if hash, ok := got[name]; !ok || hash.String() != want {
				t.Errorf("Refs(%q): %s = %s, want %s", tt.names, name, got[name], want)
			}
		}
	}
}

// TestBothFormats: this one process works in a repository of each object format, and in either the hashes of the other
// one are none, and never cut or filled up.
func TestBothFormats(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	other := map[object.Format]object.Hash{object.SHA256: object.SHA1.EmptyTree(), object.SHA1: object.SHA256.EmptyTree()}
	for _, format := range []object.Format{object.SHA1, object.SHA256} {
		r := gittest.New(t, "--object-format="+format.String())
		r.Write("a", "a\n")
		head := object.NewHash(r.Commit("one"))
		repo := find(t, r)
		if c, err := repo.Config(ctx); err != nil || c.Supported() != nil || repo.Format() != format {
			t.Errorf("%s: %s, %v", format, repo.Format(), err)
		}
		if got, err := repo.Head(ctx); err != nil || got.Commit != head || got.Commit.Format() != format {
			t.Errorf("%s: Head = %v, %v; want %s", format, got, err, head)
		}
		o := repo.Objects(ctx)
		defer o.Close()
		blob, err := o.Write(plumbing.BlobObject, []byte("x"))
		gittest.Must(t, err)
		tree, err := o.EditTree(object.Hash{}, map[string]object.Entry{"d/x": {Mode: filemode.Regular, Hash: blob}})
		if err == nil {
			tree, err = o.EditTree(tree, map[string]object.Entry{"d/y": {Mode: filemode.Regular, Hash: blob}})
		}
		if err != nil || tree.Format() != format {
			t.Fatalf("%s: EditTree = %s, %v", format, tree, err)
		}
		who := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(1795176000, 0)}
		commit, err := o.CommitTree(tree, []object.Hash{head}, who, who, "two\n")
		if err == nil {
			err = o.Flush()
		}
		if err == nil {
			err = repo.UpdateRefs(ctx, "x", []Update{{Ref: "refs/agent/x", New: commit}})
		}
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if got := r.Git("cat-file", "blob", "refs/agent/x:d/x"); got != "x" {
			t.Errorf("%s: git has %q", format, got)
		}
		if got, err := repo.Objects(ctx).Commit(commit); err != nil || got.Tree != tree || !slices.Equal(got.Parents, []object.Hash{head}) {
			t.Errorf("%s: Commit = %+v, %v", format, got, err)
		}
		if err := repo.UpdateRefs(ctx, "x", []Update{{Ref: "refs/agent/x", Old: commit}}); err != nil {
			t.Errorf("%s: deleted: %v", format, err)
		}

		short := object.NewHash(head.String()[:40]) // filled up with zeros if that is all of it
		for _, h := range []object.Hash{other[format], short} {
			if h.Format() == format {
				continue
			}
			if obj, err := o.object(h, MaxTree); err != plumbing.ErrObjectNotFound {
				t.Errorf("%s: %s is %v, %v", format, h, obj, err)
			}
			if err := o.Each([]Wanted{{h, MaxTree}}, func(_ int, _ *Object, err error) error { return err }); !Lost(err) {
				t.Errorf("%s: Each of %s: %v", format, h, err)
			}
			if err := o.Has(h); err != plumbing.ErrObjectNotFound {
				t.Errorf("%s: Has(%s) = %v", format, h, err)
			}
			if tree, err := o.EditTree(object.Hash{}, map[string]object.Entry{"x": {Mode: filemode.Regular, Hash: h}}); err == nil {
				t.Errorf("%s: %s has %s", format, tree, h)
			}
			if err := repo.UpdateRefs(ctx, "x", []Update{{Ref: "refs/agent/x", New: h}}); err == nil {
				t.Errorf("%s: a ref has %s", format, h)
			}
		}
		r.Git("fsck", "--strict")
	}
}

// TestUnknownFormat: of a repository whose format we don't know, which git refuses, nothing is read, and nothing written.
func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	head := object.NewHash(r.Commit("one"))
	r.Git("config", "core.repositoryformatversion", "1")
	r.Git("config", "extensions.objectformat", "sha512")
	repo := find(t, r)
	o := repo.Objects(t.Context())
	defer o.Close()
	if _, err := o.Write(plumbing.BlobObject, []byte("x")); !errors.Is(err, ErrFormat) {
		t.Errorf("Write: %v", err)
	}
	for _, h := range []object.Hash{head, {}} {
		if obj, err := o.object(h, MaxTree); err != plumbing.ErrObjectNotFound {
			t.Errorf("it has %v for %q: %v", obj, h, err)
		}
		if err := o.Has(h); err != plumbing.ErrObjectNotFound {
			t.Errorf("Has(%q) = %v", h, err)
		}
	}
}

func TestInit(t *testing.T) {
	t.Parallel()
	dir := gittest.TempDir(t)
	repo, err := Init(context.Background(), dir, 0)
	if err != nil || repo.Top != dir {
		t.Fatalf("Init = %+v, %v", repo, err)
	}
	if head, err := repo.Head(context.Background()); err != nil || head != (Head{Branch: "refs/heads/main"}) {
		t.Errorf("Head = %+v, %v", head, err)
	}
	if _, err := Init(context.Background(), filepath.Join(dir, "none"), 0); err == nil {
		t.Error("Init makes directories")
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	r := committed(t)
	repo := find(t, r)
	one := repo.With(Env("GIT_AUTHOR_NAME=one"))
	two := repo.With(Env("GIT_AUTHOR_NAME=two"))
	for want, repo := range map[string]*Repo{"one": one, "two": two} {
		out, err := repo.Output(context.Background(), nil, "var", "GIT_AUTHOR_IDENT")
		if err != nil || !strings.HasPrefix(string(out), want+" <") {
			t.Errorf("author %q, %v; want %s", out, err, want)
		}
	}
}
