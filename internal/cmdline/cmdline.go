// Package cmdline has the programs' common edges: flags in, errors out, and
// text made safe for a terminal.
//
// It is the only place that prints errors and exits. A program is a [cli.App]
// literal, and its main function one call:
//
//	cmdline.Main(ctx, app, command.Manual, command.Damaged, git.ErrNotFound)
//
// # Command lines
//
// Flags may stand before, between and after arguments, and "--" ends them. "-C
// <dir>" works as in git, before or after the command; "--version" prints the
// version, and "-h" the help. "--help", or "help" before a command, opens the
// manual page, git-agent-turn-show for git agent-turn show, or prints the help
// if the page is not installed. A flag's value may begin with a dash, and may
// be attached to a one-letter flag ("-U5"); "-3" is an argument. Words after
// "--" are paths for a command with [WithPaths].
//
// If its [cli.App] has an ArgsUsage, a program also takes arguments without a
// command: the first must not be a command's name.
//
// # Errors
//
// A command returns its error. [Usagef] makes an error for a wrong command
// line, [NotFoundf] one for nothing to show, and [Hint] adds advice. Standard
// error then gets one or two lines, broken at words on a terminal, and the
// process ends with
//
//	0  done
//	1  failed
//	2  wrong command line
//	3  nothing there
//
// If the reader of standard output has gone, as after `| head -1` or a pager
// that was quit, the program ends silently with status 141, as git does: the
// status that a shell sees after SIGPIPE.
//
// # Text
//
// Text from a note, a transcript or a file name is untrusted. [Escape] removes
// what would command the terminal, and [Table] fits it to the terminal's width.
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

// Main runs app with the arguments of the process and exits. An error that
// wraps one of notFound gives exit status 3. manual shows a manual page, and
// reports whether it exists. advise may add to any command's error.
//
// The context of a command comes from ctx, and ends at the first SIGINT or
// SIGTERM; a second one kills. A command that must survive them, such as a
// hook, calls [signal.Ignore].
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
		// Go's own status for a panic is 2, which means "wrong command line"
		// here, and "continue the turn" to an agent's client that called us as
		// a hook.
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

// interrupted reports whether err is the interruption of a program we ran. A
// terminal signals all programs, and that one may end before we get the signal.
// An error with its own exit status already says what was interrupted.
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

const maxMessage = 8000

// Message is [EscapeLines] for an error, cut since it may quote untrusted text.
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
	started, err := os.Getwd()
	if err == nil {
		ctx = context.WithValue(ctx, startedKey{}, started)
	}
	if err := l.enter(); err != nil {
		return err
	}
	if l.levels[0].takes && len(l.levels) == 1 && len(l.args) > 0 {
		app.Commands = nil // the library would take an argument after "--" for a command
	}
	ctx = context.WithValue(ctx, dashedKey{}, l.dashed)
	return app.RunContext(ctx, append([]string{args[0]}, l.words()...))
}

// prepare removes unwanted habits of urfave/cli v2 from app and all its
// commands: it prints usage errors on standard output, exits with the status of
// any error that has one, and takes "help" and "h" for commands wherever an
// argument may stand.
func prepare(app *cli.App) {
	if app.Writer == nil {
		app.Writer = os.Stdout
	}
	if app.ErrWriter == nil {
		app.ErrWriter = os.Stderr
	}
	app.HelpName = strings.Replace(app.Name, "git-", "git ", 1) // as people type it
	app.HideHelpCommand = true
	app.HideVersion = true               // the library's also accepts -v, ours does not
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
		c.Category = "" // the command's own help would print it
		prepareCommand(c)
	}
}

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

func needCommand(c *cli.Context) error {
	return Hint(Usagef("no command given"), "list the commands with: "+c.Command.HelpName+" -h")
}
