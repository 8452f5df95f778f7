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

// completeFlag asks for completions of an unfinished command line. The word
// before it is the typed part of the word under the cursor. The answer has one
// word per line, perhaps with a tab and a description; the word is empty where
// names of files fit.
const completeFlag = "--generate-bash-completion"

// A CompletedFlag is a flag with values that a shell can complete.
type CompletedFlag struct {
	cli.DocGenerationFlag
	Values cli.BashCompleteFunc // calls [Propose] for each
}

// IsVisible reports whether the flag is not hidden.
func (f *CompletedFlag) IsVisible() bool {
	v, ok := f.DocGenerationFlag.(cli.VisibleFlag)
	return !ok || v.IsVisible()
}

// OneOf returns the flag with words as its completions.
func OneOf(flag cli.DocGenerationFlag, words ...string) cli.Flag {
	return &CompletedFlag{flag, func(c *cli.Context) {
		for _, word := range words {
			Propose(c, word, "")
		}
	}}
}

type cursor struct {
	typed string   // part of the word
	flag  cli.Flag // the flag that the word is a value of, or nil
}

type cursorKey struct{}

func cursorOf(ctx context.Context) cursor {
	at, _ := ctx.Value(cursorKey{}).(cursor)
	return at
}

// Typed returns the typed part of the word that is being completed.
func Typed(ctx context.Context) string { return cursorOf(ctx).typed }

const maxAbout = 100

// Propose offers the shell a word with a description if its beginning was
// typed. Both may be untrusted: a word that a terminal would obey is not
// offered.
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

// ProposeFiles makes the shell offer names of files.
func ProposeFiles(c *cli.Context) { fmt.Fprint(c.App.Writer, fileNames) }

const fileNames = "\tfiles\n"

// complete answers the shell. args has the program's name and lacks
// [completeFlag]. If nothing is understood or proposed, there is no output and
// no error.
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
	if slices.ContainsFunc(l.levels, commandLevel.twice) || l.enter() != nil {
		return nil
	}
	// The library finds the command and its flags for the function that knows
	// the possible values. It would end completion at "--", which is left out.
	line := slices.DeleteFunc(l.words(), func(word string) bool { return word == "--" })
	answer := bufio.NewWriter(app.Writer)
	app.Writer = answer
	err = app.RunContext(context.WithValue(ctx, cursorKey{}, at), slices.Concat(args[:1], line, []string{completeFlag}))
	return cmp.Or(err, answer.Flush())
}

// completer proposes values of the flag under the cursor, or else arguments.
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
