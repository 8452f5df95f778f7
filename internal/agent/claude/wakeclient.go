package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gitagent/internal/session"
	"gitagent/internal/terminal"
)

// findClient returns the registered client in a pane, the one in front of
// several. If pid is not 0, it must be that client.
func findClient(ctx context.Context, pane terminal.Pane, configDir string, pid int) (session.Registration, error) {
	tty, err := pane.Ask(ctx, "#{pane_tty}")
	if err != nil {
		return session.Registration{}, err
	}
	registered, err := Running(configDir)
	if err != nil {
		return session.Registration{}, err
	}
	registered = slices.DeleteFunc(registered, func(r session.Registration) bool {
		reused := session.ReadClient(r.PID).Start
		return !r.Here() || pid != 0 && r.PID != pid || reused != "" && reused != r.Start
	})
	pids := make([]int, len(registered))
	for i, r := range registered {
		pids[i] = r.PID
	}
	processes, err := terminal.Processes(ctx, pids...)
	if err != nil {
		return session.Registration{}, err
	}
	best := -1
	for i, r := range registered {
		at := slices.IndexFunc(processes, func(p terminal.Process) bool { return p.PID == r.PID && p.TTY == tty })
		if at >= 0 && (best < 0 || processes[at].InFront) {
			best = i
		}
	}
	if best < 0 {
		return session.Registration{}, refuse("no client that could be woken runs in pane %s", pane)
	}
	return registered[best], nil
}

func refuse(format string, args ...any) error {
	return &terminal.Refusal{Why: fmt.Sprintf(format, args...)}
}

func cleared(err error) error {
	if r := (*terminal.Refusal)(nil); errors.As(err, &r) {
		return &terminal.Refusal{Why: r.Why, Cleared: true}
	}
	return err
}
