package fault

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"gitagent/test/gittest"
)

// A fault is what happens to the writes of a process and its children.
type fault struct {
	at    int           // the number of the write that fails, from 1
	after bool          // all that come after it fail, too
	errno syscall.Errno // what they return
	in    string        // only writes in this directory count; "" for all
}

// A trace is what was seen of the writes of a process and its children.
type trace struct {
	Writes int
	Failed []string // those that failed, as system calls with their files
}

// Numbers and constants of ptrace that package syscall lacks.
const (
	getSyscallInfo = 0x420e
	traceSysGood   = 1
	exitKill       = 1 << 20
	waitAll        = 0x40000000 // __WALL
)

// tracer is the variable of the environment that makes a tracer of this program, see [fault.run].
const tracer = "GIT_AGENT_TEST_TRACER"

// order is what a tracer is told.
type order struct {
	At, Errno int
	After     bool
	In        string
	Report    string // the file for the trace, as JSON
}

// run runs cmd to its end, and that of all its children, with the fault. It is traced by a process
// of its own: a tracer waits for whichever child of its thread stops next, and a thread of a Go
// program has children of whoever ran there before.
func (f fault) run(t *testing.T, cmd *exec.Cmd) (trace, error) {
	t.Helper()
	var seen trace
	o := order{At: f.at, Errno: int(f.errno), After: f.after, In: f.in, Report: filepath.Join(gittest.TempDir(t), "report")}
	told, err := json.Marshal(o)
	if err != nil {
		return seen, err
	}
	own, err := os.Executable()
	if err != nil {
		return seen, err
	}
	cmd.Path, cmd.Args = own, append([]string{own, cmd.Path}, cmd.Args[1:]...)
	cmd.Env = append(cmd.Environ(), tracer+"="+string(told))
	err = cmd.Run()
	report, readErr := os.ReadFile(o.Report)
	if readErr != nil {
		return seen, errors.Join(err, readErr)
	}
	return seen, errors.Join(err, json.Unmarshal(report, &seen))
}

// traced is the tracer: it runs the program that the arguments name with the fault that it was told
// of, reports, and exits as that program does.
func traced(told string) {
	runtime.LockOSThread() // a thread traces
	var o order
	err := json.Unmarshal([]byte(told), &o)
	if err == nil {
		var seen trace
		var code int
		seen, code, err = fault{at: o.At, after: o.After, errno: syscall.Errno(o.Errno), in: o.In}.trace(os.Args[1], os.Args[2:])
		report, _ := json.Marshal(seen) // it has numbers and strings
		if err = errors.Join(err, os.WriteFile(o.Report, report, 0o600)); err == nil {
			os.Exit(code)
		}
	}
	fmt.Fprintln(os.Stderr, "tracing:", err)
	os.Exit(2)
}

// trace runs a program to its end, and that of all its children, and returns its exit status.
// No other child may exist.
func (f fault) trace(program string, args []string) (seen trace, code int, err error) {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, tracer+"=") })
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return seen, 0, err
	}
	main := cmd.Process.Pid
	status := syscall.WaitStatus(0)
	if _, err := syscall.Wait4(main, &status, waitAll, nil); err != nil {
		return seen, 0, err
	}
	const options = traceSysGood | exitKill | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACEEXEC
	if err := syscall.PtraceSetOptions(main, options); err != nil {
		return seen, 0, err
	}
	failing := make(map[int]bool) // tasks in a system call that was taken from them
	known := map[int]bool{main: true}
	if err := syscall.PtraceSyscall(main, 0); err != nil {
		return seen, 0, err
	}
	for {
		pid, err := syscall.Wait4(-1, &status, waitAll, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.ECHILD) {
			return seen, code, nil
		}
		if err != nil {
			return seen, 0, err
		}
		signal := 0
		switch {
		case status.Exited() || status.Signaled():
			if pid == main {
				code = status.ExitStatus() // -1 for a signal
			}
			continue
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			f.syscall(pid, failing, &seen)
		case status.StopSignal() == syscall.SIGTRAP: // an event
		case status.StopSignal() == syscall.SIGSTOP && !known[pid]: // it begins
		default:
			signal = int(status.StopSignal())
		}
		known[pid] = true
		_ = syscall.PtraceSyscall(pid, signal) // it may have been killed
	}
}

// syscall looks at a task that enters or leaves a system call.
func (f fault) syscall(pid int, failing map[int]bool, seen *trace) {
	var info [88]byte
	_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(pid), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
	if e != 0 {
		return // it was killed
	}
	var regs syscall.PtraceRegs
	switch info[0] {
	case 1: // enters
		var args [6]uint64
		number := binary.LittleEndian.Uint64(info[24:])
		for i := range args {
			args[i] = binary.LittleEndian.Uint64(info[32+8*i:])
		}
		what, path := writing(pid, number, args)
		if what == "" || !strings.HasPrefix(path, f.in) {
			return
		}
		seen.Writes++
		if seen.Writes < f.at || seen.Writes > f.at && !f.after || f.at == 0 {
			return
		}
		if syscall.PtraceGetRegs(pid, &regs) == nil {
			regs.Orig_rax = ^uint64(0) // no system call
			if syscall.PtraceSetRegs(pid, &regs) == nil {
				failing[pid] = true
				seen.Failed = append(seen.Failed, what+" "+path)
			}
		}
	case 2: // leaves
		if !failing[pid] {
			return
		}
		delete(failing, pid)
		if syscall.PtraceGetRegs(pid, &regs) == nil {
			regs.Rax = -uint64(f.errno)
			_ = syscall.PtraceSetRegs(pid, &regs)
		}
	}
}

// named are the system calls that write and have the path of what they write among their arguments,
// behind the directory that it is relative to.
var named = map[uint64]struct {
	what      string
	dir, path int // dir is -1 for the task's own
}{
	syscall.SYS_OPEN:      {"create", -1, 0},
	syscall.SYS_OPENAT:    {"create", 0, 1},
	syscall.SYS_CREAT:     {"create", -1, 0},
	syscall.SYS_MKDIR:     {"mkdir", -1, 0},
	syscall.SYS_MKDIRAT:   {"mkdir", 0, 1},
	syscall.SYS_LINK:      {"link", -1, 1},
	syscall.SYS_LINKAT:    {"link", 2, 3},
	syscall.SYS_SYMLINK:   {"symlink", -1, 1},
	syscall.SYS_SYMLINKAT: {"symlink", 1, 2},
	syscall.SYS_RENAME:    {"rename", -1, 1},
	syscall.SYS_RENAMEAT:  {"rename", 2, 3},
	316:                   {"rename", 2, 3}, // renameat2
}

// opened are those that write to a file that is open.
var opened = map[uint64]string{
	syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "pwrite", syscall.SYS_WRITEV: "writev",
	syscall.SYS_FTRUNCATE: "ftruncate", syscall.SYS_FSYNC: "fsync", syscall.SYS_FDATASYNC: "fdatasync",
}

// writing names a system call that writes to the disk, and what it writes; "" for any other.
func writing(pid int, number uint64, args [6]uint64) (what, path string) {
	if what, ok := opened[number]; ok {
		path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, int32(args[0])))
		if err != nil || !strings.HasPrefix(path, "/") || path == os.DevNull {
			return "", "" // a pipe
		}
		return what, path
	}
	call, ok := named[number]
	if !ok || number == syscall.SYS_OPEN && args[1]&syscall.O_CREAT == 0 || number == syscall.SYS_OPENAT && args[2]&syscall.O_CREAT == 0 {
		return "", ""
	}
	path = text(pid, args[call.path])
	if !filepath.IsAbs(path) {
		dir := fmt.Sprintf("/proc/%d/cwd", pid)
		if call.dir >= 0 && int32(args[call.dir]) >= 0 {
			dir = fmt.Sprintf("/proc/%d/fd/%d", pid, int32(args[call.dir]))
		}
		dir, err := os.Readlink(dir)
		if err != nil {
			return "", ""
		}
		path = filepath.Join(dir, path)
	}
	if path == os.DevNull || path == "/dev/tty" {
		return "", ""
	}
	return call.what, path
}

// text reads a string of a task.
func text(pid int, at uint64) string {
	buf := make([]byte, 4096)
	n, _ := syscall.PtracePeekData(pid, uintptr(at), buf) // it may end at the end of a page
	before, _, _ := strings.Cut(string(buf[:n]), "\x00")
	return before
}
