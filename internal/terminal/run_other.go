//go:build !unix

package terminal

import (
	"os"
	"os/exec"
)

// endings are the signals by which people and systems end a process.
func endings() []os.Signal { return []os.Signal{os.Interrupt} }

func separate(*exec.Cmd) {}

// hand does nothing: what is typed in a console reaches all of its processes.
func hand(*exec.Cmd, os.Signal) {}

func status(p *os.ProcessState) int { return p.ExitCode() }
