package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A Terminal is a real one of 80 by 24 with a program in it.
type Terminal struct {
	Ended chan struct{} // closed when the program has ended, and all was read

	t      testing.TB
	master *os.File
	mu     sync.Mutex
	more   *sync.Cond
	said   []byte
	over   bool
}

const endedWith = "the program ended with "

// OnTerminal starts a program in a terminal of its own, as a shell's child: when the leader of a terminal's session ends, Linux
// drops what was just written to it, and on a busy machine that is the program's last words. So the shell says how the program
// ended, and stays until that was read.
func OnTerminal(t testing.TB, cmd *exec.Cmd) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	Must(t, err)
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	Must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	Must(t, err)
	Must(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	Must(t, err)
	defer slave.Close()
	leave, stay, err := os.Pipe()
	Must(t, err)
	defer leave.Close()
	t.Cleanup(func() { _ = stay.Close() })
	cmd.Args = append([]string{"sh", "-c", `trap : INT; "$@" 3<&-; echo "` + endedWith + `$?"; read -r _ <&3`, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.ExtraFiles = []*os.File{leave}
	cmd.Path = "/bin/sh"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s := &Terminal{t: t, master: master, Ended: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	go s.read()
	return s
}

func (s *Terminal) read() {
	for buf := make([]byte, 4096); !s.over; {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.said = append(s.said, buf[:n]...)
		_, status, ended := bytes.Cut(s.said, []byte(endedWith))
		s.over = err != nil || ended && bytes.ContainsRune(status, '\n')
		s.more.Broadcast()
		s.mu.Unlock()
	}
	close(s.Ended)
}

// Until waits until ok is true of all that the program has said so far, and returns that, or until the program has ended: then
// more is false.
func (s *Terminal) Until(ok func(said []byte) bool) (said string, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.over && !ok(s.said) {
		s.more.Wait()
	}
	return string(s.said), !s.over
}

// Await waits until the program has said something, and returns all that it has said.
func (s *Terminal) Await(text string) string {
	s.t.Helper()
	said, _ := s.Until(func(said []byte) bool { return bytes.Contains(said, []byte(text)) })
	if !strings.Contains(said, text) {
		s.t.Fatalf("it ended without %q:\n%s", text, said)
	}
	return said
}

// End waits for the end, and returns the exit status and all that was said.
func (s *Terminal) End() (status int, said string) {
	s.t.Helper()
	<-s.Ended
	said, rest, _ := strings.Cut(string(s.said), endedWith)
	rest, _, _ = strings.Cut(rest, "\r") // what was typed may be echoed behind it
	status, err := strconv.Atoi(rest)
	Must(s.t, err)
	return status, said
}

// Types types something.
func (s *Terminal) Types(text string) {
	s.t.Helper()
	_, err := s.master.WriteString(text)
	Must(s.t, err)
}

// Echoes reports whether the terminal shows what is typed.
func (s *Terminal) Echoes() bool {
	s.t.Helper()
	state, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	Must(s.t, err)
	return state.Lflag&unix.ECHO != 0
}
