package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// adoptOrphans makes what a hook leaves running in the background a child of this process, so that
// it can be waited for.
func adoptOrphans() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		check(errno)
	}
}

// settle waits until nothing runs in the background any more and returns the time that it took of
// the CPUs.
func settle() (total time.Duration) {
	for {
		var usage syscall.Rusage
		switch _, err := syscall.Wait4(-1, nil, 0, &usage); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ECHILD):
			return total
		default:
			check(err)
			total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
}

// onDisk is what a file takes of the disk, in bytes.
func onDisk(info fs.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }

// watchMemory looks at the memory of a process and of its children until the function that it returns
// is called, which tells the most that they had. Of the children it is what nothing else shares: git
// maps its packs. A child that has yet to become another program still has all that is the process's
// own, and does not count.
func watchMemory(pid int) func() (own, children int64) {
	end, ended := make(chan struct{}), make(chan struct{})
	var own, children int64
	field := func(pid int, name string) int64 {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, _ := strings.Cut(string(status), "\n"+name+":")
		var kb int64
		_, _ = fmt.Sscan(rest, &kb)
		return kb << 10
	}
	command := func(pid int) string {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return string(text)
	}
	go func() {
		defer close(ended)
		for {
			own = max(own, field(pid, "VmHWM"))
			var all int64
			tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
			for _, t := range tasks {
				list, _ := os.ReadFile(t)
				for child := range strings.FieldsSeq(string(list)) {
					if n, _ := strconv.Atoi(child); command(n) != command(pid) {
						all += field(n, "RssAnon")
					}
				}
			}
			children = max(children, all)
			select {
			case <-end:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() (int64, int64) {
		close(end)
		<-ended
		return own, children
	}
}

// flush writes what the system still keeps back.
func flush() { syscall.Sync() }

// free is what the file system that a directory lies on has left, in bytes.
func free(dir string) int64 {
	flush()
	var s syscall.Statfs_t
	check(syscall.Statfs(dir, &s))
	return int64(s.Bfree) * s.Bsize
}
