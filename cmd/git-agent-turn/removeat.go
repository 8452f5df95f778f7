package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/missionstore"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// removeAt removes missions at a remote, and returns which may be removed here:
// not what the remote keeps, as the next push would not send it again.
func removeAt(c *cli.Context, w *workspace.Workspace, r *remote.Remote, ids []record.ID) ([]record.ID, error) {
	ids, err := removeAll(c, w, ids, true, func(*cli.Context, *missionstore.Removed) error { return nil })
	if err != nil {
		return nil, err
	}
	there, err := pusher.Deletable(c.Context, r, ids)
	if err != nil {
		return nil, err
	}
	name := cmdline.Escape(r.Name)
	stays := func(id record.ID) bool { return slices.Contains(there.Ahead, id) }
	for _, id := range there.Ahead {
		cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", fmt.Sprintf("mission %s stays: it has something at %s that is not here; bring it with: git agent-turn fetch --mission %s %s", id, name, id, name))
	}
	ids = slices.DeleteFunc(ids, stays)
	if len(there.Missions) == 0 {
		return ids, nil
	}
	what := fmt.Sprintf("%s with %s at %s (%s)", cmdline.Plural(len(there.Missions), "mission"), cmdline.Plural(there.Refs(), "ref"), name, plain(r.URLs))
	switch {
	case c.Bool("dry-run"):
		_, err := fmt.Fprintf(c.App.Writer, "would remove %s\n", what)
		return ids, err
	case c.Bool("yes"):
	case !cmdline.CanAsk():
		return nil, cmdline.Hint(fmt.Errorf("nothing was changed: %s", cmdline.Unasked()), "to remove without a question, add --yes")
	default:
		answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Remove %s? They can't be fetched there any more; a clone that has them may send them again.", what), "yes", "no")
		if err == nil && answer != "yes" {
			err = errors.New("nothing was changed")
		}
		if err != nil {
			return nil, err
		}
	}
	gone, err := pusher.Delete(c.Context, r, there)
	if len(gone) > 0 {
		if _, err := fmt.Fprintf(c.App.Writer, "removed %s at %s\n", cmdline.Plural(len(gone), "mission"), name); err != nil {
			return nil, err
		}
	}
	return ids, err
}
