// Package cmdlinetest has what the tests of the programs share: their scripts'
// commands, and a comparison of their manual pages with their command lines.
package cmdlinetest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/power"
	"gitagent/test/gittest"
)

// Manual checks that the manual pages of app in dir, in mdoc, describe every
// command and flag of app, and none that app does not have.
//
// The program has a page, which lists its commands in COMMANDS, and each
// command has one: that of "git agent-turn list" is git-agent-turn-list.1.
// Flags are items of OPTIONS, ".It Fl -json". A command within another one is
// a subsection of COMMANDS, ".Ss log start", with its flags. Of the help flag,
// which is everywhere, only the program's page speaks.
//
// Every command also has a line in SYNOPSIS, ".Nm git agent-turn list", and an
// example, ".Dl $ git agent-turn list". What is quoted in an example has
// single quotes.
func Manual(t *testing.T, app *cli.App, dir string) {
	t.Helper()
	flags := cmdline.Flags(app)
	flags[""] = append(flags[""], "-h", "--help")
	name := func(command string) string {
		return strings.Replace(strings.TrimSpace(app.Name+" "+command), " ", "-", 1) + ".1"
	}
	pages := map[string]bool{}
	for _, command := range slices.Sorted(maps.Keys(flags)) {
		if strings.Contains(command, " ") { // it is on the page of the one above it
			continue
		}
		pages[name(command)] = true
		text, err := os.ReadFile(filepath.Join(dir, name(command)))
		if err != nil {
			t.Error(err)
			continue
		}
		page, own := string(text), maps.Clone(flags)
		maps.DeleteFunc(own, func(c string, _ []string) bool {
			return c != command && (command == "" || !strings.HasPrefix(c, command+" "))
		})
		about := app.Usage
		if c := app.Command(command); c != nil {
			about = c.Usage
		}
		problems := slices.Concat(
			compare(described(page, command), own),
			unshown(page, strings.TrimPrefix(app.Name, "git-"), slices.Sorted(maps.Keys(own))),
			unquoted(page),
		)
		if head := ".Nm " + strings.TrimSuffix(name(command), ".1") + "\n.Nd " + about + "\n"; !strings.Contains(page, head) {
			problems = append(problems, fmt.Sprintf("does not begin with %q", head))
		}
		if list := listed(app); command == "" && !strings.Contains(page, list) {
			problems = append(problems, "does not list the commands in their groups:\n"+list)
		}
		for _, problem := range problems {
			t.Errorf("%s: %s", name(command), problem)
		}
	}
	all, err := filepath.Glob(filepath.Join(dir, app.Name+"*.1"))
	gittest.Must(t, err)
	for _, path := range all {
		if !pages[filepath.Base(path)] {
			t.Errorf("%s is about no command", path)
		}
	}
}

// listed is the section in which the page of a program lists its commands.
func listed(app *cli.App) string {
	var b strings.Builder
	b.WriteString(".Sh COMMANDS\n")
	group := ""
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		if c.Category != group {
			if group != "" {
				b.WriteString(".El\n")
			}
			group = c.Category
			b.WriteString(".Ss " + strings.ToUpper(group[:1]) + group[1:] + "\n.Bl -tag -width Ds\n")
		}
		fmt.Fprintf(&b, ".It Xr %s-%s 1\n%s\n", app.Name, c.Name, c.Usage)
	}
	b.WriteString(".El\n")
	return b.String()
}

// unshown lists the commands of which a page lacks the synopsis or an example.
func unshown(page, program string, commands []string) []string {
	var problems []string
	for _, command := range commands {
		name := regexp.QuoteMeta(strings.TrimSpace(program + " " + command))
		if !regexp.MustCompile(`(?m)^\.Nm git ` + name + `( |$)`).MatchString(page) {
			problems = append(problems, fmt.Sprintf("lacks a synopsis of the command %q", command))
		}
		if !regexp.MustCompile(`(?m)^\.Dl .*\b` + name + `( |$)`).MatchString(page) {
			problems = append(problems, fmt.Sprintf("lacks an example of the command %q", command))
		}
	}
	return problems
}

// unquoted lists the examples that lose their quotes: mdoc reads them as its own, the shell never sees them.
func unquoted(page string) []string {
	var problems []string
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, ".Dl ") && strings.Contains(line, `"`) {
			problems = append(problems, fmt.Sprintf("shows %q without its quotes", strings.TrimSpace(line)))
		}
	}
	return problems
}

// described returns the flags that the page of a command describes, by command.
func described(page, command string) map[string][]string {
	flags := map[string][]string{command: nil}
	section, at := "", command
	for line := range strings.Lines(page) {
		macro, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case macro == ".Sh":
			section, at = rest, command
		case macro == ".Ss" && section == "COMMANDS" && command != "":
			at = rest
			flags[at] = nil
		case macro == ".It" && (section == "OPTIONS" || at != command):
			words := strings.Fields(rest)
			for i, word := range words[:max(len(words)-1, 0)] {
				if word == "Fl" {
					flags[at] = append(flags[at], "-"+words[i+1])
				}
			}
		}
	}
	return flags
}

// compare lists what the page lacks and what it has too much, in a stable order.
func compare(page, app map[string][]string) []string {
	var problems []string
	for _, command := range slices.Sorted(maps.Keys(app)) {
		if _, ok := page[command]; !ok {
			problems = append(problems, fmt.Sprintf("lacks the command %q", command))
			continue
		}
		for _, flag := range app[command] {
			if !slices.Contains(page[command], flag) {
				problems = append(problems, fmt.Sprintf("lacks %q of the command %q", flag, command))
			}
		}
		for _, flag := range page[command] {
			if !slices.Contains(app[command], flag) {
				problems = append(problems, fmt.Sprintf("has %q, which the command %q has not", flag, command))
			}
		}
	}
	for _, command := range slices.Sorted(maps.Keys(page)) {
		if _, ok := app[command]; !ok {
			problems = append(problems, fmt.Sprintf("has the command %q, which is not there", command))
		}
	}
	return problems
}

// Powers checks that every command of app is in the table of powers.
func Powers(t *testing.T, app *cli.App) {
	t.Helper()
	var walk func(name string, commands []*cli.Command)
	walk = func(name string, commands []*cli.Command) {
		if _, ok := power.Commands()[name]; !ok {
			t.Errorf("git %s is in no table of powers", name)
		}
		for _, c := range commands {
			walk(name+" "+c.Name, c.Subcommands)
		}
	}
	program := strings.TrimPrefix(app.Name, "git-")
	if app.Action == nil { // it is none without a command
		for _, c := range app.Commands {
			walk(program+" "+c.Name, c.Subcommands)
		}
		return
	}
	walk(program, app.Commands)
}
