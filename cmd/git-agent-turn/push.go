package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/purge"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

func pushCommand() *cli.Command {
	return &cli.Command{
		Name:      "push",
		Usage:     "send missions to a remote",
		UsageText: "git agent-turn push [--mission <id>] [<remote>]",
		Description: "Sends what the remote lacks, of every mission or of one, to a remote that was named with " +
			"git agent-turn init --push <remote>; without an argument to every such remote. " +
			"If missions are archived here, the archive goes as well, and the refs of archived missions go there.",
		Flags: []cli.Flag{
			command.MissionFlag(),
			&cli.BoolFlag{Name: "queued", Usage: "what the hooks have left; started by them", Hidden: true},
		},
		BashComplete: command.First(command.CompleteRemotes),
		Action:       cmdline.OptionalArg("remote", push),
	}
}

func push(c *cli.Context) error {
	w, err := command.Workspace(c.Context)
	if err != nil && (w == nil || !c.Bool("queued")) { // the hook has reported invalid settings
		return err
	}
	if c.Bool("queued") {
		w.Say = w.SayInLog
	}
	ids, err := namedMission(c, w.Repo)
	if err != nil {
		return err
	}
	remotes, err := pushable(c, w)
	if err != nil {
		return err
	}
	for _, r := range remotes {
		if err := r.Inherit(c.Context); err != nil {
			return err
		}
	}
	problems := make([]error, len(remotes))
	for i, r := range remotes {
		if !c.Bool("queued") {
			problems[i] = rejected(r, pushTo(c, r, ids))
		}
	}
	if c.Bool("queued") {
		drain(c.Context, w, remotes, problems)
	}
	return errors.Join(problems...)
}

// drain pushes what waits, to all the URLs at once: one may be dead.
func drain(ctx context.Context, w *workspace.Workspace, remotes []*remote.Remote, problems []error) {
	var all sync.WaitGroup
	for i, r := range remotes {
		all.Go(func() {
			if problems[i] = pusher.Drain(ctx, r); problems[i] != nil {
				w.Store.Log(time.Now(), problems[i].Error()) // the log is where it is seen
			}
		})
	}
	all.Wait()
}

// pushable returns the named remote, or all that something may be sent to, one
// for each URL.
func pushable(c *cli.Context, w *workspace.Workspace) ([]*remote.Remote, error) {
	if c.NArg() == 1 {
		r, err := openRemote(c.Context, w, c.Args().First())
		if err != nil {
			return nil, err
		}
		agreed := r.Agreed()
		if len(agreed) == 0 {
			return nil, cmdline.Hintf(fmt.Errorf("nothing may be sent to %s (%s)", r.Name, plain(r.URLs)),
				"say so with: git agent-turn init --push %s", r.Name)
		}
		return agreed, nil
	}
	return command.Remotes(c.Context, w)
}

// rejected adds to an error, that a remote rejected a push, how to see why.
func rejected(r *remote.Remote, err error) error {
	if !errors.Is(err, remote.ErrRejected) {
		return err
	}
	return cmdline.Hint(err, "see what it takes: "+tryRemote(r))
}

func openRemote(ctx context.Context, w *workspace.Workspace, name string) (*remote.Remote, error) {
	r, err := remote.Open(ctx, w, name)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(fmt.Errorf("there is no remote %q", name), "list them with: git remote -v")
	}
	return r, err
}

func namedMission(c *cli.Context, repo *git.Repo) ([]record.ID, error) {
	if !c.IsSet("mission") {
		return nil, nil
	}
	id, err := command.Named(c.Context, repo, c.String("mission"))
	return []record.ID{id}, err
}

// plain formats URLs for people, without secrets.
func plain(urls []string) string {
	var list []string
	for _, u := range urls {
		list = append(list, cmdline.Escape(remote.Plain(u)))
	}
	return strings.Join(list, ", ")
}

func pushTo(c *cli.Context, r *remote.Remote, ids []record.ID) error {
	if cmdline.IsTerminal(os.Stderr) {
		r.Progress = os.Stderr
	}
	r.Warn = func(text string) { cmdline.Warn(errors.New(text)) }
	done, err := pushSome(c.Context, r, ids)
	sent := false
	var held []error
	for _, p := range done {
		if p.Held && !purge.IsKept(r.Workspace.Store, p.Mission) {
			held = append(held, cmdline.Hintf(fmt.Errorf("mission %s was not sent: what others have purged of it has not gone here", p.Mission),
				"see why, and decide on a terminal of your own: git agent-turn fetch %s", cmdline.Escape(r.Name)))
		}
		if !p.Sent {
			continue
		}
		sent = true
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
	if err == nil && len(ids) == 0 {
		var more bool
		more, err = pushArchive(c, r)
		sent = sent || more
	}
	if err == nil && !sent && held == nil {
		fmt.Fprintf(c.App.ErrWriter, "nothing to push: %s has everything\n", cmdline.Escape(r.String()))
	}
	return errors.Join(append(held, err, pusher.Settle(c.Context, r, done))...)
}

// pushArchive sends the archive, and reports whether it had anything to send.
func pushArchive(c *cli.Context, r *remote.Remote) (sent bool, err error) {
	done, err := pusher.PushArchive(c.Context, r)
	if err != nil || !done.Sent && len(done.Gone) == 0 {
		return false, err
	}
	_, err = fmt.Fprintln(c.App.Writer, "archive")
	if n := len(done.Gone); n > 0 {
		fmt.Fprintf(c.App.ErrWriter, "%s had refs at %s, and went into its archive\n", cmdline.Plural(n, "mission"), cmdline.Escape(r.String()))
	}
	return true, err
}

func pushSome(ctx context.Context, r *remote.Remote, ids []record.ID) ([]*pusher.Pushed, error) {
	if len(ids) != 1 {
		return pusher.PushAll(ctx, r, ids)
	}
	p, err := pusher.Push(ctx, r, ids[0])
	if err != nil {
		return nil, err
	}
	return []*pusher.Pushed{p}, nil
}
