package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

func logCommand() *cli.Command {
	return &cli.Command{
		Name:  "log",
		Usage: "list commits, with the turns that contributed to each",
		UsageText: "git agent-turn log [-n <k>] [--since <date>] [--until <date>] [--json]\n" +
			"                   [<range>...] [--] [<path>...]",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "max-count", Aliases: []string{"n"}, Usage: "at most `<k>`", DefaultText: "all"},
			&cli.StringFlag{Name: "since", Aliases: []string{"after"}, Usage: "not older than `<date>`"},
			&cli.StringFlag{Name: "until", Aliases: []string{"before"}, Usage: "not newer than `<date>`"},
			command.JSONFlag(),
		},
		BashComplete: completeRevs,
		Action:       cmdline.WithPaths(command.Paged(logCommits)),
	}
}

func logCommits(c *cli.Context) (err error) {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	args, paths, err := logArgs(c, w.Repo)
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
	return eachRev(c.Context, w.Repo.With(git.Here), append(args, append([]string{"--"}, paths...)...), func(commit object.Hash, short string) error {
		q, content, err := l.h.Of(commit, true)
		if err != nil {
			return err
		}
		q.Many = true
		q.Only = gitdiff.Paths{Dir: ".", Specs: paths}
		sum, err := l.contributions(q, false)
		if err != nil {
			return err
		}
		progress.Stop()
		if c.Bool("json") {
			return l.printJSON(commit, content, sum)
		}
		return l.brief(short, content, sum)
	})
}

// logArgs returns git's arguments for a command line, and its paths.
func logArgs(c *cli.Context, repo *git.Repo) (args, paths []string, err error) {
	most, words := -1, c.Args().Slice()
	if c.IsSet("max-count") {
		most = c.Int("max-count")
	} else if len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' { // git log -5
		if most, err = strconv.Atoi(words[0][1:]); err != nil {
			return nil, nil, cmdline.Usagef("unexpected argument %q", words[0])
		}
		words = words[1:]
	}
	if most < -1 || c.IsSet("max-count") && most < 0 {
		return nil, nil, cmdline.Usagef("%d is no number of commits", most)
	}
	args = []string{fmt.Sprintf("--max-count=%d", most)}
	for _, limit := range [][2]string{{"since", "--max-age"}, {"until", "--min-age"}} {
		if !c.IsSet(limit[0]) {
			continue
		}
		at, err := command.When(c.Context, repo, c.String(limit[0]))
		if err != nil {
			return nil, nil, err
		}
		args = append(args, fmt.Sprintf("%s=%d", limit[1], at.Unix()))
	}
	revs, paths, err := splitRevs(c.Context, repo, words, cmdline.Paths(c))
	if err == nil && len(revs) == 0 {
		var head object.Hash
		head, err = headCommit(c.Context, repo)
		revs = []string{head.String()}
	}
	return append(args, revs...), paths, err
}

func headCommit(ctx context.Context, repo *git.Repo) (object.Hash, error) {
	head, err := repo.Head(ctx)
	if err == nil && head.Commit.IsZero() {
		err = cmdline.NotFoundf("there is no commit yet")
	}
	return head.Commit, err
}

// splitRevs splits words into resolved revs and paths, as git does: a word that
// is no rev is a path if it exists, and so are all words after it.
func splitRevs(ctx context.Context, repo *git.Repo, words, paths []string) (revs, all []string, err error) {
	for i, word := range words {
		found, err := repo.Revs(ctx, word)
		if err == nil {
			revs = append(revs, found...)
			continue
		}
		if !errors.Is(err, git.ErrNotFound) {
			return nil, nil, err
		}
		for _, path := range words[i:] {
			if _, err := os.Lstat(path); err != nil || len(paths) > 0 {
				return nil, nil, cmdline.Hint(cmdline.NotFoundf("%q is neither a commit nor a file", path), "name files that are gone after --")
			}
		}
		return revs, words[i:], nil
	}
	return revs, paths, nil
}

// eachRev calls f with commits and their short names, as `git log` finds them.
func eachRev(ctx context.Context, repo *git.Repo, args []string, f func(commit object.Hash, short string) error) error {
	args = append([]string{"rev-list", "--no-commit-header", "--format=%H %h"}, args...)
	return repo.Split(ctx, nil, '\n', func(line []byte) error {
		long, short, _ := strings.Cut(string(line), " ")
		hash, err := object.ParseHash(long)
		if err == nil {
			err = f(hash, short)
		}
		return err
	}, args...)
}

func completeRevs(c *cli.Context) {
	w, err := command.Workspace(c.Context)
	if err != nil {
		return
	}
	typed := cmdline.Typed(c.Context)
	prefix := ""
	if at := strings.LastIndex(typed, ".."); at >= 0 {
		prefix = typed[:at+2]
	}
	names, _ := w.Repo.Branches(c.Context) // an unreadable one is not proposed
	for _, name := range names {
		cmdline.Propose(c, prefix+name, "")
	}
}
