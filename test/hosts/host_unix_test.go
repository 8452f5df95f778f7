//go:build unix

package hosts_test

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// A place is a host that a test has started, with one repository.
type place struct {
	repo    *gittest.Repo // as git on the host sees it
	url     string
	config  []string // of git, for a clone: name=value
	version string
	line    *proxy // between it and its clones, or nil
}

// A host is a kind of host.
type host struct {
	name    string
	nightly bool
	open    func(t *testing.T) place
	// lacks has the steps that can't work there, each with what the step says.
	lacks map[string]string
	line  *line // between it and its clones, once they are there
	// more is what else is to be seen there, at the end of a life.
	more func(l *life) error
	// says has lines of doctor --remote, which tell of it before.
	says []string
}

// What doctor --remote says of most.
const (
	alone   = `archived     it gives an archived mission alone`
	whole   = `archived     it gives only what its refs point at: an archived mission comes after its whole archive, each time`
	told    = `(?s)rejected.*see what it takes: git agent-turn doctor --remote origin` // by the step itself
	refused = `refs         problem: it does not take refs/agent and refs/notes/agent: `
)

// none are the steps after a push that was refused.
var none = map[string]string{"push": told}

func hosts() []host {
	return []host{
		{name: "git", nightly: true, open: bare, says: []string{alone}},
		{name: "git, protocol 0", open: func(t *testing.T) place {
			p := bare(t)
			p.config = []string{"protocol.version=0"}
			return p
		}, says: []string{whole}},
		{name: "sshd as Debian has it", nightly: true, open: func(t *testing.T) place { return ssh(t) }, says: []string{whole}},
		{name: "sshd that accepts GIT_PROTOCOL", nightly: true, open: func(t *testing.T) place { return ssh(t, "GIT_PROTOCOL") }, says: []string{alone}},
		{name: "git daemon", nightly: true, open: daemon, says: []string{alone}},
		{name: "lighttpd and http-backend", open: lighttpd, says: []string{alone}},
		{name: "gitolite", nightly: true, open: func(t *testing.T) place { return gitolite(t, "RW+ = dev") }, says: []string{whole}},
		{name: "gitolite that replaces nothing", nightly: true, open: func(t *testing.T) place { return gitolite(t, "RW = dev") }, says: []string{
			`purges       problem: it does not replace refs: .*a rule of its host`, `deletions    problem: it does not delete refs`,
		}, lacks: map[string]string{"archive": told, "purge": told, "purged elsewhere": `b has it`, "prune": `rejected|it has something at origin that is not here`}},
		{name: "gitolite with branches alone", nightly: true, open: func(t *testing.T) place { return gitolite(t, "RW+ refs/heads/ = dev") }, says: []string{refused}, lacks: none},
		{name: "JGit of Debian", nightly: true, open: func(t *testing.T) place { return jgit(t, "/usr/share/java") }, says: []string{whole}},
		{name: "JGit of sid", nightly: true, open: func(t *testing.T) place { return jgit(t, newestJGit(t)) }, says: []string{whole}},
		{name: "heads and tags alone", open: func(t *testing.T) place {
			return ruled(t, "update", "case $1 in refs/heads/*|refs/tags/*) ;; *) echo 'heads and tags only' >&2; exit 1; esac\n")
		}, says: []string{refused + `.*heads and tags only`}, lacks: none},
		{name: "refuses unknown refs", nightly: true, open: func(t *testing.T) place {
			return ruled(t, "pre-receive", "while read -r _ _ ref; do case $ref in refs/heads/*|refs/tags/*|refs/notes/commits) ;; *) echo \"unknown ref $ref\" >&2; exit 1; esac; done\n")
		}, says: []string{refused + `.*unknown ref refs/agent/`}, lacks: none},
		{name: "hides refs", nightly: true, open: func(t *testing.T) place { return set(t, "transfer.hideRefs", "refs/agent") }, says: []string{refused}, lacks: none},
		{
			name: "hides refs from fetches", open: func(t *testing.T) place { return set(t, "uploadpack.hideRefs", "refs/agent") },
			says: []string{`refs         problem: it takes refs/agent and refs/notes/agent, but does not list them`}, lacks: map[string]string{"clone": `(?s)nothing new.*has missions that it does not list, so nobody can fetch them`},
		},
		{name: "strict", nightly: true, open: func(t *testing.T) place {
			return set(t, "receive.fsckObjects", "true", "receive.denyNonFastForwards", "true", "receive.denyDeletes", "true")
		}, says: []string{alone, `purges       it replaces refs`, `deletions    it deletes refs`}},
		{name: "size limit", nightly: true, open: func(t *testing.T) place { return set(t, "receive.maxInputSize", "100k") }, says: []string{alone}, more: tooLarge},
		{name: "ends connections", nightly: true, open: through, line: &line{cut: 1500, cuts: 3}, says: []string{alone}},
		{name: "slow", nightly: true, open: through, line: &slow, says: []string{alone}},
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// versionOf is the version in what a program prints.
func versionOf(t *testing.T, first *regexp.Regexp, args ...string) string {
	t.Helper()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	found := first.FindString(string(out))
	if found == "" {
		t.Fatalf("%q: no version in %q: %v", args, out, err)
	}
	return found
}

func gitVersion(t *testing.T) string {
	return versionOf(t, regexp.MustCompile(`git version [0-9.]+`), "git", "version")
}

// seeded is a bare repository with a commit on main.
func seeded(t *testing.T) *gittest.Repo {
	repo := gittest.New(t, "--bare")
	seed := gittest.New(t)
	seed.Write("file", "1\n")
	seed.Commit("first")
	seed.Git("push", "-q", repo.Dir, "main")
	return repo
}

// bare is git through upload-pack and receive-pack on this machine.
func bare(t *testing.T) place {
	repo := seeded(t)
	return place{repo: repo, url: "file://" + repo.Dir, version: gitVersion(t)}
}

func set(t *testing.T, values ...string) place {
	p := bare(t)
	for i := 0; i < len(values); i += 2 {
		p.repo.Git("config", values[i], values[i+1])
	}
	return p
}

func ruled(t *testing.T, hook, script string) place {
	p := bare(t)
	gittest.Must(t, os.WriteFile(filepath.Join(p.repo.Dir, "hooks", hook), []byte("#!/bin/sh\n"+script), 0o777))
	return p
}

func ssh(t *testing.T, accepted ...string) place {
	s := remotelab.SSHD(t, "", accepted...)
	repo := seeded(t)
	version := versionOf(t, regexp.MustCompile(`OpenSSH_[^ ,]+`), "ssh", "-V")
	return place{repo: repo, url: s.URL + repo.Dir, config: []string{"core.sshCommand=" + s.Command}, version: version + ", " + gitVersion(t)}
}

func daemon(t *testing.T) place {
	repo := seeded(t)
	return place{repo: repo, url: remotelab.GitDaemon(t, filepath.Dir(repo.Dir)) + "/" + filepath.Base(repo.Dir), version: gitVersion(t)}
}

// lighttpd listens on a socket in a directory of its own, so that no port is taken by somebody else.
func lighttpd(t *testing.T) place {
	program := remotelab.Tool(t, "lighttpd")
	repo, dir := seeded(t), gittest.TempDir(t)
	path, err := exec.Command("git", "--exec-path").Output()
	gittest.Must(t, err)
	socket := filepath.Join(dir, "s")
	config := fmt.Sprintf(`server.modules = ("mod_alias", "mod_cgi", "mod_setenv")
server.document-root = %[1]q
server.upload-dirs = (%[1]q)
server.bind = %[2]q
alias.url = ("/git" => %[3]q)
cgi.assign = ("" => "")
setenv.add-environment = ("GIT_PROJECT_ROOT" => %[4]q, "GIT_HTTP_EXPORT_ALL" => "1", "REMOTE_USER" => "dev", "PATH" => %[5]q)
`, dir, socket, filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), filepath.Dir(repo.Dir), os.Getenv("PATH"))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, "conf"), []byte(config), 0o600))
	cmd := exec.Command(program, "-D", "-f", filepath.Join(dir, "conf"))
	cmd.Env = gittest.Env(dir)
	cmd.Stderr = t.Output()
	gittest.Must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			break
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("lighttpd: %v", err)
		default:
		}
	}
	version := versionOf(t, regexp.MustCompile(`lighttpd/[0-9.]+`), program, "-v")
	return place{repo: repo, url: "http://" + proxyTo(t, "unix", socket).address + "/git/" + filepath.Base(repo.Dir), version: version + ", " + gitVersion(t)}
}

// gitolite has the repository "testing" with a rule for dev.
func gitolite(t *testing.T, rule string, accepted ...string) place {
	s, home, run := remotelab.Gitolite(t, accepted...)
	conf := filepath.Join(home, ".gitolite", "conf", "gitolite.conf")
	gittest.Must(t, os.WriteFile(conf, []byte("repo testing\n  "+rule+"\n"), 0o600))
	run("compile")
	repo := gittest.New(t).In(filepath.Join(home, "repositories", "testing.git"))
	repo.Git("fetch", "-q", seeded(t).Dir, "main:main")
	repo.Git("symbolic-ref", "HEAD", "refs/heads/main")
	version, err := os.ReadFile(filepath.Join(run("query-rc", "GL_BINDIR"), "VERSION"))
	gittest.Must(t, err)
	return place{repo: repo, url: s.URL + "/testing", config: []string{"core.sshCommand=" + s.Command}, version: "gitolite " + strings.TrimSpace(string(version)) + ", " + gitVersion(t)}
}

// jgit is a server of JGit's, from the jars in a directory and those of Debian.
func jgit(t *testing.T, jars string) place {
	java := remotelab.Tool(t, "java")
	var path []string
	for _, dir := range []string{jars, "/usr/share/java"} {
		for _, name := range []string{"org.eclipse.jgit", "javaewah", "JavaEWAH", "slf4j-api", "slf4j-nop"} {
			if file := filepath.Join(dir, name+".jar"); exists(file) {
				path = append(path, file)
			}
		}
	}
	if len(path) == 0 || filepath.Base(path[0]) != "org.eclipse.jgit.jar" {
		remotelab.Lacks(t, filepath.Join(jars, "org.eclipse.jgit.jar"))
	}
	repo := seeded(t)
	cmd := exec.Command(java, "-cp", strings.Join(path, ":"), "testdata/Host.java", filepath.Dir(repo.Dir))
	cmd.Env, cmd.Stderr = gittest.Env(gittest.TempDir(t)), t.Output()
	stdin, err := cmd.StdinPipe()
	gittest.Must(t, err)
	stdout, err := cmd.StdoutPipe()
	gittest.Must(t, err)
	gittest.Must(t, cmd.Start())
	t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	port, err := bufio.NewReader(stdout).ReadString('\n')
	gittest.Must(t, err)
	version := jars
	if named, _ := filepath.Glob(filepath.Join(jars, "org.eclipse.jgit-[0-9]*.jar")); len(named) == 1 {
		version = strings.TrimSuffix(filepath.Base(named[0]), ".jar")
	}
	return place{repo: repo, url: "git://127.0.0.1:" + strings.TrimSpace(port) + "/" + filepath.Base(repo.Dir), version: version}
}

// newestJGit is the directory of what .ci/jgit-newest has fetched.
func newestJGit(t *testing.T) string {
	cache, err := os.UserCacheDir()
	gittest.Must(t, err)
	dir := filepath.Join(cache, "jgit-newest")
	if !exists(filepath.Join(dir, "org.eclipse.jgit.jar")) {
		remotelab.Lacks(t, "what .ci/jgit-newest fetches")
	}
	return dir
}

// tooLarge pushes more than the host takes, which says so, and again when it takes more.
func tooLarge(l *life) error {
	l.a.Git("config", "--unset", remote(l.at.url)) // so that nothing is pushed by itself
	data := make([]byte, 200<<10)
	_, _ = rand.Read(data)
	gittest.Must(l.t, os.WriteFile(filepath.Join(l.a.Dir, "large"), data, 0o666))
	l.record(l.a, "c1b2c3d4", "large", "answer")
	l.a.Git("config", remote(l.at.url), "all")
	if out, err := l.a.run("push"); err == nil || !strings.Contains(out, "pack exceeds maximum allowed size") {
		return fmt.Errorf("push: %w %s", err, out)
	}
	l.at.repo.Git("config", "receive.maxInputSize", "1m")
	out, err := l.a.run("push")
	if err != nil {
		return fmt.Errorf("push: %w %s", err, out)
	}
	return nil
}

// through is a place behind a proxy, reached by git daemon.
func through(t *testing.T) place {
	repo := seeded(t)
	p := proxyTo(t, "tcp", strings.TrimPrefix(remotelab.GitDaemon(t, filepath.Dir(repo.Dir)), "git://"))
	return place{repo: repo, url: "git://" + p.address + "/" + filepath.Base(repo.Dir), version: gitVersion(t), line: p}
}
