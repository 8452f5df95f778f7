package gittest

import (
	"fmt"
	"hash/crc32"
	"os"
	"sync"
	"testing"
)

// A ring is how much of the tests runs. Each has all of the ring before it.
type ring int

const (
	test    ring = iota // make test, and go test: rules and formats, and each command's and each hook event's way through git
	check               // make check: every test, in its short form
	nightly             // make nightly: the long forms
)

// Ring is the variable that says which ring runs, as make sets it: check or nightly.
const Ring = "GIT_AGENT_TESTS"

var running = sync.OnceValue(func() ring {
	switch name := os.Getenv(Ring); name {
	case "":
		return test
	case "check":
		return check
	case "nightly":
		return nightly
	default:
		panic(fmt.Sprintf("%s=%q: it is check, nightly, or not set", Ring, name))
	}
})

// Check leaves t to make check.
func Check(t testing.TB) {
	t.Helper()
	if running() < check {
		t.Skip("left to make check")
	}
}

// Checking reports whether what is left to make check runs.
func Checking() bool { return running() >= check }

// Nightly leaves t to make nightly.
func Nightly(t testing.TB) {
	t.Helper()
	if running() < nightly {
		t.Skip("left to make nightly")
	}
}

// Whole reports whether the long forms run, which are left to make nightly.
func Whole() bool { return running() == nightly }

// Size is how much a test does of what it could do without end: all of it in make nightly, less of the same before.
func Size(all, less int) int {
	if Whole() {
		return all
	}
	return less
}

// Sample leaves t to make nightly unless it is among a third of those that call this, which are always the same.
func Sample(t testing.TB) {
	t.Helper()
	if crc32.ChecksumIEEE([]byte(t.Name()))%3 != 0 {
		Nightly(t)
	}
}
