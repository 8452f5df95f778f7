// Package install tests install.sh: what it installs works, and what it removes is what it
// installed.
package install

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

var programs = []string{"git-agent-turn", "git-agent-handoff", "git-agent-fork"}

// A machine is a home directory with nothing in it, and a shell environment that knows nothing
// else.
type machine struct {
	home string
	env  []string
}

func newMachine(t *testing.T, settings ...string) *machine {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	gittest.Must(t, err)
	m := &machine{home: home, env: []string{
		"HOME=" + home,
		"PATH=" + filepath.Join(home, ".local", "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1",
		"MANPAGER=cat", "GIT_PAGER=cat",
		"COLUMNS=80", "LINES=24",
	}}
	// Go keeps its caches below HOME; the test must not fill them anew.
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN").Output()
	gittest.Must(t, err)
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		m.env = append(m.env, []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"}[i]+"="+value)
	}
	m.env = append(m.env, settings...)
	return m
}

// run runs a command in the home directory with stdin and returns what it printed.
func (m *machine) run(stdin string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = m.home, m.env, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func (m *machine) must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	stdout, stderr, err := m.run(stdin, args...)
	if err != nil {
		t.Fatalf("%q: %v\nstdout:\n%s\nstderr:\n%s", args, err, stdout, stderr)
	}
	return stdout
}

// typed types lines at the prompts of a shell that runs on a terminal of its own, and returns what
// is on that afterwards. What is typed before a shell reads lines may be lost.
func (m *machine) typed(t *testing.T, shell string, lines ...string) string {
	t.Helper()
	const prompt = "next> "
	cmd := exec.CommandContext(t.Context(), "script", "-qec", shell, "/dev/null")
	cmd.Dir, cmd.Env = m.home, append(slices.Clone(m.env), "PS1="+prompt)
	stdin, err := cmd.StdinPipe()
	gittest.Must(t, err)
	stdout, err := cmd.StdoutPipe()
	gittest.Must(t, err)
	gittest.Must(t, cmd.Start())
	var all bytes.Buffer
	seen, buf := 0, make([]byte, 4096)
	for {
		n, err := stdout.Read(buf)
		all.Write(buf[:n])
		if i := bytes.Index(all.Bytes()[seen:], []byte(prompt)); i >= 0 && len(lines) > 0 {
			seen = all.Len()
			if _, err := fmt.Fprintln(stdin, lines[0]); err != nil {
				t.Error(err)
			}
			lines = lines[1:]
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // with the status of the last command
	return all.String()
}

func script(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../install.sh")
	gittest.Must(t, err)
	return path
}

// need ends the test if the machine lacks a tool: as failed in CI, where .ci/run installs all of
// them.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing", tool)
	}
	t.Skipf("%s is missing", tool)
}

// tree lists everything below dir.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, strings.TrimPrefix(path, dir))
		return err
	})
	gittest.Must(t, err)
	return paths
}

// TestInstalled checks what a person does first with an installation in the home directory.
func TestInstalled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	m := newMachine(t)
	m.env = append(m.env, "PREFIX="+filepath.Join(m.home, ".local"))
	m.must(t, "", script(t))

	t.Run("git", func(t *testing.T) {
		for _, program := range programs {
			name := strings.TrimPrefix(program, "git-")
			if got := m.must(t, "", "git", name, "--version"); !strings.HasPrefix(got, program+" version ") {
				t.Errorf("git %s --version prints %q", name, got)
			}
			if got := m.must(t, "", "git", name, "-h"); !strings.HasPrefix(got, "NAME:\n   git "+name+" - ") {
				t.Errorf("git %s -h prints %q", name, got)
			}
		}
	})

	t.Run("man", func(t *testing.T) {
		need(t, "man")
		for _, program := range programs {
			name := strings.TrimPrefix(program, "git-")
			got := m.must(t, "", "git", name, "--help") // git runs man, which finds the page by PATH
			if !strings.Contains(got, program) || !strings.Contains(got, "EXIT STATUS") {
				t.Errorf("git %s --help prints %q", name, got)
			}
		}
		for line, page := range map[string]string{
			"agent-turn help":                "agent-turn",
			"agent-turn help revert":         "agent-turn-revert",
			"agent-turn revert --help":       "agent-turn-revert",
			"help git-agent-turn-revert":     "agent-turn-revert",
			"agent-turn help page":           "agent-turn-page",
			"agent-turn trust accept --help": "agent-turn-trust",
			"agent-handoff help write":       "agent-handoff-write",
			"agent-fork help compare":        "agent-fork-compare",
		} {
			got := m.must(t, "", append([]string{"git"}, strings.Fields(line)...)...)
			if !strings.Contains(got, "NAME\n     git-"+page+" ") { // its title may be cut
				t.Errorf("git %s prints %q", line, got)
			}
		}
		for _, path := range strings.Fields(m.must(t, "", "sh", "-c", "ls ~/.local/share/man/man1")) {
			if got := m.must(t, "", "man", strings.TrimSuffix(path, ".1")); !strings.Contains(got, "SYNOPSIS") {
				t.Errorf("man shows of %s %q", path, got)
			}
		}
	})

	t.Run("demo", func(t *testing.T) {
		got := m.must(t, "", "git", "agent-turn", "demo")
		for _, want := range []string{
			"$ git agent-turn list\n5 ", "Prompt\n    T4 please go on\n", "+one edited in T4\n",
			"claude --resume ", "  5e55/2  ", "# Where this stands\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("the demo shows no %q:\n%s", want, got)
			}
		}
		if left, err := os.ReadDir(filepath.Join(m.home, ".claude")); err == nil {
			t.Errorf("the demo has left %v in the client's directory", left)
		}
	})

	t.Run("plugin", func(t *testing.T) {
		m.must(t, "", "git", "init", "-q", "other")
		share := filepath.Join(m.home, ".local", "share", "git-agent")
		_, stderr, err := m.run("", "git", "-C", "other", "agent-turn", "init", "--agent", "claude")
		if want := "claude plugin install git-agent --marketplace " + share + "\n"; err != nil || !strings.Contains(stderr, want) {
			t.Errorf("init says %q, %v, want %q", stderr, err, want)
		}
		for _, file := range []string{".claude-plugin/marketplace.json", "plugin/.claude-plugin/plugin.json", "plugin/hooks/hooks.json", "plugin/skills/hand-off/SKILL.md"} {
			if _, err := os.Stat(filepath.Join(share, file)); err != nil {
				t.Error(err)
			}
		}
	})

	// A mission with one turn, and a file.
	m.must(t, "", "git", "-c", "init.defaultBranch=main", "init", "-q", "repo")
	const author = "user.email=dev@example.invalid"
	m.must(t, "", "git", "-C", "repo", "-c", "user.name=Dev", "-c", author, "commit", "-q", "--allow-empty", "-m", "first")
	m.must(t, "", "git", "-C", "repo", "-c", "user.name=Dev", "-c", author, "agent-turn", "record", "--prompt", "paint it black")
	gittest.Must(t, os.WriteFile(filepath.Join(m.home, "repo", "file"), nil, 0o666))

	// Each shell gets a terminal, on which unfinished command lines are typed, with a tab for the
	// rest. What the finished ones print tells that they were the right ones.
	typed := []struct{ line, want string }{
		{"git agent-turn doc\t-h", "git agent-turn doctor - "},
		{"git-agent-turn doc\t-h", "git agent-turn doctor - "},
		{"git agent-turn list --js\t-h", "git agent-turn list - "},
		{"git -C . agent-turn rest\t-h", "git agent-turn restore - "},
		{"git agent-handoff rest\t-h", "git agent-handoff restore "},
		{"git agent-fork --no-conv\t-h", "git agent-fork - "},
		{"git -C repo agent-turn show --json \t", `"prompt":"paint it black"`},
		{"git -C repo agent-turn list --json --mission \t", `"prompt":"paint it black"`},
		{"git -C repo agent-turn list --json --mission=\t", `"prompt":"paint it black"`},
		{"git -C repo agent-turn show fi\t", `turn "fi": `}, // no name of a file
		{"git agent-handoff log show repo/fi\t", `log show repo/file`},
	}
	share := filepath.Join(m.home, ".local", "share")
	for _, shell := range []struct{ name, command, setup string }{
		{"bash", "bash --norc -i", ". /usr/share/bash-completion/bash_completion"},
		{"zsh", "zsh -f -i", "fpath+=(" + share + "/zsh/site-functions); autoload -Uz compinit; compinit -u -D"},
	} {
		t.Run(shell.name, func(t *testing.T) {
			need(t, shell.name)
			need(t, "script")
			if runtime.GOOS != "linux" {
				t.Skip("script takes other arguments here")
			}
			for _, line := range typed {
				got := m.typed(t, shell.command, shell.setup, line.line, "exit")
				if !strings.Contains(got, line.want) {
					t.Errorf("%q prints no %q:\n%s", line.line, line.want, got)
				}
			}
		})
	}
	t.Run("fish", func(t *testing.T) {
		need(t, "fish")
		for _, line := range []struct{ typed, want string }{
			{"git agent-turn doc", "doctor"},
			{"git-agent-turn doc", "doctor"},
			{"git agent-turn list --js", "--json"},
			{"git -C . agent-turn rest", "restore"},
			{"git agent-handoff rest", "restore"},
			{"git agent-fork --no-conv", "--no-conversation"},
			{"git -C repo agent-turn show ", "1\tpaint it black"},
			{"git -C repo agent-turn show --mission=", "--mission="},
			{"git agent-handoff log show repo/fi", "repo/file"},
		} {
			got := m.must(t, "", "fish", "-c", "complete -C '"+line.typed+"'")
			if !strings.HasPrefix(got, line.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("%q is completed with %q, want %q", line.typed, got, line.want)
			}
		}
	})
}

// TestUninstall checks that what was there before is there afterwards, and nothing else.
func TestUninstall(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	m := newMachine(t)
	prefix := filepath.Join(m.home, "a prefix", "of two words")
	m.env = append(m.env, "PREFIX="+prefix)
	for _, name := range []string{"bin/other", "share/man/man1/other.1", "share/zsh/site-functions/_other"} {
		path := filepath.Join(prefix, name)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		gittest.Must(t, os.WriteFile(path, nil, 0o666))
	}
	before := tree(t, prefix)

	got := m.must(t, "", script(t))
	if !strings.Contains(got, prefix) {
		t.Errorf("install.sh does not name %s:\n%s", prefix, got)
	}
	installed := tree(t, prefix)
	for _, program := range programs {
		if got := m.must(t, "", filepath.Join(prefix, "bin", program), "--version"); !strings.HasPrefix(got, program) {
			t.Errorf("%s --version prints %q", program, got)
		}
	}

	// What an earlier version installed, and this one does not, goes with an
	// update: such as a second program, and its directories.
	old := filepath.Join(prefix, "libexec", "git-agent", "sha256", "git-agent-turn")
	gittest.Must(t, os.MkdirAll(filepath.Dir(old), 0o777))
	gittest.Must(t, os.WriteFile(old, nil, 0o777))
	manifest, err := os.OpenFile(filepath.Join(prefix, "share", "git-agent", "installed"), os.O_APPEND|os.O_WRONLY, 0)
	gittest.Must(t, err)
	fmt.Fprint(manifest, "d libexec\nd libexec/git-agent\nd libexec/git-agent/sha256\nf libexec/git-agent/sha256/git-agent-turn\n")
	gittest.Must(t, manifest.Close())
	m.must(t, "", script(t))
	if again := tree(t, prefix); !slices.Equal(again, installed) {
		t.Errorf("installed twice, there is\n%q\nwant\n%q", again, installed)
	}

	m.must(t, "", script(t), "--uninstall")
	if after := tree(t, prefix); !slices.Equal(after, before) {
		t.Errorf("uninstalled, there is\n%q\nwant\n%q", after, before)
	}
	_, stderr, err := m.run("", script(t), "--uninstall")
	if err == nil || !strings.Contains(stderr, "error: nothing is installed in ") {
		t.Errorf("uninstalled twice: %v, %q", err, stderr)
	}
}

// TestPlanted: what somebody has put into the directories, or into the list of what is installed, leads nowhere else.
func TestPlanted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	m := newMachine(t)
	prefix, mine := filepath.Join(m.home, "prefix"), filepath.Join(m.home, "mine")
	m.env = append(m.env, "PREFIX="+prefix)
	files := []string{"mine/by-link", "mine/by-place", "mine/file", "mine/dir/keep"}
	for _, name := range files {
		path := filepath.Join(m.home, name)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		gittest.Must(t, os.WriteFile(path, []byte("mine\n"), 0o666))
	}
	gittest.Must(t, os.MkdirAll(filepath.Join(mine, "empty"), 0o777))
	gittest.Must(t, os.MkdirAll(filepath.Join(prefix, "bin"), 0o777))
	gittest.Must(t, os.Symlink(filepath.Join(mine, "by-link"), filepath.Join(prefix, "bin", "git-agent-turn.new")))
	gittest.Must(t, os.Symlink(filepath.Join(mine, "by-place"), filepath.Join(prefix, "bin", "git-agent-fork")))
	plant := func() {
		manifest := filepath.Join(prefix, "share", "git-agent", "installed")
		text, err := os.ReadFile(manifest)
		gittest.Must(t, err)
		for _, path := range []string{"../mine/file", "bin/../../mine/file", "share/../../mine/dir/keep", mine + "/file", ".."} {
			text = append(text, "f "+path+"\n"...)
		}
		for _, path := range []string{"../mine/empty", "bin/../../mine/empty", "bin/../../mine/empty/.", mine + "/empty", "..", "bin/.."} {
			text = append(text, "d "+path+"\n"...)
		}
		gittest.Must(t, os.WriteFile(manifest, text, 0o666))
	}
	check := func(after string) {
		t.Helper()
		for _, name := range files {
			if text, err := os.ReadFile(filepath.Join(m.home, name)); err != nil || string(text) != "mine\n" {
				t.Errorf("%s, %s has %d bytes, %v", after, name, len(text), err)
			}
		}
		if _, err := os.Stat(filepath.Join(mine, "empty")); err != nil {
			t.Errorf("%s: %v", after, err)
		}
	}
	m.must(t, "", script(t))
	check("installed")
	if info, err := os.Lstat(filepath.Join(prefix, "bin", "git-agent-fork")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("git-agent-fork: %v, %v", info, err)
	}
	plant()
	m.must(t, "", script(t))
	check("installed again")
	plant()
	m.must(t, "", script(t), "--uninstall")
	check("uninstalled")
	if left := tree(t, prefix); !slices.Equal(left, []string{"", "/bin", "/bin/git-agent-turn.new"}) {
		t.Errorf("left is %q", left)
	}
}

// TestPackage checks an installation for a package, and that its removal leaves nothing at all.
func TestPackage(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	m := newMachine(t)
	dest := filepath.Join(m.home, "package")
	gittest.Must(t, os.Mkdir(dest, 0o777))
	m.env = append(m.env, "DESTDIR=package", "PREFIX=/usr")
	m.must(t, "", script(t))
	for _, path := range tree(t, dest) {
		if path != "" && path != "/usr" && !slices.ContainsFunc([]string{"/usr/bin", "/usr/libexec", "/usr/share"}, func(top string) bool { return strings.HasPrefix(path, top) }) {
			t.Errorf("the package has %s", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dest, "usr", "bin", "git-agent-turn")); err != nil {
		t.Error(err)
	}
	m.must(t, "", script(t), "--uninstall")
	if after := tree(t, dest); !slices.Equal(after, []string{""}) {
		t.Errorf("uninstalled, there is %q", after)
	}
}

// TestRefused checks what install.sh says where it can't work. It must not have written anything by
// then.
func TestRefused(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const (
		goodGo  = "go version go1.26.8 linux/amd64"
		goodGit = "git version 2.39.5"
	)
	for _, tt := range []struct {
		name    string
		gover   string // what go prints, "" if there is none
		gitver  string
		setting string
		args    []string
		want    string
	}{
		{name: "no Go", gitver: goodGit, want: "Go 1.26 or newer is needed, and there is none on PATH"},
		{name: "no git", gover: goodGo, want: "git 2.39 or newer is needed, and there is none on PATH"},
		{name: "old Go", gover: "go version go1.9.7 linux/amd64", gitver: goodGit, want: "Go 1.26 or newer is needed, and this is 1.9"},
		{name: "old git", gover: goodGo, gitver: "git version 2.38.10 (Apple Git-154)", want: "git 2.39 or newer is needed, and this is 2.38"},
		{name: "odd Go", gover: "go version unknown", gitver: goodGit, want: "Go 1.26 or newer is needed, and this says: go version unknown"},
		{name: "relative prefix", gover: goodGo, gitver: goodGit, setting: "PREFIX=usr", want: "PREFIX must be an absolute path, not usr"},
		{name: "unknown flag", gover: goodGo, gitver: goodGit, args: []string{"--nope"}, want: "usage: "},
		{name: "two arguments", gover: goodGo, gitver: goodGit, args: []string{"--uninstall", "x"}, want: "usage: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			bin := filepath.Join(m.home, "bin")
			gittest.Must(t, os.Mkdir(bin, 0o777))
			for _, tool := range []string{"sh", "sed", "id", "dirname", "tr", "mktemp", "rm", "cat"} {
				path, err := exec.LookPath(tool)
				gittest.Must(t, err)
				gittest.Must(t, os.Symlink(path, filepath.Join(bin, tool)))
			}
			for tool, says := range map[string]string{"go": tt.gover, "git": tt.gitver} {
				if says == "" {
					continue
				}
				// It fails at everything but its version, so that nothing is built.
				text := "#!/bin/sh\ncase $1 in version | --version) echo '" + says + "' ;; *) exit 1 ;; esac\n"
				gittest.Must(t, os.WriteFile(filepath.Join(bin, tool), []byte(text), 0o777))
			}
			m.env = append(m.env, "PATH="+bin, "PREFIX="+filepath.Join(m.home, "prefix"))
			if tt.setting != "" {
				m.env = append(m.env, tt.setting)
			}
			stdout, stderr, err := m.run("", append([]string{script(t)}, tt.args...)...)
			if err == nil || stdout != "" || !strings.HasPrefix(stderr, "install.sh: error: "+tt.want) {
				t.Errorf("got %v, stdout %q, stderr %q", err, stdout, stderr)
			}
			if got := tree(t, m.home); slices.Contains(got, "/prefix") {
				t.Errorf("something was written: %q", got)
			}
		})
	}
}
