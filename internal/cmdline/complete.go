package cmdline

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeFlag is what a shell appends to an unfinished command line to ask for completions. The
// word before it is the one under the cursor, as far as it has been typed. The answer is one word
// per line, perhaps with a tab and a description; the word is empty where names of files fit.
const completeFlag = "--generate-bash-completion"

// CompletedFlag is a flag whose values a shell can be offered.
type CompletedFlag struct {
	cli.DocGenerationFlag
	Values cli.BashCompleteFunc // proposes them, see [Propose]
}

// IsVisible is what the library asks before it describes a flag.
func (f *CompletedFlag) IsVisible() bool {
	v, ok := f.DocGenerationFlag.(cli.VisibleFlag)
	return !ok || v.IsVisible()
}

// OneOf returns the flag, whose value is one of these words.
func OneOf(flag cli.DocGenerationFlag, words ...string) cli.Flag {
	return &CompletedFlag{flag, func(c *cli.Context) {
		for _, word := range words {
			Propose(c, word, "")
		}
	}}
}

// A cursor is where a command line is being completed.
type cursor struct {
	typed string   // of the word
	flag  cli.Flag // whose value the word is; nil for an argument
}

type cursorKey struct{}

func cursorOf(ctx context.Context) cursor {
	at, _ := ctx.Value(cursorKey{}).(cursor)
	return at
}

// Typed returns what has been typed of the word that is being completed. It is for the functions
// that know what could follow.
func Typed(ctx context.Context) string { return cursorOf(ctx).typed }

// maxAbout is how much of a description goes to a shell, in runes.
const maxAbout = 100

// Propose offers the shell a word and says what it is about, unless something else has been typed.
// Both may be a stranger's: a word that a terminal would obey is not offered.
func Propose(c *cli.Context, word, about string) {
	if word == "" || Escape(word) != word || !strings.HasPrefix(word, Typed(c.Context)) {
		return
	}
	about = strings.ToValidUTF8(about[:min(len(about), 4*maxAbout)], "") // a prompt may have megabytes
	if about = shorten(OneLine(about), maxAbout); about != "" {
		about = "\t" + about
	}
	fmt.Fprintln(c.App.Writer, word+about)
}

// ProposeFiles has the shell offer names of files.
func ProposeFiles(c *cli.Context) { fmt.Fprint(c.App.Writer, fileNames) }

const fileNames = "\tfiles\n"

// complete answers the shell. args has the program's name and lacks [completeFlag]. If there is
// nothing to propose, or nothing was understood, there is no output and no error.
func complete(ctx context.Context, app *cli.App, args []string) error {
	words, at := args[1:], cursor{}
	if n := len(words) - 1; n >= 0 {
		words, at.typed = words[:n], words[n]
	}
	if len(words) > 0 && words[0] == helpWord {
		words = words[1:]
	}
	l, err := parse(app, words)
	top := l.levels[len(l.levels)-1]
	switch {
	case l.pending != "":
		at.flag = lookup(l.find(l.pending).known, l.pending)
	case err != nil:
		return nil
	case slices.Contains(words, "--"): // paths, or another program's command line
		_, err := fmt.Fprint(app.Writer, fileNames)
		return err
	case strings.HasPrefix(at.typed, "-"):
		return completeFlags(app.Writer, top.known, at.typed)
	}
	if l.enter() != nil {
		return nil
	}
	// The library finds the command and its flags for the function that knows the possible values.
	// It ends completion at "--", so that is left out.
	line := slices.DeleteFunc(l.words(), func(word string) bool { return word == "--" })
	answer := bufio.NewWriter(app.Writer)
	app.Writer = answer
	err = app.RunContext(context.WithValue(ctx, cursorKey{}, at), slices.Concat(args[:1], line, []string{completeFlag}))
	return cmp.Or(err, answer.Flush())
}

// completer is what a command answers: values of the flag under the cursor, else its arguments.
func completer(arguments cli.BashCompleteFunc) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		switch f := cursorOf(c.Context).flag.(type) {
		case nil:
			arguments(c)
		case *CompletedFlag:
			f.Values(c)
		case cli.DocGenerationFlag:
			if usage := f.GetUsage(); strings.Contains(usage, "`<file>`") || strings.Contains(usage, "`<dir>`") {
				ProposeFiles(c)
			}
		}
	}
}

// CompleteCommands proposes the commands below the current one.
func CompleteCommands(c *cli.Context) {
	for _, sub := range c.Command.Subcommands {
		if !sub.Hidden {
			Propose(c, sub.Name, sub.Usage)
		}
	}
}

func completeFlags(w io.Writer, flags []cli.Flag, typed string) error {
	for _, f := range flags {
		for _, name := range flagNames([]cli.Flag{f}) {
			if !strings.HasPrefix(name, typed) {
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
