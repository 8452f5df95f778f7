package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// ErrNoPane reports that no tmux pane was named and this process is in none.
var ErrNoPane = errors.New("not in a pane of tmux, and none is named")

// A Pane is a tmux pane.
type Pane struct{ target string }

// FindPane returns the pane that target names for tmux (%3, work:1.0); for "",
// this process's ($TMUX_PANE in $TMUX). The pane need not exist.
func FindPane(target string) (Pane, error) {
	if target == "" && os.Getenv("TMUX") != "" {
		target = os.Getenv("TMUX_PANE")
	}
	if target == "" {
		return Pane{}, ErrNoPane
	}
	return Pane{target}, nil
}

// String returns the pane's name as given.
func (p Pane) String() string { return p.target }

// tmux runs a tmux command on the pane.
func (p Pane) tmux(ctx context.Context, command string, args ...string) ([]byte, error) {
	out, err := tmux(ctx, nil, append([]string{command, "-t", p.target}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("pane %q: %w", p.target, err)
	}
	return out, nil
}

// tmux runs a tmux command and returns its output. No argument is a command.
func tmux(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	argv := []string{"-u"} // UTF-8 in any locale of a hook
	for _, arg := range args {
		if before, ok := strings.CutSuffix(arg, ";"); ok {
			arg = before + `\;` // or it would end the command
		}
		argv = append(argv, arg)
	}
	cmd := exec.CommandContext(ctx, "tmux", argv...)
	cmd.WaitDelay = time.Second // a child of tmux may hold its output open
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	err := cmd.Run()
	switch said := strings.TrimSpace(stderr.String()); {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case said != "":
		err = fmt.Errorf("%s (%w)", said, err)
	}
	return nil, fmt.Errorf("tmux %s: %w", args[0], err)
}

// Snapshot returns the text of a pane (see [FindPane]) with its scrollback,
// without empty lines at the end. It sends no keys. ctx has the time limit.
// Full-screen programs have no scrollback; see [Pane.OnAlternate].
func Snapshot(ctx context.Context, target string) ([]byte, error) {
	p, err := FindPane(target)
	if err != nil {
		return nil, err
	}
	text, err := p.tmux(ctx, "capture-pane", "-p", "-S", "-")
	if err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(text, " \n"), '\n'), nil
}

// Ask expands a tmux format, such as #{pane_tty}, for the pane. It must not
// come from a user, because formats can run commands, nor expand to nothing,
// tmux's answer for a missing pane.
func (p Pane) Ask(ctx context.Context, format string) (string, error) {
	out, err := p.tmux(ctx, "display-message", "-p", format)
	if err != nil {
		return "", err
	}
	answer := strings.TrimSuffix(string(out), "\n")
	if strings.TrimSpace(answer) == "" {
		return "", fmt.Errorf("pane %q: there is none", p.target)
	}
	return answer, nil
}

// OnAlternate reports whether a full-screen program uses the alternate screen.
func (p Pane) OnAlternate(ctx context.Context) (bool, error) {
	on, err := p.Ask(ctx, "#{alternate_on}")
	return on == "1", err
}

// Page returns what the pane shows, with escape sequences for colours.
func (p Pane) Page(ctx context.Context) (string, error) {
	page, err := p.tmux(ctx, "capture-pane", "-e", "-p")
	return string(page), err
}

// Press presses a key by its tmux name.
func (p Pane) Press(ctx context.Context, key string) error {
	_, err := p.tmux(ctx, "send-keys", key)
	return err
}

// Type types text literally.
func (p Pane) Type(ctx context.Context, text string) error {
	_, err := p.tmux(ctx, "send-keys", "-l", text)
	return err
}

// Paste pastes text, in which programs that support pastes take no line feed
// for Enter. It must not have control characters: tmux does not filter the
// paste's end.
func (p Pane) Paste(ctx context.Context, text string) error {
	buffer := fmt.Sprintf("git-agent-%d", os.Getpid())
	if _, err := tmux(ctx, strings.NewReader(text), "load-buffer", "-b", buffer, "-"); err != nil {
		return err
	}
	_, err := p.tmux(ctx, "paste-buffer", "-p", "-d", "-b", buffer)
	return err
}
