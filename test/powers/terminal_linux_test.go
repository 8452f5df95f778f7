package powers

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gitagent/test/gittest"
)

// onTerminal runs a command on a terminal of its own, on which a person types something, and returns what is seen.
func onTerminal(t *testing.T, cmd *exec.Cmd, typed string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	gittest.Must(t, err)
	defer master.Close()
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
	_, err = master.WriteString(typed)
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
