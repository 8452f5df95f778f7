package session

import "os"

// running reports whether there is a process with that id.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // only a handle
	return true
}
