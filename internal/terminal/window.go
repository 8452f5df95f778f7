package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Window is a tmux window.
type Window struct {
	ID    string // "@5", for tmux
	Index string // "3", for people
}

// inWindow is what a window runs. tmux would expand a directory as a format,
// which can run commands, and run the command elsewhere if it can't enter it.
const inWindow = `cd "$0" && exec env "$@"`

// NewWindow runs a command of at most 16 KB in dir, in a new hidden window of
// the pane's session, which ends with it. The environment is tmux's and env.
// name is expanded by tmux and must not come from a user.
func (p Pane) NewWindow(ctx context.Context, name, dir string, env, command []string) (Window, error) {
	if err := Find(command[0]); err != nil {
		return Window{}, err // else the window would end silently
	}
	session, err := p.Ask(ctx, "#{session_id}")
	if err != nil {
		return Window{}, err
	}
	args := slices.Concat([]string{
		"new-window", "-d", "-P", "-F", "#{window_id} #{window_index}", "-n", name, "-t", session + ":",
		"--", "sh", "-c", inWindow, dir,
	}, env, command)
	out, err := tmux(ctx, nil, args)
	if err != nil {
		return Window{}, err
	}
	var w Window
	if _, err := fmt.Sscan(strings.TrimSpace(string(out)), &w.ID, &w.Index); err != nil {
		return Window{}, fmt.Errorf("tmux new-window: it says %q", out)
	}
	return w, nil
}
