package cmdline

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/suggest"
)

const (
	chdirFlag   = "C"
	versionFlag = "version"
)

// A line is a command line split into its parts, without the program's name.
//
// urfave/cli v2 stops looking for flags at the first argument. So each flag is
// moved to its command, and [line.words] returns the same command line in the
// order that the library understands.
type line struct {
	levels  []commandLevel // the program, its command, its subcommand, ...
	args    []string       // neither flags, their values nor commands
	dashed  int            // how many of args, at the end, came after "--"
	dirs    []string       // the values of -C
	pending string         // the last flag, if it lacks a value
	version bool           // --version was given
	whole   bool           // --help or the word help was given: show the manual page
}

// A commandLevel is the program or a command, with the flags given to it.
type commandLevel struct {
	name     string // as typed; "" for the program
	help     string // "git agent-turn list", for advice
	usage    string // as printed, for advice
	known    []cli.Flag
	commands []*cli.Command
	raw      bool // wants its arguments unchanged
	takes    bool // takes arguments in addition to its commands
	flags    []string
	helps    bool // --help is among its flags, and no value of one
}

// parse splits args. The line has what was understood before a usage error.
func parse(app *cli.App, args []string) (*line, error) {
	l := &line{levels: []commandLevel{{
		help:     app.HelpName,
		known:    app.Flags,
		commands: app.Commands,
		takes:    app.ArgsUsage != "",
	}}}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		top := &l.levels[len(l.levels)-1]
		switch {
		case top.raw:
			l.args = append(l.args, arg)
		case arg == "--" && len(top.commands) > 0 && !top.takes:
			// a command follows all the same, with its flags and paths
		case arg == "--":
			l.args, l.dashed = append(l.args, args...), len(args)
			args = nil
		case arg == helpWord && len(l.levels) == 1 && len(l.args) == 0 && !l.whole:
			l.whole = true
			args = append(args[:len(args):len(args)], "--help")
		case isFlag(arg) && !(isNumber(arg) && l.find(arg) == nil):
			n, err := l.flag(arg, args)
			if err != nil {
				return l, err
			}
			args = args[n:]
		case len(l.args) == 0 && len(top.commands) > 0:
			switch err := l.command(arg); {
			case err != nil && top.takes:
				l.args = append(l.args, arg)
			case err != nil:
				return l, err
			}
		default:
			l.args = append(l.args, arg)
		}
	}
	if slices.ContainsFunc(l.levels, func(v commandLevel) bool { return v.helps }) {
		l.args = nil // urfave/cli would take them for topics
	}
	return l, nil
}

// twice reports whether a flag was given under two of its names: the library
// refuses that, and crashes if it is asked to complete it.
func (v commandLevel) twice() bool {
	return slices.ContainsFunc(v.known, func(f cli.Flag) bool {
		names := slices.DeleteFunc(slices.Clone(f.Names()), func(name string) bool {
			return !slices.ContainsFunc(v.flags, func(word string) bool {
				given, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
				return isFlag(word) && given == name
			})
		})
		return len(names) > 1
	})
}

// flag adds arg to its level, and returns how many words of rest are its value.
func (l *line) flag(arg string, rest []string) (int, error) {
	owner := l.find(arg)
	if owner == nil {
		if attached := l.detach(arg); attached != nil {
			_, err := l.flag(attached[0], attached[1:])
			return 0, err
		}
		return 0, l.unknownFlag(arg)
	}
	name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	words := []string{arg}
	if hasValue && !takesValue(owner.known, name) {
		if _, err := strconv.ParseBool(value); err != nil { // not repeated: it may be a secret
			flag, _, _ := strings.Cut(arg, "=")
			return 0, Usagef("%s takes no value", flag)
		}
	}
	if takesValue(owner.known, name) && !hasValue {
		if len(rest) == 0 {
			l.pending = name
			return 0, Usagef("%s needs a value", arg)
		}
		value = rest[0]
		words = append(words, value)
	}
	switch {
	case owner == &l.levels[0] && name == chdirFlag:
		l.dirs = append(l.dirs, value)
	case owner == &l.levels[0] && name == versionFlag:
		l.version = true
	case name == "h" || name == "help":
		l.whole = l.whole || name == "help"
		owner.flags, owner.helps = append(owner.flags, "--help"), true
	default:
		owner.flags = append(owner.flags, words...)
	}
	return len(words) - 1, nil
}

// find returns the innermost level that knows the flag, or nil.
func (l *line) find(arg string) *commandLevel {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	for i := len(l.levels) - 1; i >= 0; i-- {
		if name == "h" || name == "help" || lookup(l.levels[i].known, name) != nil {
			return &l.levels[i]
		}
	}
	return nil
}

// detach splits a one-letter flag from its value, "-U5", or returns nil.
func (l *line) detach(arg string) []string {
	if len(arg) < 3 || arg[1] == '-' {
		return nil
	}
	name := arg[:2]
	if owner := l.find(name); owner == nil || !takesValue(owner.known, name[1:]) {
		return nil
	}
	return []string{name, arg[2:]}
}

func (l *line) command(name string) error {
	top := l.levels[len(l.levels)-1]
	var names []string
	for _, c := range top.commands {
		if c.HasName(name) {
			l.levels = append(l.levels, commandLevel{
				name:     name,
				help:     top.help + " " + c.Name,
				usage:    c.UsageText,
				known:    c.Flags,
				commands: c.Subcommands,
				raw:      c.SkipFlagParsing,
			})
			return nil
		}
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	err := Usagef("unknown command %q", name)
	if near := suggest.Nearest(name, names); near != "" {
		return Hintf(err, "did you mean %s?", near)
	}
	return Hintf(err, "list the commands with: %s -h", top.help)
}

func (l *line) unknownFlag(arg string) error {
	top := l.levels[len(l.levels)-1]
	arg, _, _ = strings.Cut(arg, "=")
	err := Usagef("unknown flag %q", arg)
	var names []string
	for _, level := range l.levels {
		for _, name := range flagNames(level.known) {
			names = append(names, strings.TrimLeft(name, "-"))
		}
	}
	if near := suggest.Nearest(strings.TrimLeft(arg, "-"), names); len(near) > 1 {
		return Hintf(err, "did you mean --%s?", near)
	}
	if len(l.args) > 0 && strings.Contains(top.usage, "-- <") { // it may be another program's flag
		return Hintf(err, "a command to be run comes after --, with its flags; list ours with: %s -h", top.help)
	}
	return Hintf(err, "list the flags with: %s -h", top.help)
}

func (l *line) words() []string {
	var words []string
	for i, level := range l.levels {
		if i > 0 {
			words = append(words, level.name)
		}
		words = append(words, level.flags...)
	}
	if len(l.args) > 0 && !l.levels[len(l.levels)-1].raw {
		words = append(words, "--")
	}
	return append(words, l.args...)
}

func (l *line) enter() error {
	dir := l.dir()
	if dir == "" {
		return nil
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("change to %q: %w", dir, err)
	}
	return nil
}

// dir returns where the command works, or "" for the current directory. As for
// git, each -C is relative to the one before, and an empty one is ignored.
func (l *line) dir() string {
	at := ""
	for _, dir := range l.dirs {
		if at == "" || filepath.IsAbs(dir) {
			at = cmp.Or(dir, at)
		} else if dir != "" {
			at += string(filepath.Separator) + dir // not cleaned: a link may come before ".."
		}
	}
	return at
}

type (
	dashedKey  struct{}
	pathsKey   struct{}
	startedKey struct{}
)

// StartedIn returns the directory in which the program was started, without
// -C, or "" if it is gone.
func StartedIn(ctx context.Context) string {
	dir, _ := ctx.Value(startedKey{}).(string)
	return dir
}

// WithPaths returns the action of a command that takes paths after "--", as
// git's own commands do. They are not among its arguments; [Paths] returns
// them. Other commands take what follows "--" as arguments.
func WithPaths(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		dashed, _ := c.Context.Value(dashedKey{}).(int)
		words := c.Args().Slice()
		args, paths := words[:len(words)-dashed], words[len(words)-dashed:]
		inner := WithArgs(c, args)
		inner.Context = context.WithValue(c.Context, pathsKey{}, paths)
		return action(inner)
	}
}

// WithArgs returns a command's context with other arguments and the same flags.
func WithArgs(c *cli.Context, args []string) *cli.Context {
	set := flag.NewFlagSet(c.Command.Name, flag.ContinueOnError)
	_ = set.Parse(append([]string{"--"}, args...)) // it has no flags, and can't fail
	inner := cli.NewContext(c.App, set, c)
	inner.Command = c.Command
	return inner
}

// Paths returns the words after "--" of a command with [WithPaths].
func Paths(c *cli.Context) []string {
	paths, _ := c.Context.Value(pathsKey{}).([]string)
	return paths
}

// NoArgs returns the action of a command without arguments.
func NoArgs(action cli.ActionFunc) cli.ActionFunc { return limitArgs(0, 0, "", action) }

// OneArg returns the action of a command with one argument, described by noun.
func OneArg(noun string, action cli.ActionFunc) cli.ActionFunc { return limitArgs(1, 1, noun, action) }

// OptionalArg is [OneArg] with an optional argument.
func OptionalArg(noun string, action cli.ActionFunc) cli.ActionFunc {
	return limitArgs(0, 1, noun, action)
}

// Args returns the action of a command with arguments as described by what.
func Args(least, most int, what string, action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if n := c.NArg(); n < least || n > most {
			return Usagef("%s takes %s", strings.TrimPrefix(c.Command.HelpName, c.App.HelpName+" "), what)
		}
		return action(c)
	}
}

func limitArgs(least, most int, noun string, action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		name := strings.TrimPrefix(c.Command.HelpName, c.App.HelpName+" ")
		switch n := c.NArg(); {
		case n >= least && n <= most:
			return action(c)
		case most == 0:
			return Usagef("%s takes no arguments", name)
		default:
			return Usagef("%s takes one %s, not %d", name, noun, n)
		}
	}
}

func isFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-'
}

func isNumber(arg string) bool {
	return arg[1] >= '0' && arg[1] <= '9'
}

func lookup(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func takesValue(flags []cli.Flag, name string) bool {
	f, ok := lookup(flags, name).(cli.DocGenerationFlag)
	return ok && f.TakesValue()
}

func flagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		for _, name := range f.Names() {
			if len(name) == 1 {
				names = append(names, "-"+name)
			} else {
				names = append(names, "--"+name)
			}
		}
	}
	return names
}

// Flags returns the visible flags of every command of app, as "--json" or "-C",
// for a comparison with the manual pages. The keys are names of commands, as
// "log start", and "" is the program itself. The help flag of all commands is
// left out.
func Flags(app *cli.App) map[string][]string {
	flags := map[string][]string{"": flagNames(slices.Concat(app.Flags, commonFlags()))}
	var add func(prefix string, commands []*cli.Command)
	add = func(prefix string, commands []*cli.Command) {
		for _, c := range commands {
			if c.Hidden {
				continue
			}
			flags[prefix+c.Name] = flagNames(c.Flags)
			add(prefix+c.Name+" ", c.Subcommands)
		}
	}
	add("", app.Commands)
	return flags
}
