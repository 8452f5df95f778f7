package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/page"
	"gitagent/internal/target"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// pageApp is what git-agent-turn runs for its command page: here, as no other program should pay for the library that reads
// Markdown at every start.
func pageApp() *cli.App {
	return &cli.App{Name: "git-agent-turn", Usage: "write missions as a page to look at", Commands: []*cli.Command{target.PageCommand(writePage)}}
}

func writePage(c *cli.Context) error {
	var without []page.Part
	for _, word := range c.StringSlice("without") {
		part := page.Part(word)
		if !slices.Contains(page.Parts, part) {
			return cmdline.Usagef("--without takes transcript, code or results, not %q", word)
		}
		without = append(without, part)
	}
	if c.Bool("all") && c.NArg() > 0 {
		return cmdline.Usagef("--all takes no missions")
	}
	w, err := target.Workspace(c.Context)
	if err != nil {
		return err
	}
	lines, unread, err := pageMissions(c, w)
	if err != nil {
		return err
	}
	p := &page.Page{Workspace: w, Missions: lines, Without: without, Made: time.Now()}
	out := c.String("out")
	if out == "" {
		if cmdline.IsTerminal(os.Stdout) {
			return cmdline.Usagef("page writes a file: name it with --out <file>, or look at it with --open")
		}
		_, err := p.Write(c.Context, c.App.Writer)
		return err
	}
	written, err := writeFile(out, func(to io.Writer) (*page.Written, error) { return p.Write(c.Context, to) })
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "%s: %s with %s\n", cmdline.Escape(out), cmdline.Plural(written.Missions, "mission"), cmdline.Plural(written.Turns, "turn"))
	if unread != nil {
		return unread
	}
	return written.Unread
}

// pageMissions are the missions that are named, or all, or the one that the command works on.
func pageMissions(c *cli.Context, w *workspace.Workspace) (list []turns.Line, unread, err error) {
	tips := make(map[ledger.ID]plumbing.Hash)
	if c.Bool("all") {
		if tips, unread = ledger.List(c.Context, w.Repo); tips == nil {
			return nil, nil, unread
		}
	} else {
		ids, err := namedMissions(c, w)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range ids {
			if tips[id], err = ledger.Tip(c.Context, w.Repo, id); err != nil {
				return nil, nil, target.Missing(err)
			}
		}
	}
	list, err = turns.Lines(c.Context, w.Repo, tips)
	if list == nil && err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, target.NoMission(c.Context, w)
	}
	return list, err, nil
}

func namedMissions(c *cli.Context, w *workspace.Workspace) (ids []ledger.ID, err error) {
	if c.NArg() == 0 {
		id, err := target.Mission(c.Context, w, "", c.App.ErrWriter)
		if id == "" && err == nil {
			err = target.NoMission(c.Context, w)
		}
		return []ledger.ID{id}, err
	}
	for _, name := range c.Args().Slice() {
		id, err := target.Named(c.Context, w.Repo, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// writeFile writes a file that only its owner can read, whole or not at all.
func writeFile(name string, write func(io.Writer) (*page.Written, error)) (written *page.Written, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".page-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if written, err = write(f); err != nil {
		return nil, err
	}
	if err = f.Close(); err != nil {
		return nil, err
	}
	return written, os.Rename(f.Name(), name)
}
