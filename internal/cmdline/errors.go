package cmdline

import (
	"errors"
	"fmt"
)

// The exit statuses. They are interface: the manual pages list them and scripts test them.
const (
	statusDone     = 0
	statusFailed   = 1
	statusUsage    = 2
	statusNotFound = 3
)

// Usagef makes an error of a wrong command line: exit status 2.
// The format is that of [fmt.Errorf].
func Usagef(format string, args ...any) error {
	return &statusError{statusUsage, fmt.Errorf(format, args...)}
}

// NotFoundf makes an error that says that what was asked for is not there: exit status 3.
// The format is that of [fmt.Errorf].
func NotFoundf(format string, args ...any) error {
	return &statusError{statusNotFound, fmt.Errorf(format, args...)}
}

// ExitWith makes err one after which the program exits with a status of another program's, which it ran for the user.
func ExitWith(status int, err error) error { return &statusError{status, err} }

// Hint adds advice to err, which is printed on a line of its own.
// Of several hints the outermost is printed. A nil err stays nil.
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

// statusError is an error that knows the exit status it deserves.
// It has no method ExitCode: urfave/cli would take it for one of its own and exit by itself.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

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
