package hook

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"gitagent/hooks"
	"gitagent/internal/contextmeter"
	"gitagent/internal/git"
	"gitagent/internal/recall"
	"gitagent/internal/recorder"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// recall tells the agent what the record has on files that its tools have read,
// or changed without reading them first: once in a session for each, so that it
// is known before an edit. A client that runs a hook before a tool gives the
// model what that says with the tool's result, which would be too late.
//
// Where nothing is noted, as where the user has not asked for it, that costs a
// look for a file.
func (h *hook) recall(ctx context.Context, open func() *workspace.Workspace) error {
	if h.event.AgentID != "" || h.outside { // a sub-agent's context is another one
		return nil
	}
	noted, err := h.store.ReadRecall()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	hints := recall.Hints(noted)
	home, _ := os.UserHomeDir()
	var paths []string
	for _, name := range recorder.Named(h.event.Cwd, home, h.event.Calls) {
		if path, inside := git.Within(h.repo.Top, name); inside && hints.Has(path) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 || !open().Settings.Recall.Edits {
		return nil
	}
	var fresh []string
	err = remember(ctx, h, func(st *contextmeter.Memory) { fresh = st.Recall(paths) })
	if err == nil && len(fresh) > 0 {
		if text := hints.Tell(ctx, open(), h.event.SessionID, fresh); text != "" {
			h.add(hooks.Answer{Event: h.event.Name, Model: text})
		}
	}
	return err
}

// noteRecall brings the hints up to date in the background, if the user wants
// agents to be told.
func noteRecall(w *workspace.Workspace) error {
	if !w.Settings.Recall.Edits {
		return nil
	}
	return terminal.DetachOwn(w.Repo.Top, "git-agent-turn", "housekeep")
}
