package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Window is a window of tmux.
type Window struct {
	ID    string // "@5", by which tmux finds it
	Index string // "3", by which people do
}

// inWindow is what a window runs. A directory that tmux is given is a format to it, which could run commands;
// and in one that it can't enter it would run the command elsewhere.
const inWindow = `cd "$0" && exec env "$@"`

// NewWindow runs a command in dir, in a new window of the pane's session, behind the one that the user looks
// at. The window ends with the command. Its environment is that of tmux and env. name must not come from a
// user: it, too, is a format to tmux.
//
// tmux takes no command of more than 16 KB.
func (p Pane) NewWindow(ctx context.Context, name, dir string, env, command []string) (Window, error) {
	if err := Find(command[0]); err != nil {
		return Window{}, err // else the window would end at once, and nobody would see why
	}
	session, err := p.Ask(ctx, "#{session_id}")
	if err != nil {
		return Window{}, err
	}
	args := slices.Concat([]string{
		"new-window", "-d", "-P", "-F", "#{window_id} #{window_index}", "-n", name, "-t", session + ":",
		"--", "sh", "-c", inWindow, dir,
	}, env, command)
	out, err := tmux(ctx, nil, args...)
	if err != nil {
		return Window{}, err
	}
	var w Window
	if _, err := fmt.Sscan(strings.TrimSpace(string(out)), &w.ID, &w.Index); err != nil {
		return Window{}, fmt.Errorf("tmux new-window: it says %q", out)
	}
	return w, nil
}
