package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/redact"
	"gitagent/internal/retry"
	"gitagent/internal/session"
	"gitagent/turns"
)

// A records keeps the attempts of a command as turns of one mission, where recording is enabled.
type records struct {
	c       *cli.Context
	store   *handoffstore.Store // nil if nothing is recorded
	mission ledger.ID           // empty before the first attempt
	began   time.Time           // of the present attempt
	own     *session.State      // of the last attempt, if the agent's hooks have recorded it
}

// newRecords finds out whether attempts are recorded. repo is nil outside of repositories.
func newRecords(c *cli.Context, repo *git.Repo, settings *config.Config) (*records, error) {
	r := &records{c: c}
	if repo == nil || repo.Top == "" {
		return r, nil
	}
	enabled := session.Open(repo.CommonDir).Enabled()
	if !enabled {
		conf, err := repo.Config(c.Context)
		if err != nil {
			return nil, err
		}
		enabled = conf.Bool("agent.record")
	}
	if enabled {
		r.store = storeOf(repo, settings)
	}
	return r, nil
}

// begin notes that an attempt begins.
func (r *records) begin() { r.began = time.Now() }

// env makes the hooks of an attempt record to the mission of the one before.
func (r *records) env() []string {
	if r.mission == "" {
		return nil
	}
	return []string{"GIT_AGENT_MISSION=" + string(r.mission)}
}

// attempt records how an attempt has ended. If the agent's own hooks have recorded it,
// they don't know what the check has found: then its turn gets the right outcome.
func (r *records) attempt(a attempt, command []string) error {
	if r.store == nil {
		return nil
	}
	// What the attempt did is recorded also when this process was told to end meanwhile.
	ctx := context.WithoutCancel(r.c.Context)
	s := turns.Signal{Event: turns.Stopped, At: time.Now(), Outcome: turns.Done}
	switch {
	case a.stopped:
		s.Outcome = turns.Interrupted
	case a.failure != nil:
		s.Outcome = turns.Failed
	}
	if r.own = r.hooked(); r.own != nil {
		r.mission = ledger.ID(r.own.Mission)
		if a.failure == nil || r.own.Last.PromptID == "" {
			return nil
		}
		s.Agent, s.Session, s.Transcript, s.PromptID, s.Prompt, s.Again = r.own.Agent, r.own.Session, r.own.Transcript, r.own.Last.PromptID, r.own.Last.Prompt, true
	} else {
		s.Agent, s.Prompt, s.Reply = agentOf(command), firstOf(a.prompt, strings.Join(command, " ")), a.tail
		if r.mission == "" {
			id, err := r.choose(ctx)
			if err != nil {
				return err
			}
			r.mission = id
		}
		s.Mission = r.mission
	}
	recorder := &turns.Recorder{Repo: r.store.Repo, Capture: r.store.Capture, FlushWait: flushWait}
	_, err := recorder.Record(ctx, s)
	return err
}

// hooked is the session that hooks have recorded a turn of since the attempt began; nil if there is none.
func (r *records) hooked() *session.State {
	var last *session.State
	for _, st := range session.Open(r.store.Repo.CommonDir).All() {
		byHooks := st.Worktree == r.store.Repo.GitDir && st.Client.PID != 0 && st.Last != nil
		if byHooks && st.Seen.After(r.began) && (last == nil || st.Seen.After(last.Seen)) {
			last = st
		}
	}
	return last
}

// choose is the mission whose branch is checked out, or a new one.
func (r *records) choose(ctx context.Context) (ledger.ID, error) {
	branch, err := r.store.Repo.HeadRef(ctx)
	if err != nil {
		return "", err
	}
	if id, ok := ledger.OfBranch(branch, r.store.Capture.BranchPrefix); ok {
		return id, nil
	}
	return ledger.NewID()
}

// agentOf is the name of the agent that a command runs.
func agentOf(command []string) string {
	name := strings.TrimSuffix(filepath.Base(command[0]), ".exe")
	if agent, err := hooks.ParseAgent(name); err == nil {
		return string(agent)
	}
	return name
}

// saidTail is how much of the tail stands in the handoff's summary, in runes, so that the next session reads it.
// All of it is the handoff's snapshot of the terminal.
const saidTail = 3000

// handOff hands off for an agent that did not succeed.
func (r *records) handOff(f retry.Failure) error {
	if r.store == nil || r.mission == "" {
		return nil
	}
	ctx := r.c.Context
	request := handoffstore.Request{
		At: time.Now(), Exit: handoffstore.Crash, Mission: r.mission,
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
		request.Terminal = append(request.Terminal, redact.Bytes([]byte(fmt.Sprintf("# The end of what %s printed.\n%s\n", part.what, part.text)))...)
	}
	release, err := r.store.Lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	done, err := r.store.Gather(ctx, request)
	if err != nil {
		return err
	}
	putArtifacts(r.c, r.store, done)
	fmt.Fprintf(r.c.App.ErrWriter, "git-agent-handoff: handed off: %s\n", done.ID())
	return nil
}
