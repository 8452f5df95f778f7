package cmdline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The exit statuses are an interface: manuals list and scripts test them.
const (
	statusDone     = 0
	statusFailed   = 1
	statusUsage    = 2
	statusNotFound = 3
	statusUnread   = 128 + 13 // a shell's status for SIGPIPE
)

// Usagef returns an error for a wrong command line, with exit status 2. The
// format is that of [fmt.Errorf].
func Usagef(format string, args ...any) error {
	return &statusError{statusUsage, fmt.Errorf(format, args...)}
}

// NotFoundf returns an error for something that does not exist, with exit
// status 3. The format is that of [fmt.Errorf].
func NotFoundf(format string, args ...any) error {
	return &statusError{statusNotFound, fmt.Errorf(format, args...)}
}

// IsUsage reports whether an error is of [Usagef].
func IsUsage(err error) bool { return exitStatus(err, nil) == statusUsage }

// IsNotFound reports whether an error is of [NotFoundf].
func IsNotFound(err error) bool { return exitStatus(err, nil) == statusNotFound }

// ExitWith gives err an exit status, such as that of a program that we ran.
func ExitWith(status int, err error) error { return &statusError{status, err} }

// Told wraps the error of another of our programs that has already reported it,
// or had no reader of its output: nothing is printed, and the exit status is
// the same. It returns any other error unchanged.
func Told(err error) error {
	var exit interface {
		error
		Exited() bool
		ExitCode() int
		Sys() any
	}
	if !errors.As(err, &exit) {
		return err
	}
	if exit.Exited() {
		return &statusError{exit.ExitCode(), nil}
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGPIPE {
		return &statusError{statusUnread, nil}
	}
	return err
}

// Hint adds advice to err, printed on its own line. Only the outermost of
// several hints is printed. A nil err stays nil.
func Hint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hintError{err, hint}
}

// Hintf is [Hint] with a format.
func Hintf(err error, format string, args ...any) error {
	return Hint(err, fmt.Sprintf(format, args...))
}

// Warn prints an error that prevents nothing as a warning on standard error.
func Warn(err error) {
	program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	for line := range strings.Lines(Message(err.Error())) {
		WriteMessage(os.Stderr, program+": warning: ", strings.TrimSuffix(line, "\n"))
	}
	if h := (*hintError)(nil); errors.As(err, &h) {
		WriteMessage(os.Stderr, program+": hint: ", Message(h.hint))
	}
}

// A statusError has an exit status. urfave/cli would exit on an ExitCode.
type statusError struct {
	status int
	err    error // nil if another program has printed it
}

func (e *statusError) Error() string {
	if e.err == nil {
		return "exit status " + strconv.Itoa(e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// unread reports whether the reader of standard output has gone. Go's runtime
// then ends us by SIGPIPE, unless it was ignored when we started or git was
// writing.
func unread(err error) bool {
	var e *fs.PathError
	return errors.As(err, &e) && e.Path == os.Stdout.Name() && errors.Is(e, syscall.EPIPE)
}

func exitStatus(err error, notFound []error) int {
	if s := (*statusError)(nil); errors.As(err, &s) {
		return s.status
	}
	for _, target := range notFound {
		if errors.Is(err, target) {
			return statusNotFound
		}
	}
	return statusFailed
}
