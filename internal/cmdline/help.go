package cmdline

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

const helpWord = "help"

// Group puts commands under a heading of the help. Groups keep their order.
func Group(heading string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = heading
	}
	return commands
}

// The headings of groups, in all programs.
const (
	LookBack    = "look back"
	GoBack      = "go back"
	GoOn        = "go on"
	Share       = "share"
	KeepInOrder = "keep in order"
)

// Moved returns the action of a command under its old name, which first warns
// with the new one. It stays for one release.
func Moved(now string, action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		WriteMessage(c.App.ErrWriter, c.App.Name+": warning: ", fmt.Sprintf("%s is going away; use this instead: %s", c.Command.Name, now))
		return action(c)
	}
}

// help returns the template of a program's help. The library would sort groups.
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

// manual opens the manual page for the command line, and reports if it exists.
func (l *line) manual(ctx context.Context, app *cli.App, open func(ctx context.Context, page string) bool) bool {
	if !l.whole || open == nil {
		return false
	}
	page := app.Name
	if len(l.levels) > 1 { // a command's page includes its subcommands
		page += "-" + l.levels[1].name
	}
	return open(ctx, page)
}
