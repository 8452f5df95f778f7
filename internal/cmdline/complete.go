package cmdline

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeFlag is what a shell appends to an unfinished command line to ask for completions. The
// last word before it is the one under the cursor if it is empty or begins with a dash. The answer
// is one word per line, perhaps with a tab and a description.
const completeFlag = "--generate-bash-completion"

type pendingKey struct{}

// Pending returns the name of the flag whose value is being completed, "" for an argument. It is
// for a command's BashComplete function, with the context passed to it.
func Pending(ctx context.Context) string {
	name, _ := ctx.Value(pendingKey{}).(string)
	return name
}

// complete answers the shell. args has the program's name and lacks [completeFlag]. If there is
// nothing to propose, or nothing was understood, there is no output and no error.
func complete(ctx context.Context, app *cli.App, args []string) error {
	words, current := args[1:], ""
	if n := len(words) - 1; n >= 0 && (words[n] == "" || isFlag(words[n]) || words[n] == "-") {
		words, current = words[:n], words[n]
	}
	if slices.Contains(words, "--") {
		return nil // another program's command line
	}
	l, err := parse(app, words)
	top := l.levels[len(l.levels)-1]
	switch {
	case l.pending != "":
		ctx = context.WithValue(ctx, pendingKey{}, l.pending)
	case err != nil:
		return nil
	case current != "":
		return completeFlags(app.Writer, top.known, current)
	}
	if l.chdir() != nil {
		return nil
	}
	// The library finds the command and its flags for the function that knows the possible values.
	// It ends completion at "--", so the arguments are left out.
	line := slices.DeleteFunc(l.words(), func(word string) bool { return word == "--" })
	return app.RunContext(ctx, slices.Concat(args[:1], line, []string{completeFlag}))
}

// completeCommands proposes the commands below the current one.
func completeCommands(c *cli.Context) {
	if Pending(c.Context) != "" {
		return
	}
	for _, sub := range c.Command.Subcommands {
		if !sub.Hidden {
			fmt.Fprintf(c.App.Writer, "%s\t%s\n", sub.Name, sub.Usage)
		}
	}
}

func completeFlags(w io.Writer, flags []cli.Flag, current string) error {
	for _, f := range flags {
		for _, name := range flagNames([]cli.Flag{f}) {
			if !strings.HasPrefix(name, current) {
				continue
			}
			usage := strings.ReplaceAll(f.(cli.DocGenerationFlag).GetUsage(), "`", "")
			if _, err := fmt.Fprintf(w, "%s\t%s\n", name, usage); err != nil {
				return err
			}
		}
	}
	return nil
}
