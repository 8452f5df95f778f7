package powers

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gitagent/test/gittest"
)

// onTerminal runs a command on a terminal of its own, on which a person types something, and returns what is seen.
func onTerminal(t *testing.T, cmd *exec.Cmd, typed string) string {
	t.Helper()
	master := begin(t, cmd)
	defer master.Close()
	_, err := master.WriteString(typed)
	gittest.Must(t, err)
	var said bytes.Buffer
	seen := make(chan struct{})
	go func() {
		_, _ = io.Copy(&said, master) // it ends with an error once nobody has the terminal
		close(seen)
	}()
	_ = cmd.Wait() // it may fail for another reason
	<-seen
	return said.String()
}

var (
	question = regexp.MustCompile(`\[[a-z]+(/[a-z]+)+\] $`)
	hidden   = regexp.MustCompile(`which is not shown: $`)
)

// atQuestions is onTerminal for a person who types a secret where one is asked for, and an answer at each question. asked
// says whether there was any.
func atQuestions(t *testing.T, cmd *exec.Cmd, secret, answer string) (said string, asked bool) {
	t.Helper()
	master := begin(t, cmd)
	defer master.Close()
	var seen []byte
	for chunk := make([]byte, 1<<10); ; {
		n, err := master.Read(chunk)
		if seen = append(seen, chunk[:n]...); err != nil { // nobody has the terminal
			break
		}
		typed := ""
		switch {
		case question.Match(seen):
			typed, asked = answer, true
		case hidden.Match(seen):
			typed = secret
		}
		_, err = master.WriteString(typed)
		gittest.Must(t, err)
	}
	_ = cmd.Wait() // it may fail for another reason
	return string(seen), asked
}

// begin starts a command on a terminal of its own, and returns the other end of that.
func begin(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	gittest.Must(t, err)
	fd := int(master.Fd())
	gittest.Must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	gittest.Must(t, err)
	gittest.Must(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	gittest.Must(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	gittest.Must(t, cmd.Start())
	_ = slave.Close()
	return master
}
