package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/gitnotes"
	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/export"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/workspace"
)

const (
	agentTrace = "agent-trace"
	gitAI      = "git-ai"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "print whose the lines of commits are, in a format of other tools",
		UsageText: "git agent-turn export --format (agent-trace | git-ai) [--no-prompts] [<range>]",
		Flags: []cli.Flag{
			cmdline.OneOf(&cli.StringFlag{Name: "format", Usage: "the `<format>`: agent-trace or git-ai"}, agentTrace, gitAI),
			&cli.BoolFlag{Name: "no-prompts", Usage: "without what the agents were asked"},
		},
		BashComplete: command.First(completeRevs),
		Action:       command.Paged(cmdline.OptionalArg("range", exportRange)),
	}
}

func exportRange(c *cli.Context) (err error) {
	format := c.String("format")
	switch format {
	case agentTrace, gitAI:
	case "":
		return cmdline.Hintf(cmdline.Usagef("which format?"), "name one, as in: git agent-turn export --format %s HEAD", agentTrace)
	default:
		return cmdline.Usagef("--format %q: it is one of %s, %s", format, agentTrace, gitAI)
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	commits, err := exported(c, w.Repo, format)
	if err != nil {
		return err
	}
	h, err := blame.Open(c.Context, w)
	if err != nil {
		return err
	}
	defer h.Close()
	e := &exporter{c: c, w: w, history: h}
	if format == gitAI {
		err = e.notes(commits)
	} else {
		err = e.traces(commits)
	}
	if err != nil {
		return err
	}
	e.rest(len(commits))
	return h.Unread
}

// exported returns the commits of a range, parents first. The default range is
// what HEAD has and the branch that it will be merged into has not.
func exported(c *cli.Context, repo *git.Repo, format string) ([]object.Hash, error) {
	text := c.Args().First()
	if text == "" {
		if _, err := headCommit(c.Context, repo); err != nil {
			return nil, err
		}
		base, err := likelyBase(c, repo)
		if err != nil {
			return nil, err
		}
		if base == "" {
			return nil, cmdline.Hintf(errNoBase, "for all that HEAD has: git agent-turn export --format %s HEAD", format)
		}
		text = base + "..HEAD"
	}
	revs, err := repo.Revs(c.Context, text)
	if errors.Is(err, git.ErrNotFound) {
		if _, err := repo.Head(c.Context); git.Lost(err) {
			return nil, err
		}
		return nil, cmdline.Hintf(cmdline.NotFoundf("%q is neither a commit nor a range of commits", text),
			"for all that HEAD has: git agent-turn export --format %s HEAD", format)
	}
	if err != nil {
		return nil, err
	}
	commits, err := reachableFrom(c.Context, repo, revs)
	if err == nil && len(commits) == 0 {
		err = cmdline.Hintf(cmdline.NotFoundf("no commit in %s", text), "for all that HEAD has: git agent-turn export --format %s HEAD", format)
	}
	return commits, err
}

func reachableFrom(ctx context.Context, repo *git.Repo, revs []string) (commits []object.Hash, err error) {
	out, err := repo.Output(ctx, nil, append(append([]string{"rev-list", "--reverse", "--topo-order"}, revs...), "--")...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		hash, err := object.ParseHash(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		commits = append(commits, hash)
	}
	return commits, nil
}

type exporter struct {
	c       *cli.Context
	w       *workspace.Workspace
	history *blame.History

	progress *cmdline.Progress
	printed  int // commits
	noted    int // commits that had a note already
	ends     int // commits where a shallow clone ends
	slow     []string
	odd      []string // paths that the format can't hold
}

func (e *exporter) traces(commits []object.Hash) error {
	return e.each(commits, func(commit export.CommitShare) error {
		trace, left, err := export.NewTrace(commit, !e.c.Bool("no-prompts"))
		e.odd = appendMissing(e.odd, left)
		if err != nil || trace == nil {
			return err
		}
		e.printed++
		e.progress.Stop()
		return cmdline.PrintJSON(e.c.App.Writer, trace)
	})
}

// notes prints notes of the Git AI Standard as input for `git fast-import`.
func (e *exporter) notes(commits []object.Hash) error {
	refs, err := e.w.Repo.Refs(e.c.Context, export.NotesRef)
	if err != nil {
		return err
	}
	tip := refs[export.NotesRef]
	objects := e.w.Repo.Objects(e.c.Context)
	defer objects.Close()
	there, err := gitnotes.Open(objects, tip)
	if err != nil {
		return err
	}
	var wanted []object.Hash
	for _, commit := range commits {
		switch _, err := there.Get(commit); {
		case err == nil:
			e.noted++
		case errors.Is(err, gitnotes.ErrNotFound):
			wanted = append(wanted, commit)
		default:
			return err
		}
	}
	var notes []export.Noted
	var last time.Time
	err = e.each(wanted, func(commit export.CommitShare) error {
		note, left, err := export.Note(commit)
		e.odd = appendMissing(e.odd, left)
		if err == nil && note != nil {
			notes = append(notes, export.Noted{Commit: commit.Hash, Note: note})
			if commit.At.After(last) {
				last = commit.At
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	e.printed = len(notes)
	conf, err := e.w.Repo.Config(e.c.Context)
	if err != nil {
		return err
	}
	stream := export.Stream(tip, conf.Committer(last), notes)
	if cmdline.Columns(e.c.App.Writer) > 0 {
		stream = []byte(cmdline.EscapeLines(string(stream)))
	}
	_, err = e.c.App.Writer.Write(stream)
	return err
}

// each calls f with each commit and the turns' shares in it.
func (e *exporter) each(commits []object.Hash, f func(export.CommitShare) error) error {
	objects := e.w.Repo.Objects(e.c.Context)
	defer objects.Close()
	var looked atomic.Int64
	e.progress = cmdline.StartProgress(e.c.App.ErrWriter, func() string {
		return fmt.Sprintf("looking at commit %d of %d", looked.Load(), len(commits))
	})
	defer e.progress.Stop()
	for _, hash := range commits {
		looked.Add(1)
		files, err := e.history.Added(e.c.Context, hash)
		if errors.Is(err, blame.ErrEnd) {
			e.ends++
			continue
		}
		if err != nil {
			return err
		}
		for _, file := range files {
			if file.Err != nil {
				e.slow = append(e.slow, file.Path)
			}
		}
		if len(files) == 0 {
			continue
		}
		commit, err := objects.Commit(hash)
		if err != nil {
			return err
		}
		if err := f(export.CommitShare{Hash: hash, At: commit.Committer.When, Files: files}); err != nil {
			return err
		}
	}
	return nil
}

// rest reports what was left out.
func (e *exporter) rest(commits int) {
	tell := func(format string, args ...any) {
		cmdline.WriteMessage(e.c.App.ErrWriter, "", fmt.Sprintf(format, args...))
	}
	if e.printed == 0 && e.noted < commits {
		tell("no turn is known to have written a line of %s", cmdline.Plural(commits-e.noted, "commit"))
	}
	if e.noted > 0 {
		tell("left out %s with a note under %s already", cmdline.Plural(e.noted, "commit"), export.NotesRef)
	}
	if e.ends > 0 {
		tell("left out %s at the end of this shallow clone; for the history before: git fetch --unshallow", cmdline.Plural(e.ends, "commit"))
	}
	for _, path := range e.odd {
		tell("left out %s: the format can't hold its name", cmdline.Escape(path))
	}
	for _, path := range e.slow {
		tell("left out %s: %v", cmdline.Escape(path), blame.ErrTimeout)
	}
	tellUntrusted(e.c, e.history.Untrusted)
}

func appendMissing(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
