//go:build unix

package pusher_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// An lfsServer is git-lfs's own test server, in a process of its own.
type lfsServer struct {
	content string       // the directory of its objects
	asked   atomic.Int32 // requests for a batch
	proxy   *httputil.ReverseProxy
}

// buildLFS builds the server, whose version test/lfsserver/go.mod has.
func buildLFS(t *testing.T) (program string) {
	t.Helper()
	remotelab.Tool(t, "git-lfs")
	program = filepath.Join(gittest.TempDir(t), "lfs-test-server")
	build := exec.Command("go", "build", "-modfile=test/lfsserver/go.mod", "-o", program, "github.com/git-lfs/lfs-test-server")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("build the LFS server: %v\n%s", err, out)
		}
		t.Skipf("the LFS server can't be built: %v\n%s", err, out)
	}
	return program
}

func startLFS(t *testing.T, program string) *lfsServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	gittest.Must(t, err)
	file, err := l.(*net.TCPListener).File()
	gittest.Must(t, err)
	address := l.Addr().String()
	dir := gittest.TempDir(t)
	server := exec.Command(program)
	server.Dir, server.ExtraFiles = dir, []*os.File{file}
	server.Env = append(gittest.Env(dir), "LFS_LISTEN=fd://3", "LFS_HOST="+address, "LFS_PUBLIC=TRUE", "LFS_ADMINUSER=", "LFS_ADMINPASS=")
	gittest.Must(t, server.Start())
	gittest.Must(t, errors.Join(file.Close(), l.Close()))
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	target := &url.URL{Scheme: "http", Host: address}
	return &lfsServer{content: filepath.Join(dir, "lfs-content"), proxy: httputil.NewSingleHostReverseProxy(target)}
}

// has reports whether the server has an object.
func (s *lfsServer) has(oid string) bool {
	_, err := os.Stat(filepath.Join(s.content, oid[:2], oid[2:4], oid[4:]))
	return err == nil
}

// ServeHTTP answers <anything>/info/lfs/....
func (s *lfsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	_, r.URL.Path, _ = strings.Cut(r.URL.Path, "/info/lfs")
	s.proxy.ServeHTTP(w, r)
}

// lfsHost serves a repository with git and LFS, as hosts do: it refuses pointers whose objects it lacks.
func lfsHost(t *testing.T, host *gittest.Repo, lfs *lfsServer) (url string) {
	t.Helper()
	hook := filepath.Join(host.Dir, "hooks", "pre-receive")
	gittest.Must(t, os.WriteFile(hook, []byte(`#!/bin/sh
while read -r old new ref; do
	git rev-list --objects "$new" --not --all | cut -c 1-40 | git cat-file --batch-check='%(objecttype) %(objectsize) %(objectname)' |
	while read -r type size blob; do
		[ "$type" = blob ] && [ "$size" -lt 200 ] || continue
		oid=$(git cat-file blob "$blob" | sed -n 's/^oid sha256://p')
		[ -z "$oid" ] || [ -e "`+lfs.content+`/$(echo "$oid" | sed 's,^\(..\)\(..\),\1/\2/,')" ] || echo "$oid"
	done | sed 's/^/missing LFS object /' >>missing.$$
done
[ ! -s missing.$$ ] || { cat missing.$$; rm missing.$$; exit 1; }
rm -f missing.$$
`), 0o755))
	backend := remotelab.Backend(t, host)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/info/lfs/") {
			lfs.ServeHTTP(w, r)
		} else {
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/" + filepath.Base(host.Dir)
}

// lfsClone is a clone with git-lfs, in which turns change a.bin.
func lfsClone(t *testing.T, url string) *remotelab.Clone {
	t.Helper()
	c := remotelab.CloneOf(t, url)
	c.Git("lfs", "install", "--local")
	c.Write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	c.Commit("files of LFS")
	return c
}

// large plays a turn that changes a.bin, and returns the name of its object.
func large(c *remotelab.Clone, id record.ID, content string) (oid string) {
	c.T.Helper()
	c.Write("a.bin", content+"\n")
	t := c.Turn(id, content)
	for line := range strings.Lines(c.Git("show", t.Code.String()+":a.bin")) {
		if text, ok := strings.CutPrefix(line, "oid sha256:"); ok {
			oid = strings.TrimSpace(text)
		}
	}
	if oid == "" {
		c.T.Fatal("a.bin is no file of LFS")
	}
	return oid
}

func (s *lfsServer) want(t *testing.T, oids ...string) {
	t.Helper()
	for _, oid := range oids {
		if !s.has(oid) {
			t.Errorf("the server lacks %s", oid)
		}
	}
}

// kept is where an object is kept here.
func kept(c *remotelab.Clone, oid string) string {
	return filepath.Join(c.Dir, ".git", "lfs", "objects", oid[:2], oid[2:4], oid)
}

// TestLFS: objects of LFS go before the pointers that name them, and nowhere but where they may.
func TestLFS(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	program := buildLFS(t)

	t.Run("objects go first", func(t *testing.T) {
		t.Parallel()
		lfs := startLFS(t, program)
		c := lfsClone(t, lfsHost(t, remotelab.NewHost(t), lfs))
		one := large(c, remotelab.Mission, "one")
		two := large(c, remotelab.Mission, "two")
		c.Push(remotelab.Mission)
		lfs.want(t, one, two)
		// What was sent is not asked about again.
		asked := lfs.asked.Load()
		c.Push(remotelab.Mission)
		if again := lfs.asked.Load() - asked; again != 0 {
			t.Errorf("the server was asked %d times about nothing new", again)
		}
		three := large(c, remotelab.Mission, "three")
		c.PushAll()
		lfs.want(t, three)
	})

	t.Run("one that is gone", func(t *testing.T) {
		t.Parallel()
		lfs := startLFS(t, program)
		c := lfsClone(t, lfsHost(t, remotelab.NewHost(t), lfs))
		one := large(c, remotelab.Mission, "one")
		two := large(c, remotelab.Mission, "two")
		gittest.Must(t, os.Rename(kept(c, one), kept(c, one)+".away"))
		_, err := pusher.Push(t.Context(), c.Origin(), remotelab.Mission)
		want := fmt.Sprintf("objects of LFS are not here, and it may lack them: \"a.bin\" (%.12s)", one)
		if !errors.Is(err, pusher.ErrRejected) || !strings.Contains(err.Error(), want) {
			t.Errorf("Push error = %v, want a rejection and %q", err, want)
		}
		lfs.want(t, two)
		lacks, err := pusher.Outside(t.Context(), c.Origin())
		gittest.Must(t, err)
		if lacks != (pusher.Lacks{Objects: want}) {
			t.Errorf("Outside = %+v, want %q", lacks, want)
		}
		gittest.Must(t, os.Rename(kept(c, one)+".away", kept(c, one)))
		c.Push(remotelab.Mission)
		lfs.want(t, one, two)
	})

	t.Run("another server", func(t *testing.T) {
		t.Parallel()
		lfs, other := startLFS(t, program), startLFS(t, program)
		elsewhere := httptest.NewServer(other)
		t.Cleanup(elsewhere.Close)
		there := elsewhere.URL + "/x/info/lfs"
		c := lfsClone(t, lfsHost(t, remotelab.NewHost(t), lfs))
		var warned string
		push := func() error {
			r := c.Origin()
			r.Warn = func(text string) { warned = text }
			_, err := pusher.Push(t.Context(), r, remotelab.Mission)
			return err
		}
		nowhere := func() {
			t.Helper()
			if n := other.asked.Load(); n != 0 {
				t.Errorf("the other server was asked %d times", n)
			}
		}
		// A file of the tree does not decide: they go to the host, and that is said.
		c.Write(".lfsconfig", "[lfs]\n\turl = "+there+"\n")
		one := large(c, remotelab.Mission, "one")
		gittest.Must(t, push())
		lfs.want(t, one)
		nowhere()
		if !strings.Contains(warned, "in .lfsconfig lfs.url names "+there) {
			t.Errorf("warned %q", warned)
		}
		// Nor does the configuration, without consent: and they are not sent to a place that is not meant.
		gittest.Must(t, os.Remove(filepath.Join(c.Dir, ".lfsconfig")))
		c.Git("config", "lfs.url", there)
		two := large(c, remotelab.Mission, "two")
		if err := push(); !errors.Is(err, pusher.ErrRejected) || !strings.Contains(err.Error(), "lfs.url names "+there) {
			t.Errorf("Push error = %v, want a rejection that names lfs.url", err)
		}
		if lfs.has(two) {
			t.Error("it went to the host")
		}
		nowhere()
		// Agreed to by its own URL, it gets what the host then still lacks.
		c.Agree(there, "all")
		_ = push()
		other.want(t, two)
		// An insteadOf does not lead on from what was agreed to.
		c.Git("config", "--unset", "lfs.url")
		c.Git("config", "url."+elsewhere.URL+"/.insteadOf", strings.TrimSuffix(c.Origin().URLs[0], "repo"))
		asked := other.asked.Load()
		large(c, remotelab.Mission, "three")
		_ = push()
		if other.asked.Load() != asked {
			t.Error("an insteadOf led to the other server")
		}
	})

	t.Run("git lfs prune", func(t *testing.T) {
		t.Parallel()
		lfs := startLFS(t, program)
		c := lfsClone(t, lfsHost(t, remotelab.NewHost(t), lfs))
		one := large(c, remotelab.Mission, "one")
		large(c, remotelab.Mission, "two")
		c.Git("config", "lfs.pruneVerifyRemoteAlways", "true") // as doctor says
		if out, err := c.Try("lfs", "prune"); err == nil {
			t.Errorf("it prunes what is nowhere else:\n%s", out)
		}
		c.Push(remotelab.Mission)
		c.Git("lfs", "prune")
		if _, err := os.Stat(kept(c, one)); err == nil {
			t.Error("what the server has is not pruned")
		}
		c.Git("lfs", "fetch", "origin", c.Git("rev-parse", "refs/agent/missions/a1b2c3d4^2"))
	})

	t.Run("archived", func(t *testing.T) {
		t.Parallel()
		lfs := startLFS(t, program)
		c := lfsClone(t, lfsHost(t, remotelab.NewHost(t), lfs))
		one := large(c, remotelab.Mission, "one")
		archiveAll(c, remotelab.Mission)
		_, err := pusher.PushArchive(t.Context(), c.Origin())
		gittest.Must(t, err)
		lfs.want(t, one)
	})

	t.Run("no LFS at the host", func(t *testing.T) {
		t.Parallel()
		c := lfsClone(t, remotelab.HTTP(t, remotelab.NewHost(t)))
		large(c, remotelab.Mission, "one")
		r := c.Origin()
		warned := ""
		r.Warn = func(text string) { warned = text }
		_, err := pusher.Push(t.Context(), r, remotelab.Mission)
		gittest.Must(t, err)
		if !strings.HasPrefix(warned, "it may lack objects of LFS: send objects of LFS to "+remote.Plain(r.URLs[0])) {
			t.Errorf("warned %q", warned)
		}
	})
}
