//go:build unix

package gittest

import (
	"net"
	"os/exec"
	"sync"
	"testing"
)

// Serve accepts connections on a port of this machine and lets a process of its own answer each, as
// inetd did: no port is ever taken by somebody else, and nothing outlives the test. A nil command
// hangs up.
func Serve(t testing.TB, command func() *exec.Cmd) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			file, err := conn.(*net.TCPConn).File()
			conn.Close()
			if err != nil {
				t.Error(err)
				return
			}
			all.Go(func() {
				defer file.Close()
				if cmd := command(); cmd != nil {
					cmd.Stdin, cmd.Stdout = file, file
					_ = cmd.Run() // it fails when a client goes away
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

// Daemon is a git daemon for one connection of [Serve]. It serves the repositories below dir, for
// pushes, too: git://<address>/<name>.
func Daemon(dir string) *exec.Cmd {
	cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+dir, dir)
	cmd.Env = Env(dir)
	return cmd
}
