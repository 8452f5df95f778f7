package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/target"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// findTurn returns the turn that the n-th argument names, or the last one without an argument.
func findTurn(c *cli.Context, w *workspace.Workspace, n int) (*turns.Turn, error) {
	return target.Turn(c.Context, w, c.String("mission"), c.Args().Get(n), c.App.ErrWriter)
}

func show(c *cli.Context) error {
	if exclusive(c, "patch", "transcript", "json") > 1 {
		return cmdline.Usagef("--patch, --transcript and --json exclude each other")
	}
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	t, err := findTurn(c, w, 0)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		return writeJSON(c.App.Writer, t)
	case c.Bool("transcript"):
		data, err := turns.Transcript(c.Context, w.Repo, t)
		if err != nil {
			return err
		}
		if cmdline.Columns(c.App.Writer) > 0 {
			data = []byte(cmdline.EscapeLines(string(data)))
		}
		_, err = c.App.Writer.Write(data)
		return err
	}
	if err := showTurn(c.App.Writer, t); err != nil {
		return err
	}
	if t.Base == t.Code {
		return nil
	}
	if _, err := fmt.Fprintln(c.App.Writer); err != nil {
		return err
	}
	format := []string{"--stat"}
	if c.Bool("patch") {
		format = []string{"--stat", "--patch"}
	}
	return diffTrees(c, w.Repo, t.Base, t.Code, format)
}

func exclusive(c *cli.Context, names ...string) int {
	n := 0
	for _, name := range names {
		if c.Bool(name) {
			n++
		}
	}
	return n
}

// showTurn prints the record. All of it may be a stranger's text.
func showTurn(to io.Writer, t *turns.Turn) error {
	w := bufio.NewWriter(to)
	title := cmdline.Plain
	if cmdline.Colour(to) {
		title = cmdline.Yellow
	}
	fmt.Fprintln(w, title.Paint("turn "+t.ID().String()))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name+":", cmdline.OneLine(value))
		}
	}
	field("Outcome", string(t.Outcome))
	field("Date", t.At.Local().Format(time.RFC1123Z))
	if !t.Started.IsZero() && t.At.After(t.Started) {
		field("Took", t.At.Sub(t.Started).Round(time.Second).String())
	}
	field("Agent", strings.TrimSpace(t.Agent+" "+t.Model))
	field("Session", t.Session)
	field("Commit", t.Code.String())
	field("Base", t.Base.String())
	field("Branch", t.Branch)
	field("Tools", tools(t.Tools))
	if t.Context > 0 {
		field("Context", fmt.Sprintf("%d tokens, %d written", t.Context, t.Output))
	}
	if t.Compactions > 0 {
		field("Compacted", cmdline.Plural(t.Compactions, "time"))
	}
	if t.Transcript != nil && t.Transcript.Missing != "" {
		field("Transcript", "not stored: "+t.Transcript.Missing)
	}
	for _, s := range t.Skipped {
		field("Left out", s.Path+" ("+s.Why+")")
	}
	text := func(name, value string) {
		if value == "" {
			return
		}
		fmt.Fprintf(w, "\n%s\n", name)
		for line := range strings.Lines(cmdline.EscapeLines(value)) {
			fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\r\n"))
		}
	}
	text("Prompt", t.Prompt)
	text("Reply", t.Reply)
	return w.Flush()
}

func tools(calls map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if n := calls[name]; n > 1 {
			name += fmt.Sprintf(" %d", n)
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// diffTrees prints the diff of two commits with git's own words and colours, and with the same
// numbers as the records.
func diffTrees(c *cli.Context, repo *git.Repo, from, to git.Hex, format []string) error {
	colour := "--no-color"
	if cmdline.Colour(c.App.Writer) {
		colour = "--color"
	}
	args := slices.Concat([]string{"diff", "--no-ext-diff", "--no-textconv", colour}, git.DiffCounting(), format, []string{from.String(), to.String(), "--"})
	return repo.Run(c.Context, nil, c.App.Writer, os.Stderr, args...)
}
