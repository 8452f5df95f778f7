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

// maxSecret is how many bytes a secret has at most: a private key has some thousands.
const maxSecret = 64 << 10

// Secret reads what must be in no shell history and in no list of processes: from the terminal, where it
// is not shown and has one line, or else from standard input. A newline at the end doesn't count. The question
// must already be safe.
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
	done := make(chan typed, 1) // a read from a terminal can't be interrupted
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

// errSeveral reports a paste of which only the first line was read.
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
