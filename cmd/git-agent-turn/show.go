package main

import (
	"cmp"
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
	if len(slices.DeleteFunc([]string{"patch", "transcript", "json"}, func(name string) bool { return !c.Bool(name) })) > 1 {
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
	by, err := (&turns.Roll{Workspace: w}).By(c.Context, t)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		return cmdline.PrintLine(c.App.Writer, t, by)
	case c.Bool("transcript"):
		return cmdline.Print(c.App.Writer, func(to io.Writer) error { return turns.WriteTranscript(c.Context, w.Repo, t, to) })
	}
	if err := showTurn(c.App.Writer, t, by); err != nil {
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

func showTurn(to io.Writer, t *turns.Turn, by string) error {
	r := cmdline.NewRecord(to, "turn "+t.ID().String(), 10)
	r.Field("Outcome", string(t.Outcome))
	r.Field("Date", t.At.Local().Format(time.RFC1123Z))
	if !t.Started.IsZero() && t.At.After(t.Started) {
		r.Field("Took", t.At.Sub(t.Started).Round(time.Second).String())
	}
	r.Field("By", by)
	r.Field("Agent", strings.TrimSpace(t.Agent+" "+t.Model))
	r.Field("Session", t.Session)
	r.Field("Commit", t.Code.String())
	r.Field("Base", t.Base.String())
	r.Field("Branch", t.Branch)
	r.Field("Tools", tools(t.Tools))
	if t.Context > 0 {
		r.Field("Context", fmt.Sprintf("%d tokens, %d written", t.Context, t.Output))
	}
	if t.Compactions > 0 {
		r.Field("Compacted", cmdline.Plural(t.Compactions, "time"))
	}
	if t.Transcript != nil && t.Transcript.Missing != "" {
		r.Field("Transcript", "not stored: "+t.Transcript.Missing)
	}
	var skipped []string
	for _, s := range t.Skipped {
		skipped = append(skipped, s.Path+" ("+s.Why+")")
	}
	for _, s := range cmdline.List(skipped) {
		r.Field("Left out", s)
	}
	r.Text("Prompt", t.Prompt)
	r.Text("Reply", t.Reply)
	return r.Flush()
}

func tools(calls map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if n := calls[name]; n > 1 {
			name += fmt.Sprintf(" %d", n)
		}
		list = append(list, name)
	}
	return strings.Join(cmdline.List(list), ", ")
}

func diff(c *cli.Context) error {
	if c.NArg() > 2 {
		return cmdline.Usagef("diff takes two turns at most, not %d", c.NArg())
	}
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	t, err := findTurn(c, w, 0)
	if err != nil {
		return err
	}
	from, to := t.Base, t.Code
	if c.NArg() == 2 {
		second, err := findTurn(c, w, 1)
		if err != nil {
			return err
		}
		from, to = t.Code, second.Code
	}
	format := []string{"--patch"}
	if c.Bool("stat") {
		format = []string{"--stat"}
	}
	return diffTrees(c, w.Repo, from, to, format)
}

// diffTrees prints the diff of two commits in git's words, with the records' numbers. Files of more
// than 32 MB count as binary, and are not read.
func diffTrees(c *cli.Context, repo *git.Repo, from, to git.Hex, format []string) error {
	columns := cmdline.Columns(c.App.Writer)
	for i := range format {
		if columns > 0 && format[i] == "--stat" {
			format[i] = fmt.Sprintf("--stat=%d", columns)
		}
	}
	repo = repo.Wary()
	args := slices.Concat([]string{"-c", "core.bigFileThreshold=32m", "diff", "--no-ext-diff", "--no-textconv", "--no-color"}, git.DiffCounting(), format, []string{from.String(), to.String(), "--"})
	if columns == 0 {
		return repo.Run(c.Context, nil, c.App.Writer, os.Stderr, args...)
	}
	out := cmdline.NewDiff(c.App.Writer)
	err := repo.Run(c.Context, nil, out, os.Stderr, args...)
	return cmp.Or(out.Flush(), err)
}
