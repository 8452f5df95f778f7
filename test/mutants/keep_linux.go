package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// keep runs a command and everything that it starts, as the program's own process between this program and a test:
// it adopts orphans, and when the command has ended, nothing is left of them. The command is ended after the limit,
// and when standard input ends, as it does with this program. It returns the exit status.
func keep(limit time.Duration, args []string) int {
	const setChildSubreaper, most = 36, 4 << 30 // PR_SET_CHILD_SUBREAPER; for a loop without end that collects something
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
	if errno == 0 {
		errno, _ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most}).(syscall.Errno)
	}
	var null *os.File
	err := error(errno)
	if errno == 0 {
		null, err = os.Open(os.DevNull)
	}
	var pid int
	if err == nil {
		pid, err = syscall.ForkExec(args[0], args, &syscall.ProcAttr{
			Env: os.Environ(), Files: []uintptr{null.Fd(), 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 1
	}
	var hangs atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}()
	time.AfterFunc(limit, func() {
		fmt.Fprintln(os.Stderr, "mutants: it took more than", limit)
		hangs.Store(true)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	})
	status := 1
	for ended := false; ; {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil { // no child is left
			break
		}
		if got == pid {
			ended = true
			if ws.Exited() {
				status = ws.ExitStatus()
			}
		}
		if ended {
			for _, child := range children(os.Getpid()) {
				_ = syscall.Kill(child, syscall.SIGKILL) // its own children come to us
			}
		}
	}
	if hangs.Load() {
		return hung
	}
	return status
}

// children lists the children of a process, but for those that have ended and only wait to be waited for.
func children(parent int) []int {
	var found []int
	all, _ := os.ReadDir("/proc")
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
		words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(words) > 1 && words[0] != "Z" && words[1] == strconv.Itoa(parent) {
			found = append(found, pid)
		}
	}
	return found
}
