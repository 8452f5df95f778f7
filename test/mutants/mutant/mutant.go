// Package mutant is what changed places of the product ask: am I on? It is never part of the product. The program
// test/mutants compiles it into the product under test, together with a file that says where the answer is.
//
// The answer is read once, when a process starts, from a file and not from the environment: tests give the programs that
// they start an environment of their own. The file has one of
//
//	17              mutant 17 is on
//	reach <name>    none is, and who is asked makes the file reach/<name>/<number> beside this one
//
// and if it is not there, or has anything else, no mutant is on.
package mutant

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// File is the name of the file with the answer, in dir.
const File = "on"

// Reach is the name of the directory, in dir, for what was asked.
const Reach = "reach"

var number, reached = read(dir)

// seen has the numbers that this process was asked for while reach is recorded.
var seen sync.Map

// read returns which mutant is on, 0 for none, and the directory in which to record reach, "" for not.
func read(dir string) (n int, reached string) {
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return 0, ""
	}
	word := strings.TrimSpace(string(text))
	if name, ok := strings.CutPrefix(word, "reach "); ok {
		return 0, filepath.Join(dir, Reach, name)
	}
	n, _ = strconv.Atoi(word)
	return n, ""
}

// On reports whether mutant n is on.
func On(n int) bool {
	if reached != "" {
		if _, again := seen.LoadOrStore(n, true); !again {
			record(reached, n)
		}
	}
	return n == number
}

// record leaves a file that n was asked for. Other users' processes, which some tests have, may do so as well.
func record(reached string, n int) {
	f, err := os.OpenFile(filepath.Join(reached, strconv.Itoa(n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err == nil {
		_ = f.Close()
	}
}

// Off is the opposite of [On].
func Off(n int) bool { return !On(n) }

// Number is v, or one more.
func Number[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64](n int, v T) T {
	if On(n) {
		return v + 1
	}
	return v
}

// Text is v, or nothing.
func Text[T ~string](n int, v T) T {
	if On(n) {
		return ""
	}
	return v
}

// Err is what call returns, or nil without a call.
func Err(n int, call func() error) error {
	if On(n) {
		return nil
	}
	return call()
}
