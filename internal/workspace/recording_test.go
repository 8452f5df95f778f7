package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// TestExcepted attacks exceptions: nothing is recorded where it must not be.
func TestExcepted(t *testing.T) {
	gittest.Check(t)
	const host = "hasconfig:remote.*.url:git@corp.example:**"
	const web = "hasconfig:remote.*.url:https://corp.example/**"
	for _, tt := range []struct {
		name    string
		except  string                             // TOP is the repository's top, ABOVE the directory above
		prepare func(r *gittest.Repo) (dir string) // where it is seen from, "" for the top
		on      bool
	}{
		{name: "nothing is excepted", except: "gitdir:/elsewhere/", on: true},
		{name: "its path", except: "gitdir:ABOVE/"},
		{name: "a directory above without a slash at the end", except: "gitdir:ABOVE"},
		{name: "a path that begins like it", except: "gitdir:TOP2/", on: true},
		{name: "two slashes", except: "gitdir:ABOVE//repo/"},
		{name: "another case", except: "gitdir/i:ABOVE/REPO/"},
		{name: "everything", except: "gitdir:**"},
		{name: "one character", except: "gitdir:ABOVE/rep?/"},
		{name: "a set of them", except: "gitdir:ABOVE/[a-z]epo/"},
		{name: "by a link", except: "gitdir:TOP/", prepare: link},
		{name: "a link is named", except: "gitdir:ABOVE/link/", prepare: func(r *gittest.Repo) string { link(r); return "" }},
		{name: "a link is named by a wildcard", except: "gitdir:**/link/", prepare: link},
		{name: "by ..", except: "gitdir:TOP/", prepare: func(r *gittest.Repo) string {
			gittest.Must(t, os.Mkdir(filepath.Join(r.Dir, "sub"), 0o777))
			return r.Dir + "/sub/../../" + filepath.Base(r.Dir) + "/sub"
		}},
		{name: "renamed to it", except: "gitdir:ABOVE/secret/", prepare: func(r *gittest.Repo) string {
			to := filepath.Join(filepath.Dir(r.Dir), "secret")
			gittest.Must(t, os.Rename(r.Dir, to))
			return to
		}},
		{name: "a linked worktree, of the main one", except: "gitdir:TOP/", prepare: linked},
		{name: "a linked worktree, of the repository", except: "gitdir:TOP/.git", prepare: linked},
		{name: "a linked worktree", except: "gitdir:ABOVE/linked/", prepare: linked},
		{name: "the git directory elsewhere", except: "gitdir:ABOVE/apart", prepare: apart},
		{name: "the worktree of a git directory elsewhere", except: "gitdir:TOP/", prepare: apart},
		{name: "core.worktree", except: "gitdir:TOP/", prepare: func(r *gittest.Repo) string {
			away := filepath.Join(filepath.Dir(r.Dir), "away")
			r.Git("init", "-q", away)
			r.In(away).Git("config", "core.worktree", r.Dir)
			return away
		}},
		{name: "a submodule, by the repository around it", except: "gitdir:TOP/", prepare: submodule},
		{name: "a submodule, by its worktree", except: "gitdir:TOP/sub/", prepare: submodule},
		{name: "a submodule's linked worktree, by its worktree", except: "gitdir:TOP/sub/", prepare: func(r *gittest.Repo) string {
			r.In(submodule(r)).Git("worktree", "add", "-q", "--detach", filepath.Join(filepath.Dir(r.Dir), "linked"))
			return filepath.Join(filepath.Dir(r.Dir), "linked")
		}},
		{name: "a submodule's linked worktree, by the repository around it", except: "gitdir:TOP/", prepare: func(r *gittest.Repo) string {
			r.In(submodule(r)).Git("worktree", "add", "-q", "--detach", filepath.Join(filepath.Dir(r.Dir), "linked"))
			return filepath.Join(filepath.Dir(r.Dir), "linked")
		}},
		{name: "a submodule of a linked worktree", except: "gitdir:TOP/", prepare: func(r *gittest.Repo) string {
			submodule(r)
			r.Git("commit", "-qam", "sub")
			there := r.In(linked(r))
			there.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
			return filepath.Join(there.Dir, "sub")
		}},
		{name: "another host", except: host, prepare: conf("remote.a.url", "git@open.example:a"), on: true},
		{name: "a remote", except: host, prepare: conf("remote.a.url", "git@corp.example:team/a")},
		{name: "the second URL of one", except: host, prepare: conf("remote.a.url", "git@open.example:a", "remote.a.url", "git@corp.example:team/a")},
		{name: "pushurl", except: host, prepare: conf("remote.a.pushurl", "git@corp.example:team/a")},
		{name: "pushDefault", except: host, prepare: conf("remote.pushDefault", "git@corp.example:team/a")},
		{name: "a branch's remote", except: host, prepare: conf("branch.main.remote", "git@corp.example:team/a")},
		{name: "insteadOf", except: host, prepare: conf("remote.a.url", "corp:a", "url.git@corp.example:team/.insteadOf", "corp:")},
		{name: "pushInsteadOf", except: host, prepare: conf("remote.a.url", "corp:a", "url.git@corp.example:team/.pushInsteadOf", "corp:")},
		{name: "the host's case", except: host, prepare: conf("remote.a.url", "git@Corp.Example:team/a")},
		{name: "the host's case in the pattern", except: "hasconfig:remote.*.url:https://Corp.Example/**", prepare: conf("remote.a.url", "https://corp.example/a")},
		{name: "a password", except: web, prepare: conf("remote.a.url", "https://me:secret@corp.example/a")},
		{name: "a port", except: web, prepare: conf("remote.a.url", "https://corp.example:443/a")},
		{name: "a scheme in capitals", except: web, prepare: conf("remote.a.url", "HTTPS://corp.example/a")},
		{name: "a slash at the end", except: "hasconfig:remote.*.url:https://corp.example/a", prepare: conf("remote.a.url", "https://corp.example/a/")},
		{name: "ssh:// for the other form", except: host, prepare: conf("remote.a.url", "ssh://git@corp.example/team/a")},
		{name: "the other form for ssh://", except: "hasconfig:remote.*.url:ssh://git@corp.example/**", prepare: conf("remote.a.url", "git@corp.example:team/a")},
		{name: "by a helper", except: web, prepare: conf("remote.a.url", "hg::https://corp.example/a")},
		{name: "remote.vcs", except: web, prepare: conf("remote.a.vcs", "hg", "remote.a.url", "https://corp.example/a")},
		{name: "a bundle", except: "hasconfig:remote.*.url:/srv/corp/**", prepare: conf("remote.a.url", "/srv/corp/a.bundle")},
		{name: "file:// for a path", except: "hasconfig:remote.*.url:/srv/corp/**", prepare: conf("remote.a.url", "file:///srv/corp/a")},
		{name: "a file that the configuration includes", except: host, prepare: func(r *gittest.Repo) string {
			put(r, ".git/more", "[include]\n\tpath = remotes.conf\n")
			put(r, ".git/remotes.conf", "[remote \"a\"]\n\turl = git@corp.example:team/a\n")
			return conf("includeIf.gitdir:"+r.Dir+"/.path", "more")(r)
		}},
		{name: "the worktree's configuration", except: host, prepare: func(r *gittest.Repo) string {
			r.Git("config", "extensions.worktreeConfig", "true")
			r.Git("config", "--worktree", "remote.a.url", "git@corp.example:team/a")
			return ""
		}},
		{name: "a remote in a file", except: host, prepare: func(r *gittest.Repo) string {
			put(r, ".git/remotes/a", "URL: git@corp.example:team/a\n")
			return ""
		}},
		{name: "an exception that can't be parsed", except: "gitdri:/elsewhere/"},
		{name: "said of the repository", except: "gitdir:TOP/", prepare: conf("agent.record", "true"), on: true},
		{name: "off here", except: "gitdir:/elsewhere/", prepare: conf("agent.record", "false")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.NewLasting(t)
			r.Write("f", "1\n")
			r.Commit("one")
			user := filepath.Join(t.TempDir(), "config.toml")
			dir := ""
			if tt.prepare != nil {
				dir = tt.prepare(r)
			}
			if dir == "" {
				dir = r.Dir
			}
			except := strings.NewReplacer("TOP", r.Dir, "ABOVE", filepath.Dir(r.Dir)).Replace(tt.except)
			gittest.Must(t, os.WriteFile(user, []byte("[record]\neverywhere = true\nexcept = ['"+except+"']\n"), 0o666))
			set, _ := config.Load(user, "")
			repo, err := git.Find(dir)
			gittest.Must(t, err)
			w := workspace.New(repo, set)
			if v, err := w.Recording(t.Context(), dir); err != nil || v.On != tt.on || w.Because(v) == "" {
				t.Errorf("%+v, %v; want on: %t", v, err, tt.on)
			}
		})
	}
}

// TestExceptedAtHome has another XDG_CONFIG_HOME in one shell: what is excepted in
// the home directory stays so, or is not known.
func TestExceptedAtHome(t *testing.T) {
	gittest.Check(t)
	for _, tt := range []struct {
		name, except string
		on           bool
	}{
		{"none", "[]", true},
		{"an exception", "['gitdir:**']", false},
		{"no list", "7", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := gittest.NewLasting(t)
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "other"))
			put(r.In(home), ".config/git-agent/config.toml", "[record]\nexcept = "+tt.except+"\n")
			t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
			put(r.In(home), ".gitconfig", "[agent]\n\trecord = true\n")
			repo, err := git.Find(r.Dir)
			gittest.Must(t, err)
			w := workspace.New(repo, nil)
			v, err := w.Recording(t.Context())
			if why := w.Because(v); err != nil || v.On != tt.on || why == "" {
				t.Errorf("%+v (%q), %v; want on: %t", v, why, err, tt.on)
			}
		})
	}
}

func link(r *gittest.Repo) string {
	path := filepath.Join(filepath.Dir(r.Dir), "link")
	if err := os.Symlink(filepath.Base(r.Dir), path); err != nil {
		panic(err)
	}
	return path
}

func linked(r *gittest.Repo) string {
	r.Git("worktree", "add", "-q", "--detach", "../linked")
	return filepath.Join(filepath.Dir(r.Dir), "linked")
}

func apart(r *gittest.Repo) string {
	r.Git("init", "-q", "--separate-git-dir", "../apart")
	return ""
}

func submodule(r *gittest.Repo) string {
	r.Git("clone", "-q", ".", "../other")
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(filepath.Dir(r.Dir), "other"), "sub")
	return filepath.Join(r.Dir, "sub")
}

func put(r *gittest.Repo, name, text string) {
	path := filepath.Join(r.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		panic(err)
	}
}

// conf adds values to the configuration.
func conf(pairs ...string) func(*gittest.Repo) string {
	return func(r *gittest.Repo) string {
		for i := 0; i < len(pairs); i += 2 {
			r.Git("config", "--add", pairs[i], pairs[i+1])
		}
		return ""
	}
}
