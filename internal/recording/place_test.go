package recording_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/recording"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

func TestURLs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		conf git.Config
		want []string // among others
		none []string
	}{
		{"of all remotes", git.Config{"remote.a.url": {"https://a/1", "https://a/2"}, "remote.b.url": {"/b"}}, []string{"https://a/1", "https://a/2", "/b"}, nil},
		{"pushurl", git.Config{"remote.a.url": {"/a"}, "remote.a.pushurl": {"https://p/1"}}, []string{"/a", "https://p/1"}, nil},
		{"where to push", git.Config{"remote.pushdefault": {"https://p/1"}, "branch.main.remote": {"https://b/1"}, "branch.main.pushremote": {"https://c/1"}}, []string{"https://p/1", "https://b/1", "https://c/1"}, nil},
		{"names are no URLs", git.Config{"remote.a.url": {"/a"}, "branch.main.remote": {"a"}, "branch.x.remote": {"."}}, nil, []string{"a", "."}},
		{"credentials", git.Config{"remote.a.url": {"https://me:p@ss@corp/a"}}, []string{"https://me:p@ss@corp/a", "https://corp/a"}, nil},
		{"a user", git.Config{"remote.a.url": {"git@corp:a/b@c"}, "remote.b.url": {"ssh://git@corp/a"}}, []string{"git@corp:a/b@c", "corp:a/b@c", "ssh://corp/a"}, nil},
		{"a port", git.Config{"remote.a.url": {"ssh://me@corp:22/a"}, "remote.b.url": {"https://corp:443/a/"}, "remote.c.url": {"http://[::1]:80/a"}}, []string{"ssh://corp/a", "me@corp:a", "git@corp:a", "https://corp/a", "http://[::1]/a"}, nil},
		{"forms", git.Config{"remote.a.url": {"hg::HTTPS://corp/a"}, "remote.b.url": {"file:///srv/a.git"}, "remote.c.url": {"corp:a/b"}, "remote.d.url": {"git+ssh://corp/~me/a"}}, []string{"https://corp/a", "/srv/a", "ssh://git@corp/a/b", "ssh://corp/a/b", "git@corp:~me/a"}, []string{"ssh:///srv/a"}},
		{"a path is no host", git.Config{"remote.a.url": {"../a@b:c"}, "remote.b.url": {"/srv/a:b"}, "remote.c.url": {""}}, []string{"../a@b:c", "/srv/a:b"}, []string{"b:c", "ssh://b/c"}},
		{"the longest", git.Config{"remote.a.url": {"x:team/a"}, "url.https://short/.insteadof": {"x:"}, "url.https://long/.insteadof": {"x:team/", "y:"}}, []string{"x:team/a", "https://long/a"}, []string{"https://short/team/a"}},
		{"for pushes", git.Config{"remote.a.url": {"/srv/a"}, "url.https://fetch/.insteadof": {"/srv/"}, "url.git@corp:.pushinsteadof": {"/srv/"}}, []string{"/srv/a", "https://fetch/a", "git@corp:a", "corp:a"}, nil},
		{"with credentials", git.Config{"remote.a.url": {"x:a"}, "url.https://me@corp/.insteadof": {"x:"}}, []string{"https://me@corp/a", "https://corp/a"}, nil},
		{"an empty one rewrites nothing", git.Config{"remote.a.url": {"/a"}, "url.https://corp/.insteadof": {""}}, []string{"/a"}, []string{"https://corp//a"}},
	} {
		got := recording.URLs(tt.conf)
		for _, u := range tt.want {
			if !slices.Contains(got, u) {
				t.Errorf("%s: %q is not in %q", tt.name, u, got)
			}
		}
		for _, u := range tt.none {
			if slices.Contains(got, u) {
				t.Errorf("%s: %q is in %q", tt.name, u, got)
			}
		}
	}
}

// TestURLsAsGit: what git says that it fetches from and pushes to is among them.
func TestURLsAsGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	for _, set := range [][2]string{
		{"remote.a.url", "x:team/a"},
		{"url.https://short.invalid/.insteadOf", "x:"},
		{"url.https://long.invalid/.insteadOf", "x:team/"},
		{"url.git@corp.invalid:.pushInsteadOf", "x:t"},
		{"url.ssh://corp.invalid/.pushInsteadOf", "x:"},
		{"remote.b.url", "x:b"},
		{"remote.b.pushurl", "x:push"},
		{"remote.c.url", "https://me@c.invalid/1"},
	} {
		r.Git("config", "--add", set[0], set[1])
	}
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	lines, err := repo.ConfigLines(t.Context())
	gittest.Must(t, err)
	got := recording.URLs(git.ConfigOf(lines))
	for _, name := range []string{"a", "b", "c"} {
		for _, args := range [][]string{{"--all"}, {"--all", "--push"}} {
			u := r.Git(append(append([]string{"remote", "get-url"}, args...), name)...)
			if !slices.Contains(got, u) {
				t.Errorf("%s %s: %q is not in %q", name, args, u, got)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("f", "1\n")
	r.Commit("one")
	home := filepath.Dir(r.Dir)
	r.Git("worktree", "add", "-q", "../linked")
	gittest.Must(t, os.Symlink(home, filepath.Join(home, "link")))
	repo, err := git.Find(filepath.Join(home, "linked"))
	gittest.Must(t, err)
	got := recording.Paths(repo, "../other", filepath.Join(home, "link", "linked"), "relative", "/nowhere")
	for _, want := range []string{"linked", "linked/.git", "repo", "repo/.git", "repo/.git/worktrees/linked", "link/linked", "link/linked/.git", "repo/other"} {
		if !slices.Contains(got, filepath.Join(home, filepath.FromSlash(want))) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
	sub := &git.Repo{Top: "/a/b/sub", GitDir: "/a/b/.git/modules/sub", CommonDir: "/a/b/.git/modules/sub"}
	for _, want := range []string{"/a/b", "/a/b/.git", "/a/b/sub", "/a/b/.git/modules/sub"} {
		if got := recording.Paths(sub, ""); !slices.Contains(got, filepath.FromSlash(want)) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
}

func TestUnfit(t *testing.T) {
	t.Parallel()
	top := gittest.TempDir(t)
	gittest.Must(t, os.MkdirAll(filepath.Join(top, "tmp", "repo"), 0o777))
	gittest.Must(t, os.Symlink("tmp", filepath.Join(top, "link")))
	at := func(path string) *git.Repo {
		path = filepath.Join(top, path)
		return &git.Repo{Top: path, GitDir: filepath.Join(path, ".git"), CommonDir: filepath.Join(path, ".git")}
	}
	apart := at("repo")
	apart.CommonDir = filepath.Join(top, "tmp", "repo", ".git")
	root := &git.Repo{Top: filepath.VolumeName(top) + string(filepath.Separator)}
	for _, tt := range []struct {
		name string
		repo *git.Repo
		own  bool
		home string
		tmp  []string
		fit  bool
	}{
		{"the user's", at("repo"), true, top, []string{filepath.Join(top, "tmp")}, true},
		{"somebody else's", at("repo"), false, top, nil, false},
		{"bare", &git.Repo{GitDir: top, CommonDir: top}, true, "", nil, false},
		{"the disk", root, true, "", nil, false},
		{"the home", at(""), true, top, nil, false},
		{"temporary", at("tmp/repo"), true, "", []string{filepath.Join(top, "tmp")}, false},
		{"the directory itself", at("tmp"), true, "", []string{filepath.Join(top, "tmp")}, false},
		{"by a link", at("tmp/repo"), true, "", []string{filepath.Join(top, "link")}, false},
		{"a name that begins so", at("tmp2"), true, "", []string{filepath.Join(top, "tmp")}, true},
		{"only its git directory", apart, true, "", []string{filepath.Join(top, "tmp")}, false},
		{"a directory that is missing", at("repo"), true, "", []string{filepath.Join(top, "missing")}, true},
	} {
		if why := recording.Unfit(tt.repo, tt.own, tt.home, tt.tmp); (why == "") != tt.fit {
			t.Errorf("%s: %q", tt.name, why)
		}
	}
	dirs := recording.TemporaryDirs(func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": top, "TMP": "relative"}[name] })
	if !slices.Contains(dirs, top) || slices.Contains(dirs, "relative") || !slices.Contains(dirs, os.TempDir()) {
		t.Errorf("directories are %q", dirs)
	}
}
