package git

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// strangers is a repository with a commit of a stranger's on the branch theirs, whose hooks and
// programs each write their name into a file.
type strangers struct {
	*gittest.Repo
	t    *testing.T
	ran  string // that file
	home string // of the user; what is in it is his own
}

// events are the hooks of a checkout.
var events = []string{"post-index-change", "reference-transaction", "post-checkout", "pre-commit"}

func newStrangers(t *testing.T) strangers {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	r := gittest.New(t)
	s := strangers{Repo: r, t: t, home: filepath.Dir(r.Dir)}
	s.ran = filepath.Join(s.home, "ran")
	r.Write(".githooks/ours.txt", "hooks come here\n")
	r.Commit("ours")
	r.Git("switch", "-qc", "theirs")
	for _, hook := range events {
		s.program(filepath.Join(r.Dir, ".githooks", hook), "theirs:"+hook, "true")
	}
	s.program(filepath.Join(r.Dir, ".githooks", "fsmonitor"), "theirs:fsmonitor", "exit 1")
	s.program(filepath.Join(r.Dir, "bin", "filter"), "theirs:filter", "cat")
	s.program(filepath.Join(r.Dir, "bin", "git-lfs"), "theirs:lfs", "cat")
	s.program(filepath.Join(r.Dir, "make"), "theirs:make", "cat")
	s.program(filepath.Join(r.Dir, "tools", "x"), "theirs:x", "true")
	r.Write("Makefile", "hook:\n\t@sh tools/x\n")
	r.Write(".gitattributes", "z* filter=x\n")
	r.Write("zzz", "filtered\n")
	r.Commit("theirs")
	r.Git("switch", "-q", "main")
	return s
}

// program writes a script that says that it ran.
func (s strangers) program(path, name, does string) {
	s.Write(s.rel(path), "#!/bin/sh\necho "+name+" >>'"+s.ran+"'\n"+does+"\n")
	gittest.Must(s.t, os.Chmod(path, 0o755))
}

func (s strangers) rel(path string) string {
	rel, err := filepath.Rel(s.Dir, path)
	gittest.Must(s.t, err)
	return rel
}

// what returns who ran since the last call.
func (s strangers) what() []string {
	text, _ := os.ReadFile(s.ran)
	_ = os.Remove(s.ran)
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names)
}

// checkOut checks the stranger's commit out in every way that the project has, and undoes it.
func (s strangers) checkOut(t *testing.T, foreign bool, env []string) []string {
	t.Helper()
	repo := find(t, s.Repo).With(AsUser, Env(env...))
	worktree := filepath.Join(s.home, "worktree")
	if foreign {
		var err error
		repo, err = repo.Foreign(t.Context(), worktree)
		gittest.Must(t, err)
	}
	for _, args := range [][]string{
		{"worktree", "add", "--quiet", "--", worktree, "theirs"},
		{"-C", worktree, "status"}, // as git worktree remove looks
		{"worktree", "remove", "--force", "--", worktree},
		{"switch", "--quiet", "theirs"},
		{"switch", "--quiet", "main"},
		{"read-tree", "-m", "-u", "main", "theirs"},
		{"read-tree", "-m", "-u", "theirs", "main"},
	} {
		if _, err := repo.Output(t.Context(), nil, args...); err != nil && foreign {
			t.Errorf("git %s: %v", args[0], err)
		}
		if worktree := filepath.Join(worktree, "zzz"); args[0] == "worktree" && args[1] == "add" && foreign {
			if text, err := os.ReadFile(worktree); err != nil || !strings.Contains(string(text), "filtered") {
				t.Errorf("%s: %q, %v", worktree, text, err)
			}
		}
	}
	ran := s.what()
	for _, args := range [][]string{{"symbolic-ref", "HEAD", "refs/heads/main"}, {"reset", "-q", "--hard"}, {"clean", "-qffd"}} {
		s.Git(append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)...)
	}
	s.what()
	return ran
}

// TestForeign: what would run a file of a stranger's tree, and does when the tree is nobody's but ours.
func TestForeign(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	major, minor, _, err := Version(t.Context())
	gittest.Must(t, err)
	configured := major > 2 || minor >= 54
	for _, tt := range []struct {
		name       string
		config     []string // pairs; DIR is the worktree, HOME its parent
		env        []string
		links      []string // pairs: made, where it leads
		attributes string   // the stranger's, where they are other ones
		ours       []string // what runs of the user's own
		configured bool     // it is a hook by configuration, which older gits know nothing of
	}{
		{name: "a relative directory of hooks", config: []string{"core.hooksPath", ".githooks"}},
		{name: "with a dot", config: []string{"core.hooksPath", "./.githooks/"}},
		{name: "an absolute one in the worktree", config: []string{"core.hooksPath", "DIR/.githooks"}},
		{name: "one that comes back", config: []string{"core.hooksPath", "HOME/repo/../repo/.githooks"}},
		{name: "in the user's home", config: []string{"core.hooksPath", "~/repo/.githooks"}},
		{name: "in the worktree to be made", config: []string{"core.hooksPath", "HOME/worktree/.githooks"}},
		{name: "a link to it", config: []string{"core.hooksPath", "HOME/link"}, links: []string{"HOME/link", "DIR/.githooks"}},
		{name: "a link above it", config: []string{"core.hooksPath", "HOME/link/.githooks"}, links: []string{"HOME/link", "DIR"}},
		{name: "git's own, which is a link", links: []string{"DIR/.git/hooks", "../.githooks"}},
		{name: "a hook that is a link", links: []string{"DIR/.git/hooks/post-checkout", "../../.githooks/post-checkout"}},
		{name: "a hook that is a link to the worktree to be made", links: []string{"DIR/.git/hooks/post-checkout", "../../../worktree/.githooks/post-checkout"}},
		{name: "on the command line", env: []string{"GIT_CONFIG_PARAMETERS='core.hookspath'='.githooks'"}},
		{name: "in the environment", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=.githooks"}},
		{name: "on a branch", config: []string{"includeIf.onbranch:theirs.path", "HOME/on-theirs"}},

		{name: "a hook by configuration", config: []string{"hook.x.event", "post-checkout", "hook.x.command", "/bin/sh tools/x"}, configured: true},
		{name: "one that looks there", config: []string{"hook.x.event", "post-checkout", "hook.x.command", "/usr/bin/env sh tools/x"}, configured: true},
		{name: "one with a program of the user's", config: []string{"hook.x.event", "post-checkout", "hook.x.command", "HOME/bin/runs"}, configured: true},
		{name: "one with several events, and enabled", config: []string{"hook.x.event", "post-index-change", "hook.x.event", "reference-transaction", "hook.x.enabled", "true", "hook.x.command", "sh tools/x || :"}, configured: true},
		{name: "with dots, an equals sign and a quote", config: []string{`hook.a.b=c" d.event`, "post-checkout", `hook.a.b=c" d.command`, "sh tools/x"}, configured: true},
		{name: "without a name", config: []string{"hook..event", "post-checkout", "hook..command", "sh tools/x"}, configured: true},
		{name: "of an included file", config: []string{"include.path", "HOME/hook-of-theirs"}, configured: true},
		{name: "of one included on a branch", config: []string{"includeIf.onbranch:theirs.path", "../../hook-of-theirs"}, configured: true},
		{name: "of one included by one in another worktree", config: []string{"includeIf.gitdir:**/worktrees/**.path", "~/more"}, configured: true},
		{name: "of this worktree's configuration", config: []string{"extensions.worktreeConfig", "true", "--worktree", "hook.x.event", "post-checkout", "--worktree", "hook.x.command", "sh tools/x"}, configured: true},
		{name: "in the environment", env: []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=hook.x.event", "GIT_CONFIG_VALUE_0=post-checkout", "GIT_CONFIG_KEY_1=hook.x.command", "GIT_CONFIG_VALUE_1=sh tools/x"}, configured: true},
		{name: "on the command line", env: []string{"GIT_CONFIG_PARAMETERS='hook.x.event'='post-checkout' 'hook.x.command'='sh tools/x' 'hook.x.enabled'='true'"}, configured: true},

		{name: "a monitor of files", config: []string{"core.fsmonitor", ".githooks/fsmonitor"}},
		{name: "a filter", config: []string{"filter.x.smudge", "./bin/filter %f", "filter.x.clean", "./bin/filter %f"}},
		{name: "one that is required", config: []string{"filter.x.smudge", "bin/filter", "filter.x.required", "true"}},
		{name: "one that is configured on a branch", config: []string{"includeIf.onbranch:theirs.path", "HOME/filter-on-theirs"}},
		{name: "a process", config: []string{"filter.x.process", "bin/filter", "filter.x.required", "true"}},
		{name: "by a shell", config: []string{"filter.x.smudge", "sh bin/filter", "filter.x.clean", "cat"}},
		{name: "after another command", config: []string{"filter.x.smudge", "git-lfs version; bin/filter"}},
		{name: "by a program that looks there", config: []string{"filter.x.smudge", "PATH=$PWD:$PATH; make"}},
		{name: "with the name of a known one", config: []string{"filter.x.smudge", "bin/git-lfs smudge"}},
		{name: "an absolute one with that name", config: []string{"filter.x.smudge", "DIR/bin/git-lfs smudge"}},
		{name: "a known one, found there", config: []string{"filter.x.smudge", "git-lfs smudge"}, env: []string{"PATH=./bin:DIR/bin:$PATH"}},
		{name: "a name that is empty", config: []string{"filter..smudge", "bin/filter"}, attributes: "z* filter=\n"},
		{name: "a name with an equals sign", config: []string{"filter.x=y.smudge", "bin/filter"}, attributes: "z* filter=x=y\n"},

		{name: "nothing", ours: []string{}},
		{name: "git's own hooks", links: []string{"DIR/.git/hooks/post-checkout", "HOME/hooks/post-checkout"}, ours: []string{"ours:post-checkout"}},
		{name: "the user's hooks", config: []string{"core.hooksPath", "HOME/hooks"}, ours: []string{"ours:post-checkout"}},
		{name: "in his home", config: []string{"core.hooksPath", "~/hooks"}, ours: []string{"ours:post-checkout"}},
		{name: "LFS", config: []string{"filter.x.smudge", "git-lfs smudge -- %f", "filter.x.clean", "git-lfs clean -- %f", "filter.x.required", "true"}, env: []string{"PATH=HOME/bin:$PATH"}, ours: []string{"ours:lfs"}},
		{name: "LFS by its path", config: []string{"filter.x.smudge", `"HOME/bin/git-lfs" smudge`}, ours: []string{"ours:lfs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStrangers(t)
			if tt.attributes != "" {
				s.Git("switch", "-q", "theirs")
				s.Write(".gitattributes", tt.attributes)
				s.Commit("theirs")
				s.Git("switch", "-q", "main")
			}
			s.program(filepath.Join(s.home, "hooks", "post-checkout"), "ours:post-checkout", "true")
			s.program(filepath.Join(s.home, "bin", "git-lfs"), "ours:lfs", "cat")
			s.program(filepath.Join(s.home, "bin", "runs"), "ours:runs", "sh tools/x")
			s.Write("../on-theirs", "[core]\nhooksPath = .githooks\n")
			s.Write("../filter-on-theirs", "[filter \"x\"]\nsmudge = bin/filter\n")
			s.Write("../more", "[include]\npath = hook-of-theirs\n")
			s.Write("../hook-of-theirs", "[hook \"of theirs\"]\nevent = post-checkout\nevent = post-index-change\ncommand = sh tools/x\n")
			place := strings.NewReplacer("DIR", s.Dir, "HOME", s.home, "$PATH", os.Getenv("PATH"))
			for i := 0; i < len(tt.links); i += 2 {
				from, to := place.Replace(tt.links[i]), place.Replace(tt.links[i+1])
				if from == filepath.Join(s.Dir, ".git", "hooks") {
					_ = os.RemoveAll(from)
				}
				_ = os.MkdirAll(filepath.Dir(from), 0o777)
				gittest.Must(t, os.Symlink(to, from))
			}
			for config := tt.config; len(config) > 0; config = config[2:] {
				args := []string{"config", "--add"}
				if config[0] == "--worktree" {
					args, config = append(args, config[0]), config[1:]
				}
				s.Git(append(args, config[0], place.Replace(config[1]))...)
			}
			env := []string{"HOME=" + s.home}
			for _, v := range tt.env {
				env = append(env, place.Replace(v))
			}
			theirs := func(names []string) []string {
				return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.HasPrefix(n, "ours:") })
			}
			ran := s.checkOut(t, false, env)
			if (len(theirs(ran)) == 0) != (tt.ours != nil || tt.configured && !configured) {
				t.Errorf("for a tree of our own %q ran", ran)
			}
			foreign := s.checkOut(t, true, env)
			if !slices.Equal(foreign, tt.ours) && len(foreign)+len(tt.ours) > 0 {
				t.Errorf("for a stranger's tree %q ran, want %q", foreign, tt.ours)
			}
		})
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	home := gittest.TempDir(t)
	for _, path := range []string{"tree/bin/git-lfs", "tree/.git/hooks/x", "bin/git-lfs", "my bin/git-crypt", "bin/make"} {
		gittest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o777))
		gittest.Must(t, os.WriteFile(filepath.Join(home, path), nil, 0o777))
	}
	out := worktrees{filepath.Join(home, "tree")}
	for _, tt := range []struct {
		key, command string
		want         bool // it may run
	}{
		{"filter.x.smudge", "", true},
		{"filter.lfs.process", "git-lfs filter-process", true},
		{"filter.lfs.smudge", "git-lfs smudge --skip -- %f", true},
		{"filter.a.smudge", `"HOME/my bin/git-crypt" smudge --key-name=x`, true},
		{"filter.a.process", "HOME/bin/git-lfs filter-process", true},
		{"filter.a.process", "HOME/tree/bin/git-lfs filter-process", false},
		{"filter.a.process", "HOME/bin/../tree/bin/git-lfs filter-process", false},
		{"filter.a.process", "HOME/nowhere/git-lfs filter-process", false},
		{"filter.a.process", "HOME/bin/make", false},
		{"filter.a.process", "./git-lfs filter-process", false},
		{"filter.a.process", "bin/git-lfs filter-process", false},
		{"filter.a.clean", "git-lfs clean; make", false},
		{"filter.a.clean", "git-lfs clean && make", false},
		{"filter.a.clean", "git-lfs clean | make", false},
		{"filter.a.clean", "git-lfs clean\nmake", false},
		{"filter.a.clean", "git-lfs clean $(make)", false},
		{"filter.a.clean", "git-lfs clean `make`", false},
		{"filter.a.clean", "git-lfs clean >x", false},
		{"filter.a.clean", `"git-lfs"x clean`, false},
		{"filter.a.clean", `"git-lfs clean`, false},
		{"filter.a.clean", "PATH=. git-lfs clean", false},
		{"filter.a.clean", "python -m nbstripout", false},
		{"filter.a.clean", "npx git-lfs", false},
		{"filter.a.clean", "git lfs clean", false}, // an alias may be meant
		{"filter.a.clean", "true", false},
		{"filter.a.b.clean", "make", false},
		{"merge.x.driver", "git-lfs merge-driver %O %A %B", true},
		{"merge.x.driver", "./bin/make %O %A %B", false},
		{"merge.x.name", "./bin/make", true}, // is only printed
		{"hook.x.command", "HOME/bin/make --all", false},
		{"hook.x.command", "git-lfs post-checkout", false},
		{"hook.x.command", "", false},
		{"hook.x.event", "post-checkout", false},
		{`hook.a.b=c" d.event`, "post-checkout", false},
		{"hook..event", "post-checkout", false},
		{"hook.jobs", "2", true},
	} {
		config := Config{tt.key: {strings.ReplaceAll(tt.command, "HOME", home)}}
		driver := tt.key[:strings.LastIndex(tt.key, ".")+1]
		for _, c := range [][2]Config{{config, nil}, {nil, config}, {Config{tt.key: {"git-lfs"}}, config}} {
			ran := !slices.ContainsFunc(overrides(c[0], c[1], "", out), func(set [2]string) bool { return strings.HasPrefix(set[0], driver) })
			if ran != tt.want {
				t.Errorf("%s = %s: it may run: %t, want %t", tt.key, tt.command, ran, tt.want)
			}
		}
	}
	config := Config{"filter.a.clean": {"git-lfs clean"}, "filter.a.smudge": {"make"}, "filter.a.process": {"git-lfs filter-process"}}
	for range 20 { // in whichever order
		if set := overrides(config, nil, "", out); len(set) != 4+4 {
			t.Fatalf("one bad command of three: %q", set)
		}
	}
}

// TestForeignOfBare: the hooks of a bare repository are the user's, though git lists it as a worktree.
func TestForeignOfBare(t *testing.T) {
	t.Parallel()
	r := newStrangers(t)
	bare := filepath.Join(r.home, "bare.git")
	r.Git("clone", "-q", "--bare", r.Dir, bare)
	s := strangers{Repo: r.In(bare), t: t, home: r.home, ran: r.ran}
	s.program(filepath.Join(bare, "hooks", "post-checkout"), "ours:post-checkout", "true")
	s.Git("worktree", "add", "-q", filepath.Join(r.home, "linked"), "main")
	s.what()
	repo := find(t, s.In(filepath.Join(r.home, "linked")))
	repo, err := repo.Foreign(t.Context())
	if err == nil {
		_, err = repo.With(Hooked).Output(t.Context(), nil, "worktree", "add", "--quiet", "--", filepath.Join(r.home, "worktree"), "theirs")
	}
	if got := s.what(); err != nil || !slices.Equal(got, []string{"ours:post-checkout"}) {
		t.Errorf("%q ran, %v", got, err)
	}
}

// TestForeignSubmodule: a submodule has a configuration of its own, so a stranger's commit does not
// move it.
func TestForeignSubmodule(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	inner := newStrangers(t)
	outer := strangers{Repo: gittest.New(t), t: t}
	outer.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-b", "main", inner.Dir, "module")
	outer.Commit("ours")
	outer.Git("switch", "-qc", "theirs")
	module := outer.In(filepath.Join(outer.Dir, "module"))
	module.Git("switch", "-q", "theirs")
	outer.Commit("theirs")
	module.Git("switch", "-q", "main")
	outer.Git("switch", "-q", "main")
	outer.Git("config", "submodule.recurse", "true")
	module.Git("config", "filter.x.smudge", "bin/filter")
	repo := find(t, outer.Repo).With(AsUser)
	foreign, err := repo.Foreign(t.Context())
	gittest.Must(t, err)
	for _, repo := range []*Repo{repo, foreign} {
		for _, args := range [][]string{{"switch", "-q", "theirs"}, {"switch", "-q", "main"}, {"read-tree", "-m", "-u", "main", "theirs"}, {"read-tree", "-m", "-u", "theirs", "main"}} {
			if _, err := repo.Output(t.Context(), nil, args...); err != nil {
				t.Error(err)
			}
		}
		if got := inner.what(); (len(got) > 0) != (repo != foreign) {
			t.Errorf("foreign %t: %q ran", repo == foreign, got)
		}
	}
}

// TestForeignLFS: an untrusted tree's .lfsconfig counts less than the configuration, so what that has is said once more.
func TestForeignLFS(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "https://host.example/lfs"} {
		r := gittest.New(t)
		if url != "" {
			r.Git("config", "lfs.url", url)
		}
		repo, err := find(t, r).Foreign(t.Context())
		gittest.Must(t, err)
		out, err := repo.Output(t.Context(), nil, "config", "--show-scope", "--get", "lfs.url")
		gittest.Must(t, err)
		if got := string(out); got != "command\t"+url+"\n" {
			t.Errorf("lfs.url = %q with %q configured", got, url)
		}
	}
}
