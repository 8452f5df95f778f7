//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// A difference is a reason for which a file is in one of two worktrees alone.
type difference struct {
	who string
	why string
}

const (
	client = "the client alone"
	ours   = "the fork alone"
)

// All the ways in which the client's copy is not a fork's. A new client that no longer does one fails the test.
var (
	caseless = difference{client, "its patterns take upper for lower case"}
	trimmed  = difference{client, "it takes a tab from the end of a line"}
	unlisted = difference{ours, "the client takes the name as git quotes it"}
	unknown  = difference{ours, "the client's patterns know neither this class nor this escape"}
	unlinked = difference{ours, "the client takes no links"}
	wider    = difference{ours, "a fork looks into an ignored directory that a pattern with a class may name"}
	refused  = difference{ours, "the client takes no name that ends with a space"}
)

// differences are the paths of files, by the reason.
type differences map[difference][]string

// TestInclude gives one checkout one .worktreeinclude after the other, and compares what the client's own
// `claude --worktree` takes along from it with what a fork does.
func TestInclude(t *testing.T) {
	r := newNightly(t)
	r.clutter()
	quoted := []string{"\"quoted\".secret", "back\\slash.secret", "two\nlines.secret"}
	links := []string{"inside.secret", "docs/up.secret", "directory.secret", "dangling.secret", "node_modules/.bin"}
	first := r.claude(r.repo.Dir, "T3 hello").ok()
	if told := first.heard(""); !strings.Contains(told, "sub/.env is not recorded as it is") {
		t.Errorf("the user is told %q", told)
	}
	session := first.session()
	r.vars = []string{"GIT_AGENT_DISABLE=1"} // the client's sessions below are nobody's turns
	for i, tt := range []struct {
		name     string
		patterns string
		but      differences
	}{
		{name: "nothing", patterns: ""},
		{name: "a file at any depth", patterns: ".env\n"},
		{name: "a file at the top", patterns: "/.env\n"},
		{name: "all but one", patterns: ".env*\n!.env.local\n"},
		{name: "all but one, the other way round", patterns: "!.env.local\n.env*\n"},
		{name: "a directory", patterns: "node_modules/\n", but: differences{unlinked: {"node_modules/.bin"}}},
		{name: "a directory or a file", patterns: "node_modules\n", but: differences{unlinked: {"node_modules/.bin"}}},
		{name: "a directory at the top", patterns: "/node_modules\n", but: differences{unlinked: {"node_modules/.bin"}}},
		{name: "into an ignored directory", patterns: "build/out/*.o\n"},
		{name: "all of a directory but a file", patterns: "build/*\n!build/keep\n"},
		{name: "all of a directory but one in it", patterns: "build/*\n!build/out/\n"},
		{name: "nothing comes back from below a directory", patterns: "build/\n!build/keep\n"},
		{name: "one file of a directory", patterns: "build/**\n!build/**/\nbuild/out/a.o\n"},
		{name: "any depth in front", patterns: "**/.env\n"},
		{name: "any depth behind", patterns: "deep/**\n"},
		{name: "any depth between", patterns: "deep/**/b/.env\n"},
		{name: "a slash in the middle", patterns: "a/b/.env\n"},
		{name: "a question mark", patterns: "?env\napp.lo?\n"},
		{name: "a class", patterns: "app.[k-m]og\n[!a]ther.secret\n", but: differences{unknown: {"docs/other.secret"}}},
		{name: "a class by name", patterns: "[[:digit:]]*.secret\n", but: differences{unknown: {"docs/1st.secret"}}},
		{name: "a class that does not end", patterns: "[app.log\n.env\n", but: differences{wider: {"deep/.env", "deep/a/b/.env"}}},
		{name: "comments and empty lines", patterns: "# .env\n\n   \n#app.log\n/.env\n"},
		{name: "an escaped number sign", patterns: "\\#hash\n"},
		{name: "an escaped exclamation mark", patterns: "\\!bang\n"},
		{name: "an escaped letter", patterns: "\\.e\\nv\n", but: differences{unknown: {".env", "a/b/.env"}}},
		{name: "lines with carriage returns", patterns: ".env\r\napp.log\r\n"},
		{name: "no newline at the end", patterns: "app.log\n/.env"},
		{name: "a byte order mark", patterns: "\ufeff/.env\n/app.log\n"},
		{name: "a space", patterns: "secret file.txt\n"},
		{name: "spaces behind", patterns: "/.env   \n"},
		{name: "an escaped space behind", patterns: "trailing\\ \n", but: differences{refused: {"trailing "}}},
		{name: "spaces in front", patterns: "  /.env\n"},
		{name: "a tab behind", patterns: "/.env\t\n", but: differences{trimmed: {".env"}}},
		{name: "other letters", patterns: "日*.secret\n", but: differences{unlisted: {"日本.secret"}}},
		{name: "upper case", patterns: "/.ENV\nNODE_MODULES/\n", but: differences{caseless: {".env", "node_modules/lib/index.js", "node_modules/lib/package.json", "packages/one/node_modules/lib/index.js"}}},
		{name: "lower case", patterns: "upper.log\n", but: differences{caseless: {"Upper.log"}}},
		{name: "a tracked file", patterns: "docs/*.secret\nREADME.md\nsrc/\n", but: differences{unlinked: {"docs/up.secret"}}},
		{name: "a file that is not ignored", patterns: ".env.example\nsub/.env\nnotes.txt\n"},
		{name: "a nested ignore file", patterns: "own.txt\n"},
		{name: "the user's own ignore files", patterns: "private/\n*.swp\n"},
		{name: "a nested include file", patterns: "/sub/.worktreeinclude\n"},
		{name: "a link to a file", patterns: "inside.secret\n", but: differences{unlinked: {"inside.secret"}}},
		{name: "a link to a file beside a link", patterns: "up.secret\n", but: differences{unlinked: {"docs/up.secret"}}},
		{name: "a link to a directory", patterns: "directory.secret\n", but: differences{unlinked: {"directory.secret"}}},
		{name: "a file behind a link to a directory", patterns: "directory.secret/**\n"},
		{name: "a link out of the tree", patterns: "outside.secret\nrelative.secret\n"},
		{name: "a link to nowhere", patterns: "dangling.secret\n", but: differences{unlinked: {"dangling.secret"}}},
		{name: "a path out of the tree", patterns: "../elsewhere\n/../elsewhere\n/etc/passwd\n"},
		{name: "modes", patterns: "readonly.secret\nrun.sh\nprivate.pem\n"},
		{name: "a pipe", patterns: "pipe.secret\n/.env\n"},
		{name: "an empty directory", patterns: "build/empty/\n"},
		{name: "a repository in it", patterns: "vendor/\n"},
		{name: "a directory whose files are partly tracked", patterns: "cache/\n"},
		{name: "odd names", patterns: "*quoted*\n*brackets*\n*back*\n*lines*\n", but: differences{unlisted: quoted}},
		{name: "settings of the client", patterns: ".claude/settings.local.json\n"},
		{name: "everything", patterns: "*\n", but: differences{unlisted: append(quoted[:3:3], "日本.secret"), refused: {"trailing "}, unlinked: links}},
		{name: "everything but", patterns: "*\n!*/\n", but: differences{unlisted: append(quoted[:3:3], "日本.secret"), refused: {"trailing "}, unlinked: links}},
	} {
		r.repo.Write(".worktreeinclude", tt.patterns)
		name := fmt.Sprintf("include-%02d", i)
		r.claude(r.repo.Dir, "T3 hello", "--worktree", name).ok()
		theirs := filepath.Join(r.repo.Dir, ".claude", "worktrees", name)
		f := r.fork(r.repo.Dir, passive(session)+"/1", "--worktree", filepath.Join(r.home, name), "--no-conversation")
		want, got := r.besides(theirs), r.besides(f.Worktree)
		but := map[string]difference{}
		for why, paths := range tt.but {
			for _, path := range paths {
				but[path] = why
			}
		}
		for _, path := range slices.Sorted(maps.Keys(union(want, got, but))) {
			who := ""
			switch {
			case want[path] == got[path]:
			case got[path] == "":
				who = client
			case want[path] == "":
				who = ours
			default:
				t.Errorf("%s: %q is %s, and %s with the client", tt.name, path, got[path], want[path])
			}
			if who != but[path].who {
				t.Errorf("%s: %q: %q has %q, expected %q", tt.name, tt.patterns, cmp.Or(who, "both or neither"), path, but[path])
			}
		}
		r.repo.Git("worktree", "remove", "--force", "--force", theirs)
		r.repo.Git("worktree", "remove", "--force", f.Worktree)
	}
}

// union are the keys of maps.
func union(a, b map[string]string, c map[string]difference) map[string]bool {
	all := map[string]bool{}
	for _, keys := range []iter.Seq[string]{maps.Keys(a), maps.Keys(b), maps.Keys(c)} {
		for k := range keys {
			all[k] = true
		}
	}
	return all
}

// clutter gives the checkout what checkouts have beside their commits.
func (r *rig) clutter() {
	r.t.Helper()
	repo := r.repo
	repo.Write(".gitignore", `.claude/
.env
.env.*
!.env.example
*.log
*.secret
*.sh
*.pem
node_modules/
build/
deep/
/vendor/
cache/*
!cache/keep.txt
secret file.txt
trailing\ 
\#hash
\!bang
.worktreeinclude
`)
	repo.Write("sub/.gitignore", "own.txt\n!.env\n")
	repo.Write("docs/tracked.secret", "tracked\n")
	repo.Write("cache/keep.txt", "keep\n")
	repo.Git("add", "-f", "docs/tracked.secret")
	repo.Commit("ignore")
	repo.Write(".git/info/exclude", "private/\n")
	repo.Write("../.config/git/ignore", "*.swp\n")
	for _, path := range []string{
		".env", ".env.local", ".env.example", "sub/.env", "sub/own.txt", "own.txt", "notes.txt", "app.log", "Upper.log", "sub/deep.log",
		"node_modules/lib/index.js", "node_modules/lib/package.json", "packages/one/node_modules/lib/index.js",
		"build/keep", "build/out/a.o", "build/out/b.o", "build/out/c.txt", "deep/a/b/.env", "deep/a/other", "deep/.env", "a/b/.env",
		"docs/other.secret", "docs/1st.secret", "cache/1.txt", "cache/sub/2.txt", "private/key", "src/.main.c.swp",
		"secret file.txt", "trailing ", "#hash", "!bang", "日本.secret", "\"quoted\".secret", "[brackets].secret", "back\\slash.secret",
		"two\nlines.secret", "sub/.worktreeinclude", ".claude/settings.local.json", "../elsewhere/file", "vendor/plain/file",
	} {
		repo.Write(path, path+"\n")
	}
	r.must(os.MkdirAll(filepath.Join(repo.Dir, "build", "empty"), 0o777))
	for path, mode := range map[string]fs.FileMode{"readonly.secret": 0o444, "run.sh": 0o755, "private.pem": 0o600} {
		repo.Write(path, path+"\n")
		r.must(os.Chmod(filepath.Join(repo.Dir, path), mode))
	}
	for path, to := range map[string]string{
		"inside.secret": ".env", "docs/up.secret": "../.env", "directory.secret": "src", "dangling.secret": "nowhere",
		"outside.secret": filepath.Join(r.home, "elsewhere", "file"), "relative.secret": "../elsewhere", "node_modules/.bin": "lib",
	} {
		r.must(os.Symlink(to, filepath.Join(repo.Dir, path)))
	}
	r.must(syscall.Mkfifo(filepath.Join(repo.Dir, "pipe.secret"), 0o600))
	nested := repo.In(filepath.Join(repo.Dir, "vendor", "nested"))
	r.must(os.MkdirAll(nested.Dir, 0o777))
	nested.Git("init", "-q")
	nested.Write("file", "nested\n")
}

func (r *rig) must(err error) {
	r.t.Helper()
	gittest.Must(r.t, err)
}

// besides is what a worktree has that git does not track, by path: mode, and where a link leads or what a
// file holds.
func (r *rig) besides(top string) map[string]string {
	r.t.Helper()
	tracked := strings.Split(r.repo.In(top).Git("ls-files", "-z"), "\x00")
	all := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		switch {
		case err != nil:
			return err
		case name == ".git", name == ".":
			return nil
		case slices.Contains(tracked, name):
			return nil
		case d.IsDir():
			if entries, err := os.ReadDir(path); len(entries) == 0 {
				all[name] = "empty directory"
				return err
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if d.Type() == fs.ModeSymlink {
			content, err = os.Readlink(path)
		} else if d.Type().IsRegular() {
			var b []byte
			b, err = os.ReadFile(path)
			content = string(b)
		}
		all[name] = fmt.Sprintf("%v %q", info.Mode(), content)
		return err
	})
	r.must(err)
	return all
}

// A stranger's tree names files for worktrees, and leads out of them: nothing is copied that the user has not
// named himself, and that only if he says so.
func TestIncludeOfStranger(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r, stranger := newRig(t), newBareRig(t)
	r.must(os.RemoveAll(filepath.Join(stranger.home, ".config", "git-agent"))) // who has another key
	stranger.command(stranger.repo.Dir, "init")
	host := gittest.New(t, "--bare")
	stranger.repo.Write(".gitignore", ".env\n*.pem\nsecrets/\n")
	stranger.repo.Write(".worktreeinclude", ".env\n*.pem\nhome/**\nsecrets/\n../*\n")
	stranger.must(os.Symlink(r.home, filepath.Join(stranger.repo.Dir, "home")))
	stranger.must(os.Symlink(filepath.Join(r.home, "outside"), filepath.Join(stranger.repo.Dir, "keys")))
	stranger.repo.Commit("links")
	stranger.repo.Git("remote", "add", "origin", host.Dir)
	stranger.repo.Git("config", "agent."+host.Dir+".push", "all")
	turn := passive(stranger.claude(stranger.repo.Dir, "T1 hello").ok().quiet().session()) + "/1"

	r.repo.Write(".git/info/exclude", ".env\n*.pem\nsecrets/\nkeys/\n")
	for _, path := range []string{".env", "private.pem", "secrets/token", "keys/key", "../private.pem"} {
		r.repo.Write(path, "SECRET\n")
	}
	outside := filepath.Join(r.home, "outside")
	r.must(os.Mkdir(outside, 0o700))
	r.repo.Git("remote", "add", "origin", host.Dir)
	r.command(r.repo.Dir, "fetch", "origin")

	// on answers questions on a terminal.
	on := func(answer string, argv ...string) (screen string) {
		t.Helper()
		dir, err := os.MkdirTemp(r.tmp, "") // a server of its own
		r.must(err)
		term := newTerminal(t, append(r.env(), "TMUX_TMPDIR="+dir), r.repo.Dir, argv...)
		if answer != "" {
			r.await("the question", func() bool { return strings.Contains(term.screen(), "[yes/no]") })
			term.keys(answer, "Enter")
		}
		r.await("the end", term.dead)
		return term.screen()
	}
	n := 0
	forked := func(answer string, want ...string) (screen string) {
		t.Helper()
		n++
		dir := filepath.Join(r.home, fmt.Sprint("fork-", n))
		argv := []string{"git-agent-fork", turn, "--no-conversation", "--worktree", dir}
		if answer == "nobody" {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = r.repo.Dir, r.env()
			out, err := cmd.CombinedOutput()
			if screen = string(out); err != nil {
				t.Fatalf("%q: %v\n%s", argv, err, out)
			}
		} else {
			screen = on(answer, argv...)
		}
		if got := slices.Sorted(maps.Keys(r.besides(dir))); !slices.Equal(got, want) {
			t.Errorf("answer %q: copied %q, want %q\n%s", answer, got, want, screen)
		}
		return screen
	}

	cmd := exec.Command("git-agent-fork", turn, "--worktree", filepath.Join(r.home, "refused"))
	cmd.Dir, cmd.Env = r.repo.Dir, r.env()
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "not signed by a key you trust") {
		t.Errorf("fork of a stranger's turn: %v, %s", err, out)
	}
	on("yes", "git-agent-turn", "trust", "accept", turn[:8])
	forked("nobody")
	forked("")
	r.repo.Write(".worktreeinclude", ".env\nkeys/\n")
	if said := forked("nobody"); !strings.Contains(said, "not copied: the state is untrusted") {
		t.Errorf("nobody could be asked, and it says %s", said)
	}
	forked("no")
	forked("yes", ".env")
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("the stranger's link leads out of the worktree, and there is %v (%v)", entries, err)
	}
}
