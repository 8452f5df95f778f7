package evidence

import (
	"strconv"
	"strings"
)

// Ended is how a command ended, as far as its client tells.
type Ended struct {
	How  How
	Code int    // the exit status, if it exited
	Job  string // what later calls name it by, if it goes on
}

// How is what became of a command.
type How int

// What becomes of commands.
const (
	Untold  How = iota
	Exited      // with a status
	Halted      // by a person, a time limit or a signal
	GoesOn      // in the background
	Refused     // it did not run
)

// Exit returns the end of a command that exited.
func Exit(code int) Ended { return Ended{How: Exited, Code: code} }

// ExitOf returns the end that a client notes in a command's result, in a line
// that begins with one of the prefixes and a number. The last such line counts:
// the output may have others before it.
func ExitOf(text string, prefixes ...string) (e Ended, ok bool) {
	for line := range strings.Lines(text) {
		for _, prefix := range prefixes {
			if rest, is := strings.CutPrefix(line, prefix); is {
				if code, is := number(rest); is {
					e, ok = Exit(code), true
				}
			}
		}
	}
	return e, ok
}

// number reads the number with which a text begins.
func number(text string) (int, bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.Atoi(text[:digits])
	return n, err == nil
}
