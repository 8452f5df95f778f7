//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package cmdline

// pasted is not known here.
func pasted(int) (bool, error) { return false, nil }
