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

// CanAsk reports whether there is a terminal to ask a person on: standard input and standard error
// are both one.
func CanAsk() bool { return IsTerminal(os.Stdin) && IsTerminal(os.Stderr) }

// Unasked says why nobody can be asked where [CanAsk] is false, for an error.
func Unasked() string {
	if PagedColumns() > 0 && IsTerminal(os.Stdin) {
		return "git has given the terminal to a pager, so no question can be asked; call it as git --no-pager"
	}
	return "there is no terminal to ask on"
}

// Ask asks a person a question on the terminal, see [CanAsk], and returns which of the answers it
// was; y and n stand for yes and no. The last one is the careful one: it is also the answer of an
// empty line, of the end of input, and of whoever has typed something else three times. The question
// must already be safe. If the context ends meanwhile, as by Ctrl-C, that is the error.
func Ask(ctx context.Context, question string, answers ...string) (string, error) {
	answer := make(chan string, 1) // a read from a terminal can't be interrupted
	go func() { answer <- ask(os.Stderr, os.Stdin, Columns(os.Stderr), question, answers) }()
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr)
		return "", ctx.Err()
	}
}

// maxAsked is how often a question is asked.
const maxAsked = 3

func ask(to io.Writer, from io.Reader, columns int, question string, answers []string) string {
	careful := answers[len(answers)-1]
	choice := "[" + strings.Join(answers, "/") + "]"
	lines := bufio.NewReader(from) // a terminal gives one line at a time: the next question's answer stays
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
