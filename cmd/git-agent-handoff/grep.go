package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/vt"
)

func grep(c *cli.Context) error {
	expr := c.Args().First()
	if c.Bool("ignore-case") {
		expr = "(?i)" + expr
	}
	pattern, err := regexp.Compile(expr)
	if err != nil {
		return cmdline.Usagef("pattern %q: %w", c.Args().First(), err)
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	id, err := mission(c, s)
	if err != nil {
		return err
	}
	f, err := handoffstore.Find(c.Context, s.Repo, id, c.String("handoff"))
	if err != nil {
		return cmdline.Hint(err, "list the handoffs with: git agent-handoff list --all")
	}
	defer f.Close()
	if err := command.Readable(c.Context, s.Workspace, f.In); err != nil {
		return err
	}
	out := bufio.NewWriter(c.App.Writer)
	matches := 0
	found := func(m handoffstore.Match) error {
		matches++
		_, err := fmt.Fprintf(out, "%s:%d:%s\n", cmdline.Escape(m.File), m.Line, cmdline.Escape(m.Text))
		return err
	}
	if err := search(c, s, f, pattern, found); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if matches == 0 {
		err := cmdline.NotFoundf("nothing in handoff %s matches %q", f.ID(), c.Args().First())
		return cmdline.Hint(err, "what was said in turns is searched by: git agent-turn search <words>")
	}
	return nil
}

// search searches a handoff's files and log, but not what turns said.
func search(c *cli.Context, s *handoffstore.Store, f *handoffstore.Found, pattern *regexp.Regexp, found func(handoffstore.Match) error) error {
	for _, part := range []struct {
		name string
		read func() ([]byte, error)
	}{{"document", f.Document}, {"terminal", f.Terminal}, {"patch", f.Patch}, {"record", func() ([]byte, error) { return []byte(f.Prose()), nil }}} {
		data, err := part.read()
		if err == nil {
			err = handoffstore.Scan(bytes.NewReader(data), part.name, pattern, found)
		}
		if err != nil {
			return err
		}
	}
	return searchLog(c, s, f, pattern, found)
}

// searchLog searches the terminal's log, if this user made the handoff here.
func searchLog(c *cli.Context, s *handoffstore.Store, f *handoffstore.Found, pattern *regexp.Regexp, found func(handoffstore.Match) error) error {
	name, err := s.LogOf(c.Context, f)
	if err != nil || name == "" {
		return err
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-handoff: warning: the log %s is not here\n", cmdline.Escape(name))
		return nil
	}
	log, err := os.Open(name)
	if err != nil {
		return err
	}
	defer log.Close()
	text, rendered := io.Pipe() // search what the terminal showed, not what was sent to it
	go func() { rendered.CloseWithError(vt.Render(rendered, log)) }()
	defer text.Close()
	return handoffstore.Scan(text, name, pattern, found)
}
