package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/hook"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/terminal"
)

// handOff hands off for the agent that runs the command, or for the mission,
// and prints the handoff's name.
func handOff(c *cli.Context, s *handoffstore.Store, r handoffstore.Request) error {
	if s.Repo.Top == "" {
		return errors.New("a bare repository has no worktree to hand off")
	}
	var err error
	if r.Mission, err = command.Own(c.Context, s.Workspace, c.String("mission")); err != nil {
		return err
	}
	own := hook.Complete(s.Workspace, &r, command.Agent(s.Workspace))
	switch {
	case r.Mission != "":
	case !r.Says():
		return command.NoMission(c.Context, s.Workspace)
	case r.Session != "": // the handoff begins a mission, as a first turn does
		r.Mission, err = record.OfSession(r.Session, 8)
	default:
		r.Mission, err = record.NewID()
	}
	if err != nil {
		return err
	}
	_, client := agent.Inside(os.Getenv)
	if own && !client.Shared || c.IsSet("tmux") { // a shared process has another session's pane
		r.Terminal = snapshot(c, s, r)
		if r.Log == "" {
			r.Log = paneLog(c, s)
		}
	}
	done, err := hook.HandOff(c.Context, s.Workspace, r, own)
	if err != nil {
		return err
	}
	if done.New {
		putArtifacts(c, s, done)
		conf, err := s.Repo.Config(c.Context)
		if err != nil {
			return err
		}
		// It is pushed in the background: the work may go on on another
		// machine.
		if _, err := remote.Background(c.Context, s.Workspace, conf, r.Mission); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.App.ErrWriter, "nothing has happened since")
	}
	_, err = fmt.Fprintln(c.App.Writer, done.ID())
	return err
}

// snapshot returns what the agent's terminal shows, or nil. Without --tmux it
// takes the agent's own pane, since a person's or supervisor's shows something
// else.
func snapshot(c *cli.Context, s *handoffstore.Store, r handoffstore.Request) []byte {
	text, err := handoffstore.Snapshot(c.Context, s.Settings.Rules(), c.String("tmux"), r.Agent, r.Transcript, s.Settings.Handoff.SnapshotTimeout)
	if err != nil && !errors.Is(err, terminal.ErrNoPane) {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-handoff: warning: no snapshot of the terminal: %s\n", cmdline.OneLine(err.Error()))
	}
	return text
}

// putArtifacts copies a handoff's files to where other programs can search
// them. It only warns of errors.
func putArtifacts(c *cli.Context, s *handoffstore.Store, done *handoffstore.Gathered) {
	if done.Doc == "" && done.Terminal == "" {
		return
	}
	f, err := s.Open(c.Context, done)
	if err == nil {
		defer f.Close()
		var dir string
		if dir, err = s.Artifacts(c.Context, f, handoffstore.DataDir(os.Getenv)); err == nil {
			fmt.Fprintf(c.App.ErrWriter, "artifacts: %s\n", cmdline.Escape(dir))
			return
		}
	}
	fmt.Fprintf(c.App.ErrWriter, "git-agent-handoff: warning: %s\n", cmdline.OneLine(err.Error()))
}
