package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/hook"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
)

func recordCommand() *cli.Command {
	return &cli.Command{
		Name:      "record",
		Usage:     "record a turn by hand, or for an agent without hooks",
		UsageText: "git agent-turn record [--prompt <text>] [--reply <text>] [--transcript <file>] [--session <id>] [--outcome <o>] [--agent <name>]",
		Flags: []cli.Flag{
			command.MissionFlag(),
			&cli.StringFlag{Name: "prompt", Usage: "what the agent was asked: `<text>`"},
			&cli.StringFlag{Name: "reply", Usage: "what it answered: `<text>`"},
			&cli.StringFlag{Name: "transcript", Usage: "the conversation is in `<file>`"},
			&cli.StringFlag{Name: "session", Usage: "the conversation's `<id>`"},
			cmdline.OneOf(&cli.StringFlag{Name: "outcome", Usage: "`<outcome>`: done, failed or interrupted", Value: string(record.Done)},
				string(record.Done), string(record.Failed), string(record.Interrupted)),
			&cli.StringFlag{Name: "agent", Usage: "the agent's `<name>`"},
		},
		Action: cmdline.NoArgs(recordTurn),
	}
}

func recordTurn(c *cli.Context) error {
	outcome, err := record.ParseOutcome(c.String("outcome"))
	if err != nil {
		return cmdline.Usagef("%w", err)
	}
	session := c.String("session")
	asked := os.Getenv("GIT_AGENT_MISSION")
	a, client := agent.Inside(os.Getenv)
	if client.Shared {
		asked = "" // the variable is another session's
	}
	name := c.String("agent")
	if session == "" {
		session = client.SessionID
		if session != "" && name == "" && a != agent.Default() { // the default agent's records need no name
			name = a.Name
		}
	} else if !hooks.ValidID(session) {
		return cmdline.Usagef("session %q: an id has letters, digits, - and _, 128 at most", session)
	}
	transcript := c.String("transcript")
	if transcript != "" {
		if session == "" {
			return cmdline.Usagef("--transcript needs --session: what is taken from the file is remembered by it")
		}
		if transcript, err = filepath.Abs(transcript); err != nil {
			return err
		}
	}
	w, err := command.Checkout(c.Context, "record")
	if err != nil {
		return err
	}
	var mission record.ID
	if c.IsSet("mission") || session == "" {
		if mission, err = command.Own(c.Context, w, c.String("mission")); err == nil && mission == "" {
			mission, err = record.NewID()
		}
		if err != nil {
			return err
		}
	}
	result, err := recorder.Record(c.Context, w, recorder.Signal{
		Event: recorder.Stopped, At: time.Now(), Agent: name, Session: session, Mission: mission,
		Asked:  asked,
		Prompt: c.String("prompt"), Reply: c.String("reply"), Transcript: transcript, Outcome: outcome, Strict: true,
		FlushWait: recorder.FlushWait,
	})
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-turn: warning: %s\n", cmdline.OneLine(w))
	}
	for _, t := range result.Turns {
		if _, err := fmt.Fprintln(c.App.Writer, t.ID()); err != nil {
			return err
		}
	}
	if _, err := remote.Background(c.Context, w, result.Config, result.Mission); err != nil {
		return err
	}
	return hook.Housekeep(w)
}
