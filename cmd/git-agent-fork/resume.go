package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// resume brings a fork's conversation to this checkout, and prints the command
// that goes on with it or, after any conflicts, starts the agent.
func resume(c *cli.Context, w *workspace.Workspace, state *turns.State, foreign bool, conflicts error) error {
	id, err := record.NewID()
	if err != nil {
		return err
	}
	of := agent.Of(state.Turn.Agent)
	how := missionstore.Resumption{
		Source: state.Turn, Foreign: foreign, At: time.Now(), ID: id, Session: of.NewSession(), Config: of.ConfigDir(os.Getenv),
	}
	id, err = missionstore.Resume(c.Context, w, how)
	if errors.Is(err, missionstore.ErrNoConversation) {
		return cmdline.Hint(err, "its work is adopted; what was said is shown by: git agent-turn show "+state.String())
	}
	if err != nil {
		return err
	}
	p := plan{Mission: string(id), Worktree: w.Repo.Top, Command: of.Command(w.Repo.Top, how.Session, "")}
	if !c.Bool("launch") {
		cmdline.WriteMessage(c.App.ErrWriter, "", fmt.Sprintf("its conversation goes on in mission %s, with:", id))
		return p.print(c.App.Writer)
	}
	if conflicts != nil {
		cmdline.Warn(conflicts)
	}
	return terminal.Launch(p.Worktree, p.Command, p.environment())
}
