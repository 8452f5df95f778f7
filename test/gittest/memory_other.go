//go:build !linux

package gittest

// memory is the directory for temporary ones.
func memory() string { return "" }
