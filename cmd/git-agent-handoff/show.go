package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git/object"
	"gitagent/turns"
)

func show(c *cli.Context) error {
	only := slices.DeleteFunc([]string{"document", "patch", "terminal", "conversation", "json"}, func(name string) bool { return !c.Bool(name) })
	switch {
	case len(only) > 1:
		return cmdline.Usagef("--%s and --%s exclude each other", only[0], only[1])
	case c.Bool("full") && !c.Bool("conversation"):
		return cmdline.Usagef("--full is about --conversation")
	}
	s, f, err := find(c)
	if err != nil {
		return err
	}
	defer f.Close()
	by, err := s.By(c.Context, f)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		return cmdline.PrintLine(c.App.Writer, f.Handoff, by)
	case c.Bool("conversation"):
		return showConversation(c, s, f)
	case len(only) > 0:
		return showFile(c, f, only[0])
	}
	dates, err := command.Dates(c, s.Workspace)
	if err != nil {
		return err
	}
	now := time.Now()
	if err := showHandoff(c.App.Writer, f, by, func(at time.Time) string { return dates.Long(now, at) }); err != nil {
		return err
	}
	if ok, err := s.Trusted(c.Context, f); err != nil || ok {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "no agent is told of it before you accept it: git agent-turn trust accept %s\n", f.In)
	return nil
}

// showConversation prints the session's conversation up to the handoff.
func showConversation(c *cli.Context, s *handoffstore.Store, f *handoffstore.Found) error {
	if f.LastTurn == 0 {
		return cmdline.NotFoundf("handoff %s has no conversation: no turn came before it", f.ID())
	}
	t, err := turns.Read(c.Context, s.Repo, f.In, f.LastTurn)
	if err != nil {
		return err
	}
	numbers, unread := turns.Linked(c.Context, s.Repo, t)
	return cmp.Or(command.PrintConversation(c, s.Workspace, f.In, numbers, c.Bool("full")), unread)
}

// showFile prints a handoff's file, unchanged unless on a terminal.
func showFile(c *cli.Context, f *handoffstore.Found, what string) error {
	read := map[string]func() ([]byte, error){"document": f.Document, "patch": f.Patch, "terminal": f.Terminal}[what]
	data, err := read()
	if err != nil {
		return err
	}
	if data == nil {
		return cmdline.NotFoundf("handoff %s has no %s", f.ID(), what)
	}
	if what == "patch" && cmdline.Columns(c.App.Writer) > 0 {
		d := cmdline.NewDiff(c.App.Writer)
		_, err := d.Write(data)
		return cmp.Or(err, d.Flush())
	}
	return cmdline.Print(c.App.Writer, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func showHandoff(to io.Writer, f *handoffstore.Found, by string, date func(time.Time) string) error {
	document, err := f.Document()
	if err != nil {
		return err
	}
	h := f.Handoff
	r := cmdline.NewRecord(to, "handoff "+h.ID().String(), len("Uncommitted:"))
	r.Field("Exit", string(h.ExitType))
	r.Field("Date", date(h.At))
	r.Field("By", by)
	r.Field("Agent", h.Agent)
	r.Field("Session", h.Session)
	r.Field("Made", h.When())
	r.Field("Commit", strings.TrimSpace(h.Head.String()+" "+h.Branch))
	if h.Stash != (object.Hash{}) {
		r.Field("Uncommitted", fmt.Sprintf("%s, kept as %s", cmdline.Plural(h.Files, "file"), h.Stash))
	}
	r.Field("Written", date(h.Written))
	r.Field("Document", h.Source)
	r.Field("Log", h.Log)
	if h.Terminal != "" {
		r.Field("Terminal", "git agent-handoff show "+h.ID().String()+" --terminal")
	}
	r.Field("Cut", strings.Join(cmdline.List(h.Truncated), ", "))
	var skipped []string
	for _, s := range h.Skipped {
		skipped = append(skipped, s.Path+" ("+s.Why+")")
	}
	for _, s := range cmdline.List(skipped) {
		r.Field("Left out", s)
	}
	r.Text("Document", string(document))
	r.Text("Summary", h.Summary)
	r.Text("Open questions", strings.Join(cmdline.List(h.Questions), "\n"))
	var todos []string
	for _, t := range h.Todos {
		todos = append(todos, t.Status+": "+t.Text)
	}
	r.Text("Todos", strings.Join(cmdline.List(todos), "\n"))
	r.Text("Last prompt", h.LastPrompt)
	var commits []string
	for _, c := range h.Commits {
		commits = append(commits, fmt.Sprintf("%.10s %s", c.Hash, c.Subject))
	}
	r.Text("Recent commits", strings.Join(cmdline.List(commits), "\n"))
	diff := h.Diff
	if slices.Contains(h.Truncated, "uncommitted_changes") {
		diff += "... (--patch shows more)\n"
	}
	r.Verbatim("Uncommitted changes", diff)
	return r.Flush()
}
