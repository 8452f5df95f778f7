package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/page"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// pageApp is what git-agent-turn runs for its command page. It is here because
// its Markdown library would slow every start of another program.
func pageApp() *cli.App {
	return command.Guarded(&cli.App{Name: "git-agent-turn", Usage: "write missions as a page to look at", Commands: []*cli.Command{command.PageCommand(writePage)}})
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
	out := c.String("out")
	switch {
	case c.Bool("all") && c.NArg() > 0:
		return cmdline.Usagef("--all takes no missions")
	case c.IsSet("out") && out == "":
		return cmdline.Usagef("--out needs a file")
	case out == "" && !c.Bool("open") && cmdline.IsTerminal(os.Stdout):
		return cmdline.Hint(cmdline.Usagef("a page is not for a terminal"), "look at it with --open, or write it with --out <file>")
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	lines, unread, err := pageMissions(c, w)
	if err != nil {
		return err
	}
	debug.SetGCPercent(100) // there may be many turns, unlike for a fork
	p := &page.Page{Workspace: w, Missions: lines, Without: without, Made: time.Now()}
	if out == "" && !c.Bool("open") || out == "-" {
		written, err := p.Write(c.Context, c.App.Writer)
		if err != nil {
			return err
		}
		return errors.Join(unread, written.Unread)
	}
	var written *page.Written
	if out == "" {
		out, written, err = ownPage(c.Context, p)
	} else {
		written, err = writeFile(c.Context, w.Store, out, func(to io.Writer) (*page.Written, error) { return p.Write(c.Context, to) })
	}
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	fmt.Fprintf(c.App.ErrWriter, "%s: %s with %s\n", cmdline.Escape(out), cmdline.Plural(written.Missions, "mission"), cmdline.Plural(written.Turns, "turn"))
	if w.Repo.Records(c.Context, out) {
		cmdline.Warn(cmdline.Hint(errors.New("the page lies in the worktree, so the next turn would record it"), "put it elsewhere, or ignore it: echo '*.html' >> .gitignore"))
	}
	if c.Bool("open") {
		if err := terminal.Browse(c.Context, out); err != nil {
			return cmdline.Hintf(err, "open it yourself: %s", cmdline.Escape(out))
		}
	}
	return errors.Join(unread, written.Unread)
}

// ownPage writes a page to look at over the one before it, and returns its
// path. A purge removes it, too.
func ownPage(ctx context.Context, p *page.Page) (path string, written *page.Written, err error) {
	dir := p.Workspace.Store.Dir()
	if err := dir.Remove(session.PageFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	f, err := dir.OpenFile(session.PageFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return "", nil, err
	}
	written, err = p.Write(ctx, f)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = dir.Remove(session.PageFile)
	}
	return dir.Path(session.PageFile), written, err
}

// pageMissions returns the named missions, or all, or the current one.
func pageMissions(c *cli.Context, w *workspace.Workspace) (list []turns.MissionLine, unread, err error) {
	tips := make(map[record.ID]object.Hash)
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
				return nil, nil, command.Missing(fmt.Errorf("mission %s: %w", id, err))
			}
		}
	}
	list, err = turns.Lines(c.Context, w.Repo, tips)
	if list == nil && err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, command.NoMission(c.Context, w)
	}
	return list, err, nil
}

func namedMissions(c *cli.Context, w *workspace.Workspace) (ids []record.ID, err error) {
	if c.NArg() == 0 {
		id, err := command.Mission(c.Context, w, "", c.App.ErrWriter)
		if id == "" && err == nil {
			err = command.NoMission(c.Context, w)
		}
		return []record.ID{id}, err
	}
	for _, name := range c.Args().Slice() {
		id, err := command.Named(c.Context, w.Repo, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// abandonedAfter is how long after its last byte a page counts as abandoned. A
// turn takes milliseconds.
const abandonedAfter = time.Hour

// dropAbandoned removes pages that killed processes have left in a directory:
// those of other repositories, and of versions that did not note them.
func dropAbandoned(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), session.Unfinished) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// writeFile writes a private file, whole or not at all; or to a pipe or device.
// What is left of it if the process is killed is noted in the store.
func writeFile(ctx context.Context, store session.Store, name string, write func(io.Writer) (*page.Written, error)) (written *page.Written, err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		written, err = write(f)
		return written, errors.Join(err, f.Close())
	}
	dropAbandoned(filepath.Dir(name))
	if err := store.DropPages(); err != nil {
		return nil, err
	}
	fresh, err := filepath.Abs(filepath.Join(filepath.Dir(name), session.Unfinished+rand.Text()))
	if err != nil {
		return nil, err
	}
	noted, err := store.NotePage(ctx, fresh)
	switch {
	case err == nil:
		defer noted()
	case !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS): // of who may only read here nobody purges anything
		return nil, err
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
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
