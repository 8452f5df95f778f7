//go:build unix

// Usage runs a program in its place and writes on file descriptor 3 what it took: milliseconds of
// processors, with its own programs, and the bytes that the largest of these processes had in memory.
//
// On Linux a process counts the memory of the one that started it as its own, from before it became
// another program. So whoever measures has to be small; tests with the race detector take a gigabyte.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

func main() {
	syscall.CloseOnExec(3)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(126)
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(126)
	}
	memory := u.Maxrss
	if runtime.GOOS == "linux" {
		memory <<= 10
	}
	took := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	fmt.Fprintln(os.NewFile(3, "usage"), took.Milliseconds(), memory)
	if exit != nil && exit.ExitCode() < 0 {
		os.Exit(127) // a signal ended it
	}
	if exit != nil {
		os.Exit(exit.ExitCode())
	}
}
