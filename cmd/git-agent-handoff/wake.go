package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
)

func wakeAgent(c *cli.Context) error {
	s, err := open(c)
	if err != nil {
		return err
	}
	_, client := agent.Inside(os.Getenv)
	hook := client.ProjectDir != "" // started by the hook at a turn's end, so its output is not seen; an agent's own commands don't have it
	if hook {
		s.Workspace.Say = s.Workspace.SayInLog
	}
	message, err := wakeMessage(c, s)
	if err != nil {
		return err
	}
	if !c.IsSet("tmux") {
		_, err = fmt.Fprintln(c.App.Writer, message)
		return err
	}
	pane, err := findPane(c)
	if err != nil {
		return err
	}
	pid, self := 0, client.SessionID
	if hook {
		pid, self = client.PID, ""
	}
	for _, a := range agent.All() {
		if a.Wake == nil {
			continue
		}
		err = a.Wake(c.Context, pane, a.ConfigDir(os.Getenv), pid, self, message)
		if !errors.Is(err, errors.ErrUnsupported) {
			break
		}
	}
	if err == nil {
		fmt.Fprintf(c.App.ErrWriter, "woke the agent in pane %s\n", pane)
		return nil
	}
	byHand := "/clear, then: " + message
	if refusal := (*terminal.Refusal)(nil); errors.As(err, &refusal) && refusal.Cleared {
		byHand = message
	}
	err = fmt.Errorf("wake the agent in pane %s: %w", pane, err)
	if hook {
		s.Workspace.Store.Log(time.Now(), err.Error()+"; type by hand: "+byHand)
	}
	return cmdline.Hint(err, "type by hand: "+byHand)
}

// wakeMessage returns the message about the last handoff.
func wakeMessage(c *cli.Context, s *handoffstore.Store) (string, error) {
	id, err := mission(c, s)
	if err != nil {
		return "", err
	}
	f, err := handoffstore.Find(c.Context, s.Repo, id, "")
	if errors.Is(err, git.ErrNotFound) {
		return "", cmdline.Hint(err, "hand off first, with: git agent-handoff write <file>")
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := trusted(c, s, f); err != nil {
		return "", err
	}
	m := message{handoff: handoffstore.ID{Mission: f.In, Number: f.Number}.String(), snapshot: f.Handoff.Terminal != ""}
	if m.log, err = s.LogOf(c.Context, f); err != nil {
		return "", err
	}
	if m.log == "" {
		m.log = paneLog(c, s)
	}
	return m.String(), nil
}

// paneLog returns the log of the agent's pane, or "" without a log or tmux.
func paneLog(c *cli.Context, s *handoffstore.Store) string {
	pane, err := terminal.FindPane(c.String("tmux"))
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(c.Context, s.Settings.Handoff.SnapshotTimeout)
	defer cancel()
	name, _ := pane.LogFile(ctx)
	return name
}

// wakeLater returns the wake that the Stop hook will start. It checks all needs
// before anything is written.
func wakeLater(c *cli.Context, s *handoffstore.Store) (*session.Wake, error) {
	switch a, client := agent.Inside(os.Getenv); {
	case client.SessionID == "":
		return nil, cmdline.Hint(errors.New("--wake is for the agent that runs the command, and there is none"),
			"wake one with: git agent-handoff wake --tmux <target>")
	case client.Shared && !c.IsSet("tmux"):
		return nil, fmt.Errorf("--wake: the process of %s serves several terminals, and which is this agent's can't be told: name it with --tmux", a.Title)
	}
	pane, err := findPane(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.Context, s.Settings.Handoff.SnapshotTimeout)
	defer cancel()
	said, err := pane.Ask(ctx, "#{pane_id} #{pane_synchronized}")
	if err != nil {
		return nil, err
	}
	id, synchronized, _ := strings.Cut(said, " ")
	if synchronized == "1" {
		return nil, cmdline.Hint(fmt.Errorf("--wake: the keys of pane %s go to other panes, too (synchronize-panes)", id),
			"switch that off: tmux set-option -w -t "+id+" synchronize-panes off")
	}
	return &session.Wake{Pane: id}, nil
}
