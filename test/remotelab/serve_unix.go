//go:build unix

package remotelab

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// GitDaemon serves the repositories below dir, and accepts pushes.
func GitDaemon(t testing.TB, dir string) (url string) {
	return "git://" + gittest.Serve(t, func() *exec.Cmd { return gittest.Daemon(dir) })
}

// Backend serves the repositories beside a host, and itself, through git http-backend.
func Backend(t testing.TB, host *gittest.Repo) http.Handler {
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(host.Dir)
	return &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:    append(gittest.Env(dir), "GIT_PROJECT_ROOT="+dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=dev"),
		Stderr: io.Discard,
	}
}

// HTTP is a web server for that. users may log in with the password "not-a-secret"; if there
// are none, everybody may.
func HTTP(t testing.TB, host *gittest.Repo, users ...string) (url string) {
	backend := Backend(t, host)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		if len(users) > 0 && (!slices.Contains(users, name) || password != "not-a-secret") {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/" + filepath.Base(host.Dir)
}

// An SSHHost is an ssh server for one user, the current one.
type SSHHost struct {
	URL     string // ssh://host:port
	Command string // for core.sshCommand
	Key     string // file with the user's public key
}

// SSHD starts an ssh server that takes what Debian's takes from a client's environment: no GIT_PROTOCOL, so git speaks
// version 0 of its protocol with it. accepted are more variables. forced is a command that it runs whatever the client
// asks for, or "".
func SSHD(t testing.TB, forced string, accepted ...string) SSHHost {
	t.Helper()
	program := Tool(t, "sshd")
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd needs it, and only its package's service creates it
			t.Fatal(err)
		}
	}
	dir := gittest.TempDir(t)
	for _, name := range []string{"host", "client"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := read("client.pub")
	if forced != "" {
		key = fmt.Sprintf("command=%q,no-pty %s", forced, key)
	}
	keys := write("authorized_keys", key)
	config := write("sshd_config", fmt.Sprintf("HostKey %s/host\nAuthorizedKeysFile %s\nStrictModes no\nPidFile none\nPasswordAuthentication no\n"+
		"KbdInteractiveAuthentication no\nPermitRootLogin yes\nAcceptEnv LANG LC_* %s\nSetEnv PATH=%s\n", dir, keys, strings.Join(accepted, " "), os.Getenv("PATH")))
	address := gittest.Serve(t, func() *exec.Cmd { return exec.Command(program, "-i", "-e", "-f", config) })
	_, port, _ := net.SplitHostPort(address)
	write("known_hosts", "[127.0.0.1]:"+port+" "+read("host.pub"))
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	client := write("ssh_config", fmt.Sprintf("Host *\nUser %s\nIdentityFile %s/client\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s/known_hosts\n"+
		"GlobalKnownHostsFile none\nStrictHostKeyChecking yes\n", me.Username, dir, dir))
	return SSHHost{URL: "ssh://" + address, Command: "ssh -F " + client, Key: filepath.Join(dir, "client.pub")}
}

// Gitolite is a gitolite in a home directory of its own, with an ssh server for the user dev, who may do all to the
// repositories "testing" and "gitolite-admin". accepted is as for [SSHD]. run runs gitolite's own commands.
func Gitolite(t testing.TB, accepted ...string) (s SSHHost, home string, run func(args ...string) string) {
	t.Helper()
	program := Tool(t, "gitolite")
	home = gittest.TempDir(t)
	run = func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = home, append(gittest.Env(home), "USER=dev", "LOGNAME=dev")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("gitolite %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	s = SSHD(t, "env HOME="+home+" "+filepath.Join(run("query-rc", "GL_BINDIR"), "gitolite-shell")+" dev", accepted...)
	key, err := os.ReadFile(s.Key)
	gittest.Must(t, err)
	gittest.Must(t, os.WriteFile(filepath.Join(home, "dev.pub"), key, 0o600))
	run("setup", "-pk", "dev.pub")
	return s, home, run
}

// Tool looks up a program that a test needs, see [Lacks].
func Tool(t testing.TB, name string) string {
	t.Helper()
	for _, name := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Lacks(t, name)
	return ""
}

// Lacks ends a test that needs something which is not installed: it is skipped on a developer's machine, and fails in CI.
func Lacks(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed", what)
	}
	t.Skipf("%s is not installed", what)
}
