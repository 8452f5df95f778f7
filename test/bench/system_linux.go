package main

import (
	"errors"
	"io/fs"
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
