package cmdline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// maxSecret is in bytes; a private key has some thousands.
const maxSecret = 64 << 10

// Secret reads text that must not be in a shell history or process list: an
// unechoed line of the terminal, or all of standard input. A final newline is
// dropped. The question must be safe.
func Secret(ctx context.Context, question string) ([]byte, error) {
	if !IsTerminal(os.Stdin) {
		return secretFrom(os.Stdin)
	}
	state, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return nil, fmt.Errorf("read from the terminal: %w", err)
	}
	fmt.Fprint(os.Stderr, question+" ")
	type typed struct {
		text []byte
		err  error
	}
	done := make(chan typed, 1) // a terminal's read can't be interrupted
	go func() {
		fd := int(os.Stdin.Fd())
		text, err := term.ReadPassword(fd)
		if more, e := typeahead(fd); err == nil && e == nil && more {
			err = errSeveral
		}
		done <- typed{text, err}
	}()
	defer fmt.Fprintln(os.Stderr)
	select {
	case t := <-done:
		if errors.Is(t.err, errSeveral) {
			return nil, t.err
		}
		if t.err != nil && !errors.Is(t.err, io.EOF) {
			return nil, fmt.Errorf("read from the terminal: %w", t.err)
		}
		return t.text, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), term.Restore(int(os.Stdin.Fd()), state))
	}
}

var errSeveral = errors.New("those were several lines: give them on standard input, from a file")

func secretFrom(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSecret+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read standard input: %w", err)
	case len(text) > maxSecret:
		return nil, fmt.Errorf("read standard input: it has more than %s", Size(maxSecret))
	}
	text, _ = bytes.CutSuffix(text, []byte("\n"))
	return text, nil
}
