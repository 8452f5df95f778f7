package install

import (
	"crypto/sha256"
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
	"gitagent/test/replay"
)

// TestGetRidOfIt uses everything, and then does what the README says for who wants to get rid of it. Afterwards the
// home directory and the repository are what they were before.
func TestGetRidOfIt(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	need(t, "script")
	if runtime.GOOS != "linux" {
		t.Skip("script takes other arguments here")
	}
	m := newMachine(t)
	m.env = append(m.env,
		"PREFIX="+filepath.Join(m.home, ".local"), "XDG_RUNTIME_DIR="+filepath.Join(m.home, "run"), "TMPDIR="+filepath.Join(m.home, "tmp"),
		"PATH="+strings.Join([]string{filepath.Join(m.home, ".local", "bin"), filepath.Join(m.home, "tools"), os.Getenv("PATH")}, string(os.PathListSeparator)))
	for name, text := range map[string]string{
		".gitconfig":                     "[user]\n\tname = Dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n[alias]\n\tst = status\n",
		".claude/settings.json":          "{\n    \"model\": \"opus\"\n}",
		".codex/config.toml":             "model = \"gpt\"\n",
		".config/opencode/opencode.json": "{}",
		".gemini/settings.json":          "{\"theme\": \"dark\"}\n",
		".pi/agent/settings.json":        "{}",
		".qwen/settings.json":            "{}\n",
		".factory/settings.json":         "{}\n",
		".copilot/config.json":           "{}\n",
		".config/kilo/kilo.json":         "{}\n",
		".local/bin/other":               "#!/bin/sh\n",
		"run/other":                      "",
		"tmp/other":                      "",
		"tools/xdg-open":                 "#!/bin/sh\n",
	} {
		write(t, filepath.Join(m.home, name), text)
	}
	repo := filepath.Join(m.home, "repo")
	m.must(t, "", "git", "init", "-q", "--bare", "host")
	m.must(t, "", "git", "init", "-q", "repo")
	write(t, filepath.Join(repo, "file"), "1\n")
	at := func(stdin string, args ...string) string {
		return m.must(t, stdin, slices.Insert(args, 1, "-C", repo)...)
	}
	at("", "git", "add", "file")
	at("", "git", "commit", "-q", "-m", "first")
	at("", "git", "remote", "add", "origin", filepath.Join(m.home, "host"))
	at("", "git", "push", "-q", "origin", "main")
	gittest.Must(t, os.MkdirAll(filepath.Join(m.home, ".local", "state"), 0o700)) // which is all programs', as .local/share
	before := m.everything(t)

	m.must(t, "", script(t))
	if out := at("", "git", "agent-turn", "init", "--alias"); strings.Count(out, "hooks of ") != 9 {
		t.Fatalf("init says %s", out)
	}
	at("", "git", "config", "agent."+filepath.Join(m.home, "host")+".push", "all") // as init --push says where it can't ask
	m.work(t, repo)
	if now := m.everything(t); slices.Equal(now, before) {
		t.Fatal("nothing has changed")
	}

	readme, err := os.ReadFile("../../README.md")
	gittest.Must(t, err)
	_, section, _ := strings.Cut(string(readme), "\n## Get rid of it\n")
	section, _, _ = strings.Cut(section, "\n## ")
	commands := 0
	for line := range strings.Lines(section) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		commands++
		command = "cd repo && " + strings.Replace(command, "./install.sh", script(t), 1)
		if out, errs, err := m.run("yes\n", "script", "-qec", command, "/dev/null"); err != nil {
			t.Fatalf("%s: %v\n%s%s", command, err, out, errs)
		}
	}
	if commands != 3 {
		t.Errorf("the README has %d commands", commands)
	}
	after := m.everything(t)
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("there was  %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("there is   %s", line)
		}
	}
}

// work lets an agent work in the repository, and a person use what is recorded of it.
func (m *machine) work(t *testing.T, repo string) {
	t.Helper()
	family, child, err := os.Pipe() // which all processes have that hooks start
	gittest.Must(t, err)
	defer family.Close()
	hook := func(e replay.Event) {
		for _, program := range []string{"git-agent-turn", "git-agent-handoff"} {
			cmd := exec.Command(filepath.Join(m.home, ".local", "bin", program), "hook")
			cmd.Dir, cmd.Env, cmd.Stdin, cmd.ExtraFiles = e.Cwd, m.env, strings.NewReader(string(e.Payload())), []*os.File{child}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("hook of %s: %v\n%s", e.Name, err, out)
			}
		}
	}
	claude := filepath.Join(m.home, ".claude")
	var missions []string
	for n := range 3 {
		c := replay.New(claude, repo, hook)
		missions = append(missions, c.Session[len(c.Session)-8:])
		c.Start("startup")
		for _, prompt := range []string{"one", "the password is hunter2hunter2"} {
			c.Prompt(prompt)
			c.Tool("Write")
			write(t, filepath.Join(repo, "file"), fmt.Sprintf("%d %s\n", n, prompt))
			c.Stop("I wrote it.")
		}
		c.End("other")
	}
	at := func(stdin string, args ...string) { m.must(t, stdin, slices.Insert(args, 1, "-C", repo)...) }
	at("what is open\n", "git", "agent-handoff", "write", "-")
	at("", "git", "agent-fork", "--worktree", filepath.Join(m.home, "fork"), missions[0]+"/1")
	at("", "git", "agent-turn", "start", "--worktree", filepath.Join(m.home, "started"))
	at("", "git", "agent-turn", "restore", missions[2]+"/1")
	at("", "git", "checkout", "-q", "file")
	at("", "git", "agent-turn", "archive", missions[1])
	at("hunter2hunter2", "git", "agent-turn", "purge", "--fixed", "--yes")
	at("", "git", "agent-turn", "page", "--open", missions[2])
	at("", "git", "agent-turn", "fetch", "origin")
	_ = child.Close()
	if _, err := family.Read(make([]byte, 1)); err == nil {
		t.Error("a process has written to a file that it was given")
	}
}

// everything lists the home directory: files with what is in them, and what git says of the repository. Of that the
// objects are counted, without garbage. The conversations are the client's, and the Go command counts what it does.
func (m *machine) everything(t *testing.T) (list []string) {
	t.Helper()
	git := func(args ...string) string { return m.must(t, "", append([]string{"git", "-C", "repo"}, args...)...) }
	git("gc", "-q", "--prune=now")
	for _, args := range [][]string{{"for-each-ref"}, {"worktree", "list"}, {"config", "--list", "--show-origin"}, {"status", "--porcelain"}, {"count-objects", "-v"}} {
		for line := range strings.Lines(git(args...)) {
			if !strings.HasPrefix(line, "size") { // of packs: as well as git has packed them
				list = append(list, args[0]+" "+strings.TrimSpace(line))
			}
		}
	}
	git("fsck", "--strict")
	err := filepath.WalkDir(m.home, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, m.home)
		switch {
		case err != nil:
			return err
		case slices.Contains([]string{"/.claude/projects", "/.config/go", "/host", "/repo/.git/objects"}, name):
			return fs.SkipDir
		case slices.Contains([]string{"/repo/.git/packed-refs", "/repo/.git/info/refs", "/repo/.git/index"}, name): // git says what is in them
			return nil
		case !d.Type().IsRegular():
			list = append(list, name)
			return nil
		}
		data, err := os.ReadFile(path)
		list = append(list, fmt.Sprintf("%s %x", name, sha256.Sum256(data)))
		return err
	})
	gittest.Must(t, err)
	return list
}

func write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o777)
	}
	gittest.Must(t, err)
}
