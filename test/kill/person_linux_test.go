package kill

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gitagent/test/gittest"
)

// persons are the scenarios in which a person answers.
func persons(files int) []scenario {
	return []scenario{
		{name: "reviewed", files: files, signed: true, victim: reviewing},
		{name: "reviewed, attached", files: files, attached: true, signed: true, victim: reviewing},
		{name: "fetch, kept by a person", files: files, remote: true, signed: true, victim: keeping},
		{name: "fetch, let go by a person", files: files, remote: true, signed: true, victim: agreeing},
	}
}

// reviewing is a person who has looked at all turns. Another mark of a turn before stays until then.
func reviewing(l *lab) command {
	l.turn()
	mission := l.mission()
	c := command{args: []string{"git-agent-turn", "reviewed", "--mission", mission}, typed: "\n"}
	c.then = func(l *lab, done result) {
		left := command{args: []string{"git-agent-turn", "list", "--unreviewed", "--json", "--mission", mission}}
		if out := l.must(left).stdout; !done.killed && strings.Count(out, "\n") > 1 { // the next event ended a turn, perhaps
			l.find("reviewed marks nothing", "left is %q", out)
		}
		l.must(c)
		if out := l.must(left).stdout; out != "" {
			l.find("reviewed does not mark", "left is %q", out)
		}
	}
	return c
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
