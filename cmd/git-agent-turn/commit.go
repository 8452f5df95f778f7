package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// maxTrailed bounds the list of turns that only a commit's trailers name.
const maxTrailed = 20

// listed returns the turns that the commit has something of and the first named
// ones of those that it only names, and how many were left out.
func listed(sum *blame.Contributions, named int) (list []*blame.Contribution, more int) {
	for _, t := range sum.Turns {
		if t.Files == 0 {
			if named--; named < 0 {
				more++
				continue
			}
		}
		list = append(list, t)
	}
	return list, more
}

func alsoNamed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s named by trailers alone, with --full they are listed", cmdline.Plural(n, "more turn"))
}

// ofUser returns the user's commit of a name, or zero for a mission's state.
func ofUser(c *cli.Context, w *workspace.Workspace, name string) (object.Hash, error) {
	if strings.Contains(name, "..") || c.IsSet("mission") || !turns.OfCommit(c.Context, w, name) {
		return object.Hash{}, nil
	}
	commit, err := w.Repo.Resolve(c.Context, name)
	if errors.Is(err, git.ErrNotFound) {
		return object.Hash{}, nil
	}
	if err != nil {
		return object.Hash{}, err
	}
	objects := w.Repo.Objects(c.Context)
	defer objects.Close()
	content, err := objects.Commit(commit)
	if err != nil {
		return object.Hash{}, err
	}
	id, ok := ledger.ReadCodeMessage(content.Message)
	if !ok || id.Turn == 0 && len(ledger.ReadTrailers(content.Message)) > 0 {
		return commit, nil
	}
	state, err := turns.Find(c.Context, w, "", commit.String())
	switch ended := err == nil && state.Ended(); {
	case errors.Is(err, git.ErrNotFound):
		return commit, nil
	case err != nil:
		return object.Hash{}, err
	case ended && (id.Turn == 0 || state.At.Unix() != content.Committer.When.Unix()), !ended && id.Turn != 0:
		return commit, nil // the user's, made from another one
	}
	return object.Hash{}, nil
}

// showCommit shows a commit of the user, and the turns that contributed to it.
func showCommit(c *cli.Context, w *workspace.Workspace, name string, commit object.Hash) (err error) {
	for _, flag := range []string{"conversation", "transcript"} {
		if c.Bool(flag) {
			return cmdline.Hintf(cmdline.Usagef("--%s is about a turn, and %q is a commit", flag, name), "list its turns with: git agent-turn show %.12s", commit)
		}
	}
	dates, err := command.Dates(c, w)
	if err != nil {
		return err
	}
	l, err := newLander(c, w)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, l.close()) }()
	progress := l.progress()
	defer progress.Stop()
	q, content, err := l.h.Of(commit, false)
	if err != nil {
		return err
	}
	sum, err := l.contributions(q, c.Bool("full"))
	progress.Stop()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return l.printJSON(commit, content, sum)
	}
	r := cmdline.NewRecord(c.App.Writer, "commit "+commit.String(), len("Subject:"))
	r.Field("Author", content.Author.Name+" <"+content.Author.Email+">")
	r.Field("Date", dates.Long(time.Now(), content.Author.When))
	r.Field("Subject", subjectOf(content))
	if n := len(content.Parents); n > 1 {
		r.Field("Merge", fmt.Sprintf("of %s; what it brought to the first one", cmdline.Plural(n, "commit")))
	}
	r.Line("")
	r.Line(counted(sum))
	if err := r.Flush(); err != nil {
		return err
	}
	most := maxTrailed
	if c.Bool("full") {
		most = len(sum.Turns)
	}
	list, more := listed(sum, most)
	if len(list) > 0 {
		if err := l.table(c.App.Writer, list, sum.Hand, "", true); err != nil {
			return err
		}
	}
	for _, text := range []string{alsoNamed(more), unseen(sum)} {
		if text != "" {
			if _, err := fmt.Fprintln(c.App.Writer, text); err != nil {
				return err
			}
		}
	}
	if !c.Bool("patch") || sum.Files == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(c.App.Writer); err != nil {
		return err
	}
	return diffTrees(c, w.Repo, w.Repo.Format().OrEmpty(q.Base), commit, []string{"--patch"})
}
