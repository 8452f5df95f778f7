package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
)

func show(c *cli.Context) error {
	var only []string
	for _, name := range []string{"document", "patch", "terminal", "json"} {
		if c.Bool(name) {
			only = append(only, name)
		}
	}
	if len(only) > 1 {
		return cmdline.Usagef("--%s and --%s exclude each other", only[0], only[1])
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	f, err := find(c, s)
	if err != nil {
		return err
	}
	defer f.Close()
	trusted, err := s.Trusted(c.Context, f)
	if err == nil && !trusted {
		err = s.Shown(f)
	}
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		return writeJSON(c.App.Writer, f.Handoff)
	case len(only) > 0:
		return showFile(c, f, only[0])
	}
	if err := showHandoff(c.App.Writer, f); err != nil {
		return err
	}
	if !trusted {
		fmt.Fprintf(c.App.ErrWriter, "another committer made it: no agent is told before git agent-handoff accept %s\n", f.ID())
	}
	return nil
}

// showFile prints one of a handoff's files, unchanged unless that goes to a terminal.
func showFile(c *cli.Context, f *handoffstore.Found, what string) error {
	read := map[string]func() ([]byte, error){"document": f.Document, "patch": f.Patch, "terminal": f.Terminal}[what]
	data, err := read()
	if err != nil {
		return err
	}
	if data == nil {
		return cmdline.NotFoundf("handoff %s has no %s", f.ID(), what)
	}
	if cmdline.Columns(c.App.Writer) > 0 {
		data = []byte(cmdline.EscapeLines(string(data)))
	}
	_, err = c.App.Writer.Write(data)
	return err
}

func writeJSON(w io.Writer, h *handoffstore.Handoff) error {
	line, err := h.Line()
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", line)
	}
	return err
}

// showHandoff prints record and document. All of it may be a stranger's text.
func showHandoff(to io.Writer, f *handoffstore.Found) error {
	document, err := f.Document()
	if err != nil {
		return err
	}
	h := f.Handoff
	w := bufio.NewWriter(to)
	title := cmdline.Plain
	if cmdline.Colour(to) {
		title = cmdline.Yellow
	}
	fmt.Fprintln(w, title.Paint("handoff "+h.ID().String()))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-11s %s\n", name+":", cmdline.OneLine(value))
		}
	}
	field("Exit", string(h.ExitType))
	field("Date", h.At.Local().Format(time.RFC1123Z))
	field("Agent", h.Agent)
	field("Session", h.Session)
	field("Made", h.When())
	field("Commit", strings.TrimSpace(h.Head.String()+" "+h.Branch))
	if h.Stash != (git.Hex{}) {
		field("Uncommitted", fmt.Sprintf("%s, kept as %s", cmdline.Plural(h.Files, "file"), h.Stash))
	}
	if !h.Written.IsZero() {
		field("Written", h.Written.Local().Format(time.RFC1123Z))
	}
	field("Document", h.Source)
	field("Log", h.Log)
	if h.Terminal != "" {
		field("Terminal", "git agent-handoff show "+h.ID().String()+" --terminal")
	}
	field("Cut", strings.Join(h.Truncated, ", "))
	for _, s := range h.Skipped {
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
	text("Document", string(document))
	text("Summary", h.Summary)
	text("Open questions", strings.Join(h.Questions, "\n"))
	var todos []string
	for _, t := range h.Todos {
		todos = append(todos, t.Status+": "+t.Text)
	}
	text("Todos", strings.Join(todos, "\n"))
	text("Last prompt", h.LastPrompt)
	var commits []string
	for _, c := range h.Commits {
		commits = append(commits, fmt.Sprintf("%.10s %s", c.Hash, c.Subject))
	}
	text("Recent commits", strings.Join(commits, "\n"))
	diff := h.Diff
	if slices.Contains(h.Truncated, "uncommitted_changes") {
		diff += "... (--patch shows more)\n"
	}
	text("Uncommitted changes", diff)
	return w.Flush()
}
