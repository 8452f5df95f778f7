package kill

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gitagent/test/gittest"
)

// persons are the scenarios in which a person answers.
func persons(files int) []scenario {
	return []scenario{
		{name: "fetch, kept by a person", files: files, remote: true, signed: true, victim: keeping},
		{name: "fetch, let go by a person", files: files, remote: true, signed: true, victim: agreeing},
	}
}

// terminal is one on which something has been typed. What is said there is not shown.
func terminal(t *testing.T, typed string) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = master.Close() })
	gittest.Must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	gittest.Must(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	gittest.Must(t, err)
	go func() { _, _ = io.Copy(io.Discard, master) }()
	_, err = master.WriteString(typed)
	gittest.Must(t, err)
	return slave
}
