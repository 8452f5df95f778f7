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

// ErrNoPane reports that there is no pane of tmux to work with: none was named, and this process
// does not run in one.
var ErrNoPane = errors.New("not in a pane of tmux, and none is named")

// A Pane is a pane of tmux.
type Pane struct{ target string }

// FindPane returns the pane that target names as tmux understands it (%3, work:1.0); for "", the
// pane that this process was started in: $TMUX_PANE of the server in $TMUX. Whether the pane exists
// shows when it is first used.
func FindPane(target string) (Pane, error) {
	if target == "" && os.Getenv("TMUX") != "" {
		target = os.Getenv("TMUX_PANE")
	}
	if target == "" {
		return Pane{}, ErrNoPane
	}
	return Pane{target}, nil
}

// String is the pane's name as it was given.
func (p Pane) String() string { return p.target }

// tmux runs a command of tmux on the pane.
func (p Pane) tmux(ctx context.Context, command string, args ...string) ([]byte, error) {
	out, err := tmux(ctx, nil, append([]string{command, "-t", p.target}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("pane %q: %w", p.target, err)
	}
	return out, nil
}

// tmux runs a tmux command and returns its output. No shell sees the arguments, and tmux takes none
// of them for another command.
func tmux(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	argv := []string{"-u"} // text is UTF-8, whatever the locale of a hook's environment
	for _, arg := range args {
		if before, ok := strings.CutSuffix(arg, ";"); ok {
			arg = before + `\;` // a semicolon at the end of an argument would end the command
		}
		argv = append(argv, arg)
	}
	cmd := exec.CommandContext(ctx, "tmux", argv...)
	cmd.WaitDelay = time.Second // in case a child of tmux holds its output open
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

// Snapshot returns the text of a pane with all of its scrollback, without the empty lines at its
// end. The pane is [FindPane] of target, and no keys are sent to it. ctx carries the time limit.
//
// A pane on its alternate screen has one page and no scrollback; see [Pane.OnAlternate].
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

// Ask asks tmux to expand a format, such as #{pane_tty}, for the pane. The format must never expand
// to nothing: that is tmux's answer for a missing pane. It must not come from a user, since a
// format can run commands.
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

// OnAlternate says whether the pane shows its alternate screen, as full-screen programs use it.
func (p Pane) OnAlternate(ctx context.Context) (bool, error) {
	on, err := p.Ask(ctx, "#{alternate_on}")
	return on == "1", err
}

// Page returns what the pane shows, with the escape sequences of colours and attributes.
func (p Pane) Page(ctx context.Context) (string, error) {
	page, err := p.tmux(ctx, "capture-pane", "-e", "-p")
	return string(page), err
}

// Press presses a key by its name in tmux.
func (p Pane) Press(ctx context.Context, key string) error {
	_, err := p.tmux(ctx, "send-keys", key)
	return err
}

// Type types text as it is.
func (p Pane) Type(ctx context.Context, text string) error {
	_, err := p.tmux(ctx, "send-keys", "-l", text)
	return err
}

// Paste pastes text. A program that supports pastes tells it from typed text: a line feed in it is
// not an Enter. tmux does not look for the sequence that ends a paste, so text must not contain
// control characters.
func (p Pane) Paste(ctx context.Context, text string) error {
	buffer := fmt.Sprintf("git-agent-%d", os.Getpid())
	if _, err := tmux(ctx, strings.NewReader(text), "load-buffer", "-b", buffer, "-"); err != nil {
		return err
	}
	_, err := p.tmux(ctx, "paste-buffer", "-p", "-d", "-b", buffer)
	return err
}
