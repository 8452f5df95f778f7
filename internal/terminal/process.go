package terminal

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// A Process says how a process relates to its terminal.
type Process struct {
	PID     int
	TTY     string // its device, or ""
	InFront bool   // it reads what is typed
	Stopped bool   // by its user or a signal
}

// Processes returns the processes that exist, in no particular order.
func Processes(ctx context.Context, pids ...int) ([]Process, error) {
	if len(pids) == 0 {
		return nil, nil
	}
	list := make([]string, len(pids))
	for i, pid := range pids {
		list[i] = strconv.Itoa(pid)
	}
	// BSD takes all after the first = for a heading, so one -o each.
	out, err := exec.CommandContext(ctx, "ps", "-o", "pid=", "-o", "pgid=", "-o", "tpgid=", "-o", "stat=", "-o", "tty=",
		"-p", strings.Join(list, ",")).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // none of them
	}
	if err != nil {
		return nil, fmt.Errorf("ask ps for processes: %w", err)
	}
	var all []Process
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 5 {
			return nil, fmt.Errorf("ask ps for processes: it says %q", line)
		}
		pid, err := strconv.Atoi(f[0])
		if err != nil {
			return nil, fmt.Errorf("ask ps for processes: it says %q", line)
		}
		p := Process{PID: pid, InFront: f[1] == f[2], Stopped: strings.HasPrefix(f[3], "T")}
		if !strings.HasPrefix(f[4], "?") && f[4] != "-" {
			p.TTY = "/dev/" + f[4]
		}
		all = append(all, p)
	}
	return all, nil
}
