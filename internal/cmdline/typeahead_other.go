//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package cmdline

// typeahead is not known here.
func typeahead(int) (bool, error) { return false, nil }
