package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/current"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
)

// handOff hands off for the session whose agent runs the command, or for the mission that is named, and prints
// the handoff's name.
func handOff(c *cli.Context, s *handoffstore.Store, r handoffstore.Request) error {
	if s.Repo.Top == "" {
		return errors.New("a bare repository has no worktree to hand off")
	}
	var err error
	if r.Mission, err = mission(c, s); err != nil {
		return err
	}
	agent := agentSession(s.Repo)
	if agent != nil && (agent.Mission == "" || agent.Mission == string(r.Mission)) {
		r.Session, r.Transcript, r.Agent = agent.Session, agent.Transcript, firstOf(r.Agent, agent.Agent)
		if agent.Open != nil {
			r.Running = agent.Open.Prompt
		}
	}
	own := r.Session != ""
	says := r.Document != nil || r.Summary != ""
	switch {
	case r.Mission != "":
	case !says:
		return current.NoMission()
	default: // the handoff begins a mission, as a first turn does
		if r.Mission, err = fresh(r); err != nil {
			return err
		}
	}
	release, err := s.Lock(c.Context)
	if err != nil {
		return err
	}
	defer release()
	gone := ""
	if !own && !says {
		if gone, err = settle(c, s, &r); err != nil {
			return err
		}
	}
	if own || c.IsSet("tmux") {
		r.Terminal = snapshot(c, s, r)
		if r.Log == "" {
			r.Log = paneLog(c, s)
		}
	}
	done, err := s.Gather(c.Context, r)
	if err == nil && gone != "" {
		err = s.HandedOff(c.Context, gone)
	}
	if err != nil {
		return err
	}
	if done.New {
		putArtifacts(c, s, done)
		if err := pushLater(c.Context, s, r.Mission); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.App.ErrWriter, "nothing has happened since")
	}
	_, err = fmt.Fprintln(c.App.Writer, done.ID())
	return err
}

// settle completes a request that does not come from the agent: it is about the session that worked last in this worktree. If that is gone in the
// middle of a turn, the turn is recorded first, as it would be when the next session starts; gone is its id then.
func settle(c *cli.Context, s *handoffstore.Store, r *handoffstore.Request) (gone string, err error) {
	registry, err := session.Registrations(hooks.Claude.ConfigDir(os.Getenv))
	if err != nil {
		return "", err
	}
	st := s.LastSession(r.Mission)
	if st == nil {
		return "", nil
	}
	r.Session, r.Transcript, r.Agent = st.Session, st.Transcript, firstOf(r.Agent, st.Agent)
	for _, left := range s.Left("", registry) {
		if left.Session == st.Session {
			return left.Session, recordLeft(c.Context, s, left, r.At)
		}
	}
	if st.Open != nil {
		r.Running = st.Open.Prompt
	}
	return "", nil
}

// snapshot is what the agent's terminal shows, nil if that can't be had. Without --tmux it is the pane that the agent runs in;
// that of a person, or of a supervisor, shows something else.
func snapshot(c *cli.Context, s *handoffstore.Store, r handoffstore.Request) []byte {
	text, err := handoffstore.Snapshot(c.Context, c.String("tmux"), r.Transcript, s.Handoff.SnapshotTimeout)
	if err != nil && !errors.Is(err, terminal.ErrNoPane) {
		fmt.Fprintf(c.App.ErrWriter, "git-agent-handoff: warning: no snapshot of the terminal: %s\n", cmdline.OneLine(err.Error()))
	}
	return text
}

// putArtifacts puts a document or a snapshot where other programs can search it. The handoff does not depend on it.
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

// fresh is the id of the mission that a handoff begins: the session's own, if an agent hands off.
func fresh(r handoffstore.Request) (ledger.ID, error) {
	if r.Session != "" {
		return ledger.OfSession(r.Session, 8)
	}
	return ledger.NewID()
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
