package cmdline

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// helpWord before a command asks for its manual page, as in git.
const helpWord = "help"

// Group puts commands under a heading of the program's help. Groups come in
// the order in which the program has them.
func Group(heading string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = heading
	}
	return commands
}

// The names of groups, which all programs share.
const (
	LookBack    = "look back"
	GoBack      = "go back"
	GoOn        = "go on"
	Share       = "share"
	KeepInOrder = "keep in order"
)

// Moved is the action of a command that another one has taken over: it says
// how it is called now, and does the same. It is there for one release.
func Moved(now string, action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		WriteMessage(c.App.ErrWriter, c.App.Name+": warning: ", fmt.Sprintf("%s is going away; use this instead: %s", c.Command.Name, now))
		return action(c)
	}
}

// help is the template of a program's help. The library sorts groups by name.
func help(app *cli.App) string {
	width := 0
	for _, c := range app.Commands {
		if !c.Hidden {
			width = max(width, len(c.Name))
		}
	}
	var list strings.Builder
	heading := ""
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		if c.Category != heading {
			heading = c.Category
			fmt.Fprintf(&list, "\n   %s\n", heading)
		}
		fmt.Fprintf(&list, "     %-*s  %s\n", width, c.Name, c.Usage)
	}
	return `NAME:
   {{template "helpNameTemplate" .}}

USAGE:
   {{.HelpName}} [global options] command [command options]{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}

COMMANDS:` + list.String() + `
GLOBAL OPTIONS:{{template "visibleFlagTemplate" .}}

{{.HelpName}} ` + helpWord + ` <command> opens the manual page of a command.
`
}

// manual opens the manual page of what the command line asks for help on, and
// reports whether there is one.
func (l *line) manual(ctx context.Context, app *cli.App, open func(ctx context.Context, page string) bool) bool {
	if !l.whole || open == nil {
		return false
	}
	page := app.Name
	if len(l.levels) > 1 { // the page of a command has those below it
		page += "-" + l.levels[1].name
	}
	return open(ctx, page)
}
