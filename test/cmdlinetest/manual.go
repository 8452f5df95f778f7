// Package cmdlinetest checks that a program's manual page and its command line say the same.
package cmdlinetest

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
)

// Manual checks that the mdoc source at path describes every command and flag of app,
// and none that app does not have.
//
// A command is a subsection of COMMANDS, ".Ss list", and a flag an item of its list,
// ".It Fl -json"; the program's own flags are items of OPTIONS.
// Of the help flag, which is everywhere, only OPTIONS speaks.
//
// Every command also has a synopsis there, ".D1 Nm git agent-turn list", and an example, ".Dl $ git
// agent-turn list", there or in EXAMPLES. What is quoted in an example has single quotes.
func Manual(t *testing.T, app *cli.App, path string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flags := cmdline.Flags(app)
	name := strings.TrimPrefix(app.Name, "git-")
	for _, problem := range slices.Concat(
		compare(described(string(page)), flags), unshown(string(page), name, slices.Sorted(maps.Keys(flags))), unquoted(string(page)),
	) {
		t.Errorf("%s: %s", path, problem)
	}
}

// unshown lists the commands of which a page lacks the synopsis or an example. The program itself, "",
// has its synopsis in a section of its own.
func unshown(page, program string, commands []string) []string {
	var problems []string
	for _, command := range commands {
		name := regexp.QuoteMeta(strings.TrimSpace(program + " " + command))
		if command != "" && !regexp.MustCompile(`(?m)^\.D1 Nm git `+name+`( |$)`).MatchString(page) {
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

// described returns the flags that a page describes, by command.
func described(page string) map[string][]string {
	flags := map[string][]string{}
	section, command := "", ""
	for line := range strings.Lines(page) {
		macro, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case macro == ".Sh":
			section, command = rest, ""
			if section == "OPTIONS" {
				flags[""] = nil
			}
		case macro == ".Ss" && section == "COMMANDS":
			command = rest
			flags[command] = nil
		case macro == ".It" && (section == "OPTIONS" || section == "COMMANDS" && command != ""):
			words := strings.Fields(rest)
			for i, word := range words[:max(len(words)-1, 0)] {
				if word == "Fl" {
					flags[command] = append(flags[command], "-"+words[i+1])
				}
			}
		}
	}
	return flags
}

// compare lists what the page lacks and what it has too much, in a stable order.
func compare(page, app map[string][]string) []string {
	app = maps.Clone(app)
	app[""] = append(slices.Clone(app[""]), "-h", "--help")
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
