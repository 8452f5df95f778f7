package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/hook"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/retry"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// A records records a command's attempts as turns of one mission, if enabled.
type records struct {
	c       *cli.Context
	store   *handoffstore.Store // nil if nothing is recorded
	mission record.ID           // empty before the first attempt
	began   time.Time           // start of the present attempt
	own     *session.Known      // the last attempt's session, if the agent's hooks recorded it
}

func newRecords(c *cli.Context, w *workspace.Workspace) (*records, error) {
	r := &records{c: c}
	if w == nil || w.Repo.Top == "" {
		return r, nil
	}
	enabled, err := w.Enabled(c.Context)
	if enabled {
		r.store = &handoffstore.Store{Workspace: w}
	}
	return r, err
}

// env makes an attempt's hooks record to the mission of the one before.
func (r *records) env() []string {
	if r.mission == "" {
		return nil
	}
	return []string{"GIT_AGENT_MISSION=" + string(r.mission)}
}

// attempt records how an attempt ended. If the agent's hooks recorded it, which
// don't know the result of the check, its turn gets the right outcome.
func (r *records) attempt(a attempt, command []string) error {
	if r.store == nil {
		return nil
	}
	// The attempt is recorded even if this process was told to end.
	ctx := context.WithoutCancel(r.c.Context)
	s := recorder.Signal{Event: recorder.Stopped, At: time.Now(), Outcome: record.Done, FlushWait: recorder.FlushWait}
	switch {
	case a.stopped:
		s.Outcome = record.Interrupted
	case a.failure != nil:
		s.Outcome = record.Failed
	}
	if r.own = r.hooked(); r.own != nil {
		r.mission = r.own.Mission
		if a.failure == nil || r.own.Last.PromptID == "" {
			return nil
		}
		s.Agent, s.Session, s.Transcript, s.PromptID, s.Prompt, s.Again = r.own.Agent, r.own.Session, r.own.Transcript, r.own.Last.PromptID, r.own.Last.Prompt, true
	} else {
		s.Agent, s.Prompt, s.Reply = agentOf(command), cmp.Or(a.prompt, strings.Join(command, " ")), a.tail
		var err error
		if r.mission == "" {
			r.mission, err = r.store.Workspace.Mission(ctx)
		}
		if r.mission == "" && err == nil {
			r.mission, err = record.NewID()
		}
		if err != nil {
			return err
		}
		s.Mission = r.mission
	}
	_, err := recorder.Record(ctx, r.store.Workspace, s)
	return err
}

// hooked returns the session recorded by hooks since the attempt began, or nil.
func (r *records) hooked() *session.Known {
	return r.store.Workspace.Store.Last(func(st *session.Known) bool {
		return st.Worktree == r.store.Repo.GitDir && st.Client.PID != 0 && st.Last != nil && st.Seen.After(r.began)
	})
}

func agentOf(command []string) string {
	if a, ok := agent.Started(command); ok {
		return a.Name
	}
	return strings.TrimSuffix(filepath.Base(command[0]), ".exe")
}

// saidTail is how much of the tail, in runes, the next session is told. The
// handoff's snapshot of the terminal keeps all of it.
const saidTail = 3000

func (r *records) handOff(f retry.Failure) error {
	if r.store == nil || r.mission == "" {
		return nil
	}
	ctx := r.c.Context
	request := handoffstore.Request{
		At: time.Now(), Exit: record.Crash, Mission: r.mission,
		Summary: fmt.Sprintf("git agent-handoff retry gave up after %s: %s.", cmdline.Plural(f.Of, "attempt"), f.Why),
	}
	if r.own != nil {
		request.Session, request.Agent, request.Transcript = r.own.Session, r.own.Agent, r.own.Transcript
	}
	for _, part := range []struct{ what, text string }{{"the last attempt", f.Tail}, {"the check", f.Output}} {
		if part.text == "" {
			continue
		}
		end := []rune(part.text)
		end = end[max(0, len(end)-saidTail/2):]
		request.Summary += fmt.Sprintf("\n\nThe end of what %s printed:\n\n%s", part.what, string(end))
		request.Terminal = append(request.Terminal, r.store.Settings.Rules().Bytes([]byte(fmt.Sprintf("# The end of what %s printed.\n%s\n", part.what, part.text)))...)
	}
	done, err := hook.HandOff(ctx, r.store.Workspace, request, true)
	if err != nil {
		return err
	}
	putArtifacts(r.c, r.store, done)
	fmt.Fprintf(r.c.App.ErrWriter, "git-agent-handoff: handed off: %s\n", done.ID())
	return nil
}
