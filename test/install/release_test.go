package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gitagent/test/gittest"
)

// version is that of the releases which the tests make.
const version = "0.9.0"

var cold = flag.Bool("cold", false, "compile the second release of TestReproducible with no cache, in four minutes")

var kept string // what tests share; TestMain removes it

func TestMain(m *testing.M) {
	code := 1
	var err error
	if kept, err = os.MkdirTemp("", "git-agent-install-"); err == nil {
		code = m.Run()
		err = os.RemoveAll(kept)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// released is a release for this machine, made of the tree as it is now. All tests share it.
var released = sync.OnceValues(func() (string, error) {
	return release(filepath.Join(kept, "one"), "022")
})

// dist is the directory of a release for this machine.
func dist(t *testing.T) string {
	t.Helper()
	need(t, "make")
	need(t, "ssh-keygen")
	dir, err := released()
	gittest.Must(t, err)
	return dir
}

// release commits the tree as it is, tagged and with a key that signs, to a new repository in dir, and makes
// a release there, with a umask and settings in the environment. Two repositories are the same.
func release(dir, umask string, settings ...string) (string, error) {
	listed, err := exec.Command("git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return "", fmt.Errorf("list the tree: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		from, to := filepath.Join("../..", name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if os.IsNotExist(err) { // removed, and not committed
			continue
		}
		if err != nil {
			return "", err
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			return "", err
		}
	}
	home := filepath.Join(dir, "..", filepath.Base(dir)+"-home")
	if err := os.Mkdir(home, 0o777); err != nil {
		return "", err
	}
	key := filepath.Join(kept, "release-key")
	if _, err := os.Stat(key); err != nil {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput(); err != nil {
			return "", fmt.Errorf("make a key: %w\n%s", err, out)
		}
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		return "", err
	}
	signers := "release@git-agent namespaces=\"git-agent-release\" " + string(public)
	if err := os.WriteFile(filepath.Join(dir, "release", "allowed_signers"), []byte(signers), 0o666); err != nil {
		return "", err
	}
	caches := []string{"MAKEFLAGS=", "GOCACHE=" + goEnv("GOCACHE"), "GOMODCACHE=" + goEnv("GOMODCACHE"), "GOPROXY=" + goEnv("GOPROXY")}
	for _, args := range [][]string{
		{"git", "init", "-q"},
		{"git", "add", "--force", "."},
		{"git", "commit", "-q", "-m", "release"},
		{"git", "tag", "v" + version},
		{"sh", "-c", "umask " + umask + ` && exec make dist "$@"`, "sh", "ONLY=" + runtime.GOOS + "/" + runtime.GOARCH, "RELEASE_KEY=" + key},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, gittest.Env(home)
		if args[0] == "sh" {
			cmd.Env = slices.Concat(cmd.Env, []string{"PATH=" + os.Getenv("PATH")}, caches, settings)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%q: %w\n%s", args, err, out)
		}
	}
	return filepath.Join(dir, "dist"), nil
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(out))
}

// archive is the archive for this machine, and what it has is below.
func archive() (name, top string) {
	top = fmt.Sprintf("git-agent-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH)
	if runtime.GOOS == "windows" {
		return top + ".zip", top
	}
	return top + ".tar.gz", top
}

// contents reads the files of a release.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	gittest.Must(t, err)
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestReproducible makes a release once more: in another directory, time zone and locale, with another umask and
// other settings of git and Go, and without what the first has left in Go's cache.
func TestReproducible(t *testing.T) {
	gittest.Nightly(t)
	t.Parallel()
	one := contents(t, dist(t))
	settings := []string{
		"TZ=Asia/Kathmandu", "LC_ALL=C.UTF-8", "GOFLAGS=-buildvcs=true -ldflags=-X=main.x=y", "GOAMD64=v2", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=true", "GIT_CONFIG_KEY_1=tar.umask", "GIT_CONFIG_VALUE_1=077",
	}
	if *cold {
		settings = append(settings, "GOCACHE="+filepath.Join(t.TempDir(), "cache"))
	}
	dir, err := release(filepath.Join(t.TempDir(), "a much longer name", "of a directory"), "077", settings...)
	gittest.Must(t, err)
	two := contents(t, dir)
	for name, content := range one {
		if !bytes.Equal(two[name], content) {
			t.Errorf("%s differs: %d bytes, and %d", name, len(content), len(two[name]))
		}
	}
	if len(two) != len(one) {
		t.Errorf("there are %d files, and %d", len(one), len(two))
	}
}

// TestSums checks what SHA256SUMS says, that its signature is verified with what SECURITY.md says, and that a
// changed one isn't.
func TestSums(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	dir := dist(t)
	files := contents(t, dir)
	sums := string(files["SHA256SUMS"])
	named := 0
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if got := sha256.Sum256(files[name]); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s: %x, want %s", name, got, sum)
		}
		named++
	}
	if named != len(files)-2 {
		t.Errorf("SHA256SUMS names %d of %d files:\n%s", named, len(files)-2, sums)
	}

	security, err := os.ReadFile("../../SECURITY.md")
	gittest.Must(t, err)
	const command = "ssh-keygen -Y verify -f allowed_signers -I release@git-agent -n git-agent-release -s SHA256SUMS.sig < SHA256SUMS"
	if !strings.Contains(string(security), command) {
		t.Fatalf("SECURITY.md has no %q", command)
	}
	signers, err := os.ReadFile(filepath.Join(dir, "..", "release", "allowed_signers"))
	gittest.Must(t, err)
	for _, tt := range []struct {
		sums string
		good bool
	}{{sums, true}, {strings.Replace(sums, "git", "got", 1), false}} {
		here := t.TempDir()
		for name, content := range map[string][]byte{"allowed_signers": signers, "SHA256SUMS": []byte(tt.sums), "SHA256SUMS.sig": files["SHA256SUMS.sig"]} {
			gittest.Must(t, os.WriteFile(filepath.Join(here, name), content, 0o666))
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = here
		if out, err := cmd.CombinedOutput(); (err == nil) != tt.good {
			t.Errorf("verified: %v\n%s", err, out)
		}
	}
}

// TestSignedByNobody: a release is not signed with a key that those who get it can't know.
func TestSignedByNobody(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	dir := filepath.Dir(dist(t))
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("make a key: %v\n%s", err, out)
	}
	cmd := exec.Command("go", "run", "./release", "-only", runtime.GOOS+"/"+runtime.GOARCH, "-out", filepath.Join(t.TempDir(), "dist"), "-key", key)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), " signs can't be verified") {
		t.Errorf("signed: %v\n%s", err, out)
	}
}

// TestMaterials checks that the bill of materials has what the programs say they were built from.
func TestMaterials(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	dir := dist(t)
	files := contents(t, dir)
	var bill struct {
		Format     string `json:"bomFormat"`
		Components []struct {
			Type, Name, Version string
			PURL                string `json:"purl"`
			Hashes              []struct{ Content string }
		}
	}
	if err := json.Unmarshal(files["git-agent-"+version+".cdx.json"], &bill); err != nil || bill.Format != "CycloneDX" {
		t.Fatalf("the bill is of the format %q: %v", bill.Format, err)
	}
	has := map[string]bool{}
	for _, c := range bill.Components {
		has[c.Name+" "+c.Version] = true
		if c.Type == "file" {
			if got := sha256.Sum256(files[c.Name]); c.Hashes[0].Content != hex.EncodeToString(got[:]) {
				t.Errorf("%s: %x, the bill has %s", c.Name, got, c.Hashes[0].Content)
			}
		}
	}
	m := unpacked(t)
	_, top := archive()
	for _, program := range installedPrograms() {
		out, err := exec.Command("go", "version", "-m", filepath.Join(m.home, top, filepath.FromSlash(program))).Output()
		gittest.Must(t, err)
		deps := 0
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) >= 3 && f[0] == "dep" {
				deps++
				if !has[f[1]+" "+f[2]] {
					t.Errorf("%s was built from %s %s, and the bill has none", program, f[1], f[2])
				}
			}
		}
		if deps == 0 {
			t.Errorf("%s has no dependencies:\n%s", program, out)
		}
	}
}

// installedPrograms are the programs of an archive and of an installation, below its directory.
func installedPrograms() []string {
	var all []string
	for _, program := range programs {
		if runtime.GOOS == "windows" {
			program += ".exe"
		}
		all = append(all, "bin/"+program)
	}
	return all
}

// unpacked is a machine without Go, with the archive unpacked in the home directory.
func unpacked(t *testing.T, settings ...string) *machine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links to programs, and tar for a zip")
	}
	name, top := archive()
	m := newMachine(t)
	m.env = m.env[:6] // nothing of Go
	tools := filepath.Join(m.home, "tools")
	gittest.Must(t, os.Mkdir(tools, 0o777))
	for _, tool := range []string{
		"sh", "sed", "id", "dirname", "tr", "mktemp", "rm", "cat", "cp", "chmod", "mv", "mkdir", "grep", "find", "uname", "sort", "rmdir",
		"git", "tar", "gzip", "env",
	} {
		path, err := exec.LookPath(tool)
		gittest.Must(t, err)
		gittest.Must(t, os.Symlink(path, filepath.Join(tools, tool)))
	}
	m.env = append(m.env, "PATH="+filepath.Join(m.home, ".local", "bin")+":"+tools)
	m.env = append(m.env, settings...)
	m.must(t, "", "tar", "xzf", filepath.Join(dist(t), name))
	if _, err := os.Stat(filepath.Join(m.home, top, "install.sh")); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestArchive takes a person from an archive to a recorded turn, without Go.
func TestArchive(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	m := unpacked(t)
	_, top := archive()
	prefix := filepath.Join(m.home, ".local")
	m.must(t, "", "env", "PREFIX="+prefix, "sh", filepath.Join(top, "install.sh"))
	checkPrograms(t, m)

	// As from the source: nothing but programs of another release differs.
	source := newMachine(t)
	source.must(t, "", "env", "PREFIX="+filepath.Join(source.home, ".local"), script(t))
	want := slices.DeleteFunc(tree(t, filepath.Join(source.home, ".local")), func(path string) bool { return strings.HasPrefix(path, "/share/doc") })
	got := slices.DeleteFunc(tree(t, prefix), func(path string) bool { return strings.HasPrefix(path, "/share/doc") })
	if !slices.Equal(got, want) {
		t.Errorf("the archive installs\n%q\nthe source\n%q", got, want)
	}

	m.must(t, "", "env", "PREFIX="+prefix, "sh", filepath.Join(top, "install.sh"), "--uninstall")
	if _, err := os.Stat(prefix); !os.IsNotExist(err) {
		t.Errorf("uninstalled, there is %q: %v", tree(t, prefix), err)
	}
}

// TestOtherMachine: an archive whose programs don't run here installs nothing.
func TestOtherMachine(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	m := unpacked(t)
	_, top := archive()
	gittest.Must(t, os.WriteFile(filepath.Join(m.home, top, "bin", "git-agent-turn"), []byte("\x7fELF for another machine"), 0o777))
	prefix := filepath.Join(m.home, "prefix")
	_, stderr, err := m.run("", "env", "PREFIX="+prefix, "sh", filepath.Join(top, "install.sh"))
	if err == nil || !strings.HasPrefix(stderr, "install.sh: error: the programs of this archive don't run here: ") {
		t.Errorf("installed: %v\n%s", err, stderr)
	}
	if _, err := os.Stat(prefix); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// checkPrograms has the programs that a machine finds say their version, and record a turn in repositories of
// both formats, in their name.
func checkPrograms(t *testing.T, m *machine) {
	t.Helper()
	for _, program := range programs {
		got := m.must(t, "", "git", strings.TrimPrefix(program, "git-"), "--version")
		if want := program + " version v" + version + "\n"; got != want {
			t.Errorf("%s --version prints %q, want %q", program, got, want)
		}
	}
	for _, format := range []string{"sha1", "sha256"} {
		in := func(args ...string) string {
			t.Helper()
			return m.must(t, "", slices.Concat([]string{"git", "-C", format, "-c", "user.name=Dev", "-c", "user.email=dev@example.invalid"}, args)...)
		}
		m.must(t, "", "git", "init", "-q", "--object-format="+format, format)
		in("commit", "-q", "--allow-empty", "-m", "first")
		in("agent-turn", "record", "--prompt", "paint it black")
		in("agent-handoff", "write", "--summary", "painted")
		for _, args := range [][]string{{"agent-turn", "list", "--json"}, {"agent-handoff", "list", "--json"}} {
			if got, want := in(args...), `"program":"git-agent v`+version+`"`; strings.Count(got, want) != 1 {
				t.Errorf("%s: %q has no %s:\n%s", format, args, want, got)
			}
		}
	}
}
