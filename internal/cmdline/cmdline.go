// Package cmdline is what the programs of git-agent share at their edges: flags in, errors out, and
// text made safe for a terminal.
//
// It is the only place that prints errors and exits. A program is a [cli.App] literal, and its main
// function one call:
//
//	func main() { cmdline.Main(ctx, newApp(), command.Manual, command.Damaged, git.ErrNotFound) }
//
// # Command lines
//
// Flags may stand before, between and after arguments, and "--" ends them. "-C <dir>" works as it does
// in git, before or after the command; "--version" prints the version, and "-h" the help. "--help", or the word
// "help" before a command, opens the manual page, which is called git-agent-turn-show for git agent-turn show, and
// prints the help where that page isn't installed. A flag's value may begin with a dash, that of a flag of one letter may be attached ("-U5"), and "-3"
// is an argument, not a flag. What comes after "--" are paths for a command that says [WithPaths].
//
// A program whose [cli.App] has an ArgsUsage takes arguments besides its commands: a first one that is the
// name of no command.
//
// # Errors
//
// A command returns its error. [Usagef] makes an error for a wrong command line, [NotFoundf] one
// for nothing to show, and [Hint] adds advice. Standard error then gets one line, or two, broken at
// words on a terminal, and the process ends with
//
//	0  done
//	1  failed
//	2  wrong command line
//	3  nothing there
//
// If nobody reads standard output any more, as after `| head -1` or in a pager that was quit, the
// program ends as git does: silently, with the status that a shell sees after SIGPIPE, 141.
//
// # Text
//
// Text from a note, a transcript or a file name was written by a stranger. [Escape] removes what
// would command the terminal, and [Table] fits it to the terminal's width.
package cmdline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"gitagent/internal/version"
)

// Main runs app with the arguments of the process and exits. An error that wraps one of notFound
// means that there is nothing there: exit status 3. manual shows the manual page of that name, and reports
// whether there is one. advise may add to an error of any command.
//
// The context of a command is made from ctx, and ends at the first SIGINT or SIGTERM; a second one kills. A command that
// must outlive them, as a hook must, calls [signal.Ignore].
func Main(
	ctx context.Context, app *cli.App, manual func(ctx context.Context, page string) bool,
	advise func(error) error, notFound ...error,
) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, app, os.Args, manual, advise, notFound))
}

// run is Main without the process: it returns the exit status.
func run(
	ctx context.Context, app *cli.App, args []string, manual func(ctx context.Context, page string) bool,
	advise func(error) error, notFound []error,
) (status int) {
	prepare(app)
	defer func() {
		// Go's own status for a panic is 2, which means "wrong command line" here, and "continue
		// the turn" to an agent's client that called us as a hook.
		if p := recover(); p != nil {
			fmt.Fprintf(app.ErrWriter, "%s: error: panic: %v\n%s", app.Name, p, debug.Stack())
			status = statusFailed
		}
	}()
	var err error
	if n := len(args) - 1; n > 0 && args[n] == completeFlag {
		err = complete(ctx, app, args[:n])
	} else {
		err = execute(ctx, app, args, manual)
	}
	if err == nil {
		return statusDone
	}
	if unread(err) {
		return statusUnread
	}
	if s := (*statusError)(nil); errors.As(err, &s) && s.err == nil {
		return s.status
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) || interrupted(err) {
		err = errors.New("interrupted")
	}
	if advise != nil {
		err = advise(err)
	}
	WriteMessage(app.ErrWriter, app.Name+": error: ", Message(err.Error()))
	if h := (*hintError)(nil); errors.As(err, &h) {
		WriteMessage(app.ErrWriter, app.Name+": hint: ", Message(h.hint))
	}
	return exitStatus(err, notFound)
}

// interrupted reports whether the error is that a program we ran was interrupted. A terminal sends the
// signal to all of them, and that one may have ended before we got ours. An error with an exit status of
// its own says itself what was interrupted.
func interrupted(err error) bool {
	var exit interface {
		error
		Sys() any
	}
	if errors.As(err, new(*statusError)) || !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM)
}

// maxMessage is how much of an error is printed, in runes.
const maxMessage = 8000

// Message is [EscapeLines] for an error, which may quote a stranger at length: it is cut.
func Message(text string) string { return shorten(EscapeLines(text), maxMessage) }

func execute(ctx context.Context, app *cli.App, args []string, manual func(ctx context.Context, page string) bool) error {
	l, err := parse(app, args[1:])
	if err != nil {
		return err
	}
	if l.version {
		_, err := fmt.Fprintf(app.Writer, "%s version %s\n", app.Name, version.String())
		return err
	}
	if l.manual(ctx, app, manual) {
		return nil
	}
	if err := l.enter(); err != nil {
		return err
	}
	if l.levels[0].takes && len(l.levels) == 1 && len(l.args) > 0 {
		app.Commands = nil // the library would take an argument after "--" for one
	}
	ctx = context.WithValue(ctx, dashedKey{}, l.dashed)
	return app.RunContext(ctx, append([]string{args[0]}, l.words()...))
}

// prepare removes unwanted habits of urfave/cli v2 from app and all its commands: it prints usage
// errors on standard output, exits with the status of any error that has one, and takes "help" and
// "h" for a command wherever an argument may stand.
func prepare(app *cli.App) {
	if app.Writer == nil {
		app.Writer = os.Stdout
	}
	if app.ErrWriter == nil {
		app.ErrWriter = os.Stderr
	}
	app.HelpName = strings.Replace(app.Name, "git-", "git ", 1) // as people type it
	app.HideHelpCommand = true
	app.HideVersion = true               // the library's also accepts -v; our own does not
	app.DisableSliceFlagSeparator = true // a comma is part of a text
	app.EnableBashCompletion = true
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.OnUsageError = onUsageError
	app.Flags = append(app.Flags, commonFlags()...)
	plain(app.Flags)
	if app.Action == nil {
		app.Action = needCommand
	}
	if app.BashComplete == nil {
		app.BashComplete = CompleteCommands
	}
	app.BashComplete = completer(app.BashComplete)
	app.CustomAppHelpTemplate = help(app)
	for _, c := range app.Commands {
		c.Category = "" // the library would print it in the help of the command
		prepareCommand(c)
	}
}

// commonFlags are the flags that every program has besides -h.
func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: chdirFlag, Usage: "run as if started in `<dir>`"},
		&cli.BoolFlag{Name: versionFlag, Usage: "print the version"},
	}
}

func prepareCommand(c *cli.Command) {
	c.HideHelpCommand = true
	c.OnUsageError = onUsageError // v2 does not pass it down
	plain(c.Flags)
	if c.Action == nil {
		c.Action = needCommand
	}
	if c.BashComplete == nil {
		c.BashComplete = CompleteCommands
	}
	c.BashComplete = completer(c.BashComplete)
	for _, sub := range c.Subcommands {
		prepareCommand(sub)
	}
}

// plain keeps "(default: false)" out of help texts.
func plain(flags []cli.Flag) {
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true
		}
	}
}

func onUsageError(_ *cli.Context, err error, _ bool) error {
	return Usagef("%w", err)
}

// needCommand is the action of a command that only groups others.
func needCommand(c *cli.Context) error {
	return Hint(Usagef("no command given"), "list the commands with: "+c.Command.HelpName+" -h")
}
