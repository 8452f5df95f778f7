package cmdline

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// CanAsk reports whether standard input and standard error are terminals.
func CanAsk() bool { return IsTerminal(os.Stdin) && IsTerminal(os.Stderr) }

// Unasked returns why [CanAsk] is false, for an error.
func Unasked() string {
	if PagedColumns() > 0 && IsTerminal(os.Stdin) {
		return "git has given the terminal to a pager, so no question can be asked; call it as git --no-pager"
	}
	return "there is no terminal to ask on"
}

// Ask asks a question on the terminal, see [CanAsk], and returns one of
// answers; y and n stand for yes and no. The last answer is the careful one: it
// is also returned for an empty line, the end of input, and after three wrong
// answers. The question must be safe. If the context ends, as by Ctrl-C, Ask
// returns its error.
func Ask(ctx context.Context, question string, answers ...string) (string, error) {
	answer := make(chan string, 1) // a terminal's read can't be interrupted
	go func() { answer <- ask(os.Stderr, os.Stdin, Columns(os.Stderr), question, answers) }()
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr)
		return "", ctx.Err()
	}
}

const maxAsked = 3

func ask(to io.Writer, from io.Reader, columns int, question string, answers []string) string {
	careful := answers[len(answers)-1]
	choice := "[" + strings.Join(answers, "/") + "]"
	lines := bufio.NewReader(from) // a terminal gives one line at a time, so the next answer is not read
	for range maxAsked {
		fmt.Fprint(to, Indent("", question+" "+choice, columns)+" ")
		line, err := lines.ReadString('\n')
		if err != nil {
			fmt.Fprintln(to)
			return careful
		}
		said := strings.ToLower(strings.TrimSpace(line))
		if said == "" {
			return careful
		}
		for _, a := range answers {
			if said == a || said == a[:1] && slices.Contains([]string{"yes", "no"}, a) {
				return a
			}
		}
		question = "\"" + Truncate(Escape(said), 20) + "\" is none of these."
	}
	return careful
}
