//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package cmdline

func typeahead(int) (bool, error) { return false, nil }
