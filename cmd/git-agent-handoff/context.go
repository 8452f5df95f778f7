package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/contextmeter"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
)

func contextAction(c *cli.Context) error {
	switch {
	case c.Bool("calibrate") || c.Bool("write"): // old flags, for one release
		return cmdline.Hint(cmdline.Usagef("windows are not calibrated by hand any more: a model's is learned with each compaction"),
			"see what was learned with: git agent-turn doctor")
	case c.NArg() > 1:
		return cmdline.Usagef("context takes one session, not %d", c.NArg())
	}
	w, err := command.Workspace(c.Context)
	if err != nil {
		return err
	}
	a, id, path, err := findSession(w, c.Args().First())
	if err != nil {
		return err
	}
	f, err := newFill(a, id, path, monitorState(w.Store, id), &w.Settings.Context)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, transcript.ErrNoUsage) {
		return cmdline.NotFoundf("session %s does not tell how full its context is: %w", id, err)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(c.App.Writer, f)
	}
	return f.print(c.App.Writer)
}

// findSession finds a session by its id or a prefix, with its agent and the
// file of its conversation. The default is the session of the agent that runs
// this command, or the latest in this worktree.
func findSession(w *workspace.Workspace, name string) (a *agent.Agent, id, path string, err error) {
	if name == "" {
		_, client := agent.Inside(os.Getenv)
		name = client.SessionID
	}
	if name == "" {
		last := w.Store.Last(func(st *session.Known) bool { return st.Worktree == w.Repo.GitDir && st.Transcript != "" })
		if last == nil {
			return nil, "", "", cmdline.Hint(cmdline.NotFoundf("no session has been seen in this worktree"), "name one: git agent-handoff context <session>")
		}
		return agent.Of(last.Agent), last.Session, last.Transcript, nil
	}
	if !hooks.ValidID(name) {
		return nil, "", "", cmdline.Usagef("session %q: an id has letters, digits, - and _, 128 at most", name)
	}
	type file struct {
		of   *agent.Agent
		path string
	}
	found := map[string]file{} // by id
	for _, of := range agent.All() {
		files, err := of.Files(of.ConfigDir(os.Getenv), name)
		if err != nil {
			return nil, "", "", err
		}
		for _, f := range files {
			found[f.Session] = file{of, f.Path}
		}
	}
	for _, st := range w.Store.All() {
		if strings.HasPrefix(st.Session, name) && st.Transcript != "" {
			found[st.Session] = file{agent.Of(st.Agent), st.Transcript}
		}
	}
	if f, ok := found[name]; ok {
		return f.of, name, f.path, nil
	}
	switch len(found) {
	case 0:
		return nil, "", "", cmdline.NotFoundf("no session %s on this machine", name)
	case 1:
		for id, f := range found {
			return f.of, id, f.path, nil
		}
	}
	return nil, "", "", cmdline.NotFoundf("%d sessions begin with %s", len(found), name)
}

func monitorState(store session.Store, id string) *contextmeter.Memory {
	st := new(contextmeter.Memory)
	if !store.LoadMonitor(id, st) || st.V != contextmeter.Version {
		st = &contextmeter.Memory{V: contextmeter.Version}
	}
	return st
}
