package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/current"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/remote"
	"gitagent/internal/session"
)

func pushCommand() *cli.Command {
	return &cli.Command{
		Name:      "push",
		Usage:     "send missions to a remote",
		ArgsUsage: "[<remote>]",
		UsageText: "git agent-turn push [--mission <id>] [<remote>]",
		Description: "Sends what the remote lacks, of every mission or of one, to a remote that was named with " +
			"git agent-turn init --push <remote>; without an argument to every such remote.",
		Flags: []cli.Flag{
			missionFlag(),
			&cli.BoolFlag{Name: "queued", Usage: "what the hooks have left; started by them", Hidden: true},
		},
		Action: push,
	}
}

func push(c *cli.Context) error {
	if c.NArg() > 1 {
		return cmdline.Usagef("push takes one remote, not %d", c.NArg())
	}
	ids, err := namedMission(c)
	if err != nil {
		return err
	}
	repo, err := current.Repo(c.Context)
	if err != nil {
		return err
	}
	remotes, err := pushable(c, repo)
	if err != nil {
		return err
	}
	var problems []error
	for _, r := range remotes {
		if c.Bool("queued") {
			if err = r.Drain(c.Context); err != nil {
				session.Open(repo.CommonDir).Log(time.Now(), err.Error()) // nobody sees it otherwise
			}
		} else {
			err = pushTo(c, r, ids)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// pushable returns the remote that is named, or all those that something may be sent to.
func pushable(c *cli.Context, repo *git.Repo) ([]*remote.Remote, error) {
	conf, err := current.Settings(repo)
	if err != nil {
		return nil, err
	}
	prefix := conf.Capture.BranchPrefix
	if c.NArg() == 1 {
		r, err := openRemote(c.Context, repo, c.Args().First(), prefix)
		if err != nil {
			return nil, err
		}
		if r.Level == "" {
			return nil, cmdline.Hintf(fmt.Errorf("nothing may be sent to %s (%s)", r.Name, plain(r.URLs)),
				"say so with: git agent-turn init --push %s", r.Name)
		}
		return []*remote.Remote{r}, nil
	}
	return current.Remotes(c.Context, repo, prefix)
}

func openRemote(ctx context.Context, repo *git.Repo, name, prefix string) (*remote.Remote, error) {
	r, err := remote.Open(ctx, repo, name, prefix)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(fmt.Errorf("there is no remote %q", name), "list them with: git remote -v")
	}
	return r, err
}

// plain is a list of URLs without secrets, for people.
func plain(urls []string) string {
	var list []string
	for _, u := range urls {
		list = append(list, cmdline.Escape(remote.Plain(u)))
	}
	return strings.Join(list, ", ")
}

func pushTo(c *cli.Context, r *remote.Remote, ids []ledger.ID) error {
	if cmdline.IsTerminal(os.Stderr) {
		r.Progress = os.Stderr
	}
	done, err := pushSome(c.Context, r, ids)
	for _, p := range done {
		if !p.Sent {
			continue
		}
		line := string(p.Mission)
		if p.As != p.Mission {
			line += " as " + string(p.As)
		}
		if _, err := fmt.Fprintln(c.App.Writer, line); err != nil {
			return err
		}
		if p.Branch != nil {
			fmt.Fprintf(c.App.ErrWriter, "git-agent-turn: warning: the branch of mission %s was not pushed: %s\n", p.Mission, cmdline.OneLine(p.Branch.Error()))
		}
	}
	return err
}

func pushSome(ctx context.Context, r *remote.Remote, ids []ledger.ID) ([]*remote.Pushed, error) {
	if len(ids) != 1 {
		return r.PushAll(ctx, ids)
	}
	p, err := r.Push(ctx, ids[0])
	if err != nil {
		return nil, err
	}
	return []*remote.Pushed{p}, nil
}

// endWait is how long the end of a session waits for what it has recorded to be pushed.
const endWait = 10 * time.Second

// pushLater lets what a mission has recorded be pushed by a process of its own.
func pushLater(ctx context.Context, repo *git.Repo, conf git.Config, prefix string, id ledger.ID) error {
	self, err := os.Executable()
	if err == nil {
		_, err = remote.Background(ctx, repo, conf, prefix, id, self)
	}
	return err
}

// awaitPush waits until what a mission has recorded is pushed, or can't be: the machine may be about to vanish.
func awaitPush(ctx context.Context, repo *git.Repo, conf git.Config, prefix string, id ledger.ID) error {
	ctx, cancel := context.WithTimeout(ctx, endWait)
	defer cancel()
	remotes, err := remote.Consenting(ctx, repo, conf, prefix)
	for _, r := range remotes {
		r.Await(ctx, id)
	}
	return err
}
