package wake

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gitagent/internal/session"
	"gitagent/internal/terminal"
)

// find finds the client in a pane among those that are registered: the one in front, if there are several.
// pid is the only one that counts, 0 for any.
func find(ctx context.Context, pane terminal.Pane, configDir string, pid int) (session.Registration, error) {
	tty, err := pane.Ask(ctx, "#{pane_tty}")
	if err != nil {
		return session.Registration{}, err
	}
	registered, err := session.Registrations(configDir)
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

// A Refusal says why nothing was typed, or no more than was.
type Refusal struct {
	Why     string
	Cleared bool // /clear was done; the message is what is missing
}

func (r *Refusal) Error() string { return r.Why }

func refuse(format string, args ...any) error { return &Refusal{Why: fmt.Sprintf(format, args...)} }

// cleared notes in a refusal that /clear was done.
func cleared(err error) error {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return &Refusal{r.Why, true}
	}
	return err
}
