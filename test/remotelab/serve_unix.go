//go:build unix

package pusher_test

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

// gitDaemon serves the repositories below dir, and accepts pushes.
func gitDaemon(t *testing.T, dir string) (url string) {
	return "git://" + gittest.Serve(t, func() *exec.Cmd { return gittest.Daemon(dir) })
}

// backendOf serves the repositories beside a host, and itself, through git http-backend.
func backendOf(t *testing.T, host *gittest.Repo) http.Handler {
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

// httpBackend is a web server for that. users may log in with the password "not-a-secret"; if there
// are none, everybody may.
func httpBackend(t *testing.T, host *gittest.Repo, users ...string) (url string) {
	backend := backendOf(t, host)
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

// An sshHost is an ssh server for one user, the current one.
type sshHost struct {
	url     string // ssh://host:port
	command string // for core.sshCommand
	key     string // file with the user's public key
}

// sshd starts an ssh server. forced is a command that it runs whatever the client asks for, or "".
func sshd(t *testing.T, forced string) sshHost {
	t.Helper()
	program := tool(t, "sshd")
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
		"KbdInteractiveAuthentication no\nPermitRootLogin yes\nAcceptEnv GIT_PROTOCOL\nSetEnv PATH=%s\n", dir, keys, os.Getenv("PATH")))
	address := gittest.Serve(t, func() *exec.Cmd { return exec.Command(program, "-i", "-e", "-f", config) })
	_, port, _ := net.SplitHostPort(address)
	write("known_hosts", "[127.0.0.1]:"+port+" "+read("host.pub"))
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	client := write("ssh_config", fmt.Sprintf("Host *\nUser %s\nIdentityFile %s/client\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s/known_hosts\n"+
		"GlobalKnownHostsFile none\nStrictHostKeyChecking yes\n", me.Username, dir, dir))
	return sshHost{url: "ssh://" + address, command: "ssh -F " + client, key: filepath.Join(dir, "client.pub")}
}

// tool looks up a program that a test needs. Without it the test is skipped on a developer's
// machine, and fails in CI.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, name := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}
