package target

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Turn returns the turn that a command works on: the one that is named, see [turns.Find], else the
// last one. A number, or no name, is about the mission that [Mission] gives.
func Turn(ctx context.Context, w *workspace.Workspace, mission, name string, talk io.Writer) (*turns.Turn, error) {
	_, err := strconv.Atoi(name)
	unsaid := err == nil || name == "" || name == "latest"
	if !unsaid {
		talk = io.Discard // a commit is looked for in all missions
	}
	var here ledger.ID
	if _, says := turns.MissionOf(name); !says {
		if here, err = Mission(ctx, w, mission, talk); err != nil {
			return nil, err
		}
		if here == "" && unsaid {
			return nil, NoMission()
		}
	}
	t, err := turns.Find(ctx, w.Repo, here, name)
	return t, Missing(err)
}

// Missing adds to the error that something is not there what there is instead.
func Missing(err error) error {
	var m *turns.MissingError
	if !errors.As(err, &m) {
		return err
	}
	near := strings.Join(m.Nearest, ", ")
	switch {
	case near == "":
		return cmdline.Hint(err, "list the turns with: git agent-turn list --all")
	case strings.Contains(near, "/"):
		return cmdline.Hintf(err, "nearest: %s; list the turns with: git agent-turn list --all", near)
	}
	return cmdline.Hintf(err, "nearest: %s; list the missions with: git agent-turn missions", near)
}
