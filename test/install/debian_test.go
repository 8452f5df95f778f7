package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestDebian installs the package, runs it, and removes it, with the dpkg of this machine in a root that has
// nothing else. dpkg checks what a package depends on there, too, and that git is installed is what it is told.
func TestDebian(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	if runtime.GOOS != "linux" {
		t.Skip("there are packages for Debian on Linux alone")
	}
	need(t, "dpkg")
	dir := dist(t)
	deb := filepath.Join(dir, fmt.Sprintf("git-agent_%s-1_%s.deb", version, runtime.GOARCH))
	m := newMachine(t)
	root := filepath.Join(m.home, "root")
	status := filepath.Join(root, "var", "lib", "dpkg", "status")
	for _, dir := range []string{"info", "updates"} {
		gittest.Must(t, os.MkdirAll(filepath.Join(filepath.Dir(status), dir), 0o777))
	}
	// git tells dpkg that a version of git is installed; "" for none.
	git := func(version string) {
		t.Helper()
		text, err := os.ReadFile(status)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		var stanzas []string
		for stanza := range strings.SplitSeq(string(text), "\n\n") {
			if stanza = strings.TrimSpace(stanza); stanza != "" && !strings.HasPrefix(stanza, "Package: git\n") {
				stanzas = append(stanzas, stanza+"\n")
			}
		}
		if version != "" {
			stanzas = append(stanzas, "Package: git\nStatus: install ok installed\nArchitecture: "+runtime.GOARCH+"\nVersion: "+version+
				"\nMaintainer: nobody <nobody@example.invalid>\nDescription: git\n")
		}
		gittest.Must(t, os.WriteFile(status, []byte(strings.Join(stanzas, "\n")), 0o666))
		if version != "" {
			gittest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(status), "info", "git.list"), []byte("/.\n"), 0o666))
		}
	}
	dpkg := func(args ...string) error {
		cmd := exec.Command("dpkg", append([]string{
			"--root=" + root, "--log=" + filepath.Join(m.home, "dpkg.log"), "--force-not-root", "--force-script-chrootless", "--force-unsafe-io",
		}, args...)...)
		cmd.Env = append(slices.Clone(m.env), "PATH=/usr/local/sbin:/usr/sbin:/sbin:"+os.Getenv("PATH"), "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("dpkg %q: %w\n%s", args, err, out)
		}
		return nil
	}

	for _, old := range []string{"", "1:2.38.4-1"} {
		git(old)
		if err := dpkg("-i", deb); err == nil || !strings.Contains(err.Error(), "git (>= 1:2.39)") {
			t.Fatalf("with git %q it is installed: %v", old, err)
		}
	}
	git("1:2.39.0-1")
	gittest.Must(t, dpkg("-i", deb))
	if err := dpkg("--verify", "git-agent"); err != nil {
		t.Error(err)
	}
	m.env = append(m.env, "PATH="+filepath.Join(root, "usr", "bin")+":"+os.Getenv("PATH"))
	checkPrograms(t, m)
	for _, name := range []string{
		"share/man/man1/git-agent-turn.1.gz", "share/man/man1/git-agent-turn-revert.1.gz", "share/bash-completion/completions/git-agent-fork", "share/zsh/vendor-completions/_git_agent",
		"share/fish/vendor_conf.d/git-agent.fish", "share/doc/git-agent/copyright", "share/doc/git-agent/changelog.gz",
	} {
		if info, err := os.Stat(filepath.Join(root, "usr", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Run("man", func(t *testing.T) {
		need(t, "man")
		got := m.must(t, "", "man", "-l", filepath.Join(root, "usr/share/man/man1/git-agent-turn.1.gz"))
		if !strings.Contains(got, "EXIT STATUS") {
			t.Errorf("man prints %q", got)
		}
	})
	if err := dpkg("-i", deb); err != nil { // over itself
		t.Error(err)
	}
	if err := dpkg("-r", "git-agent"); err != nil {
		t.Error(err)
	}
	if err := dpkg("-P", "git-agent"); err != nil && !strings.Contains(err.Error(), "isn't installed") {
		t.Error(err)
	}
	left := slices.DeleteFunc(tree(t, root), func(path string) bool { return strings.HasPrefix(path, "/var") })
	if !slices.Equal(left, []string{""}) {
		t.Errorf("removed, there is %q", left)
	}
}

// TestLintian has Debian's own checks find nothing in the package.
func TestLintian(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	need(t, "lintian")
	deb := filepath.Join(dist(t), fmt.Sprintf("git-agent_%s-1_%s.deb", version, runtime.GOARCH))
	out, err := exec.Command("lintian", "--allow-root", "--fail-on", "error,warning", deb).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("lintian: %v\n%s", err, out)
	}
}
