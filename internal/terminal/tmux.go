package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/vt"
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

// tmux runs tmux commands on the pane, with nothing between them, up to the
// first that fails.
func (p Pane) tmux(ctx context.Context, commands ...[]string) ([]byte, error) {
	var onPane [][]string
	for _, c := range commands {
		onPane = append(onPane, slices.Concat([]string{c[0], "-t", p.target}, c[1:]))
	}
	out, err := tmux(ctx, nil, onPane...)
	if err != nil {
		return nil, fmt.Errorf("pane %q: %w", p.target, err)
	}
	return out, nil
}

// tmux runs tmux commands and returns their output. No argument is a command.
func tmux(ctx context.Context, stdin io.Reader, commands ...[]string) ([]byte, error) {
	argv := []string{"-u"} // UTF-8 in any locale of a hook
	for i, command := range commands {
		if i > 0 {
			argv = append(argv, ";")
		}
		for _, arg := range command {
			if before, ok := strings.CutSuffix(arg, ";"); ok {
				arg = before + `\;` // or it would end the command
			}
			argv = append(argv, arg)
		}
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
	return nil, fmt.Errorf("tmux %s: %w", commands[0][0], err)
}

// Snapshot returns the text of a pane (see [FindPane]) with its scrollback,
// without empty lines at the end. It sends no keys. ctx has the time limit.
// Full-screen programs have no scrollback; see [Pane.OnAlternate].
func Snapshot(ctx context.Context, target string) ([]byte, error) {
	p, err := FindPane(target)
	if err != nil {
		return nil, err
	}
	said, err := p.tmux(ctx, say(paneShape), []string{"capture-pane", "-e", "-p", "-S", "-"})
	if err != nil {
		return nil, err
	}
	cols, stops, page, err := shaped(said)
	if err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(vt.Captured(page, cols, stops), " \n"), '\n'), nil
}

// say is the command that expands a format. For the name of a pane that is not
// there tmux may take another one, unless a command is run with it that fails.
func say(format string) []string { return []string{"display-message", "-p", format} }

// paneShape is a line that goes before a page.
const paneShape = "#{pane_width} #{pane_tabs}"

// shaped splits a page from its [paneShape].
func shaped(said []byte) (cols int, stops string, page []byte, err error) {
	shape, page, _ := bytes.Cut(said, []byte("\n"))
	width, stops, _ := strings.Cut(string(shape), " ")
	if cols, err = strconv.Atoi(width); err != nil {
		err = fmt.Errorf("width and tab stops of a pane: %q: %w", shape, err)
	}
	return cols, stops, page, err
}

// Ask expands a tmux format, such as #{pane_tty}, for the pane. It must not
// come from a user, because formats can run commands.
func (p Pane) Ask(ctx context.Context, format string) (string, error) {
	out, err := p.tmux(ctx, say(format), []string{"capture-pane", "-p", "-S", "0", "-E", "0"})
	answer, _, _ := strings.Cut(string(out), "\n")
	return answer, err
}

// OnAlternate reports whether a full-screen program uses the alternate screen.
func (p Pane) OnAlternate(ctx context.Context) (bool, error) {
	on, err := p.Ask(ctx, "#{alternate_on}")
	return on == "1", err
}

// Page returns what the pane shows, with escape sequences for colours.
func (p Pane) Page(ctx context.Context) (string, error) {
	page, err := p.tmux(ctx, []string{"capture-pane", "-e", "-p"})
	return string(page), err
}

// Press presses a key by its tmux name.
func (p Pane) Press(ctx context.Context, key string) error {
	_, err := p.tmux(ctx, []string{"send-keys", key})
	return err
}

// Type types text literally.
func (p Pane) Type(ctx context.Context, text string) error {
	_, err := p.tmux(ctx, []string{"send-keys", "-l", text})
	return err
}

// Paste pastes text, in which programs that support pastes take no line feed
// for Enter. It must not have control characters: tmux does not filter the
// paste's end.
func (p Pane) Paste(ctx context.Context, text string) error {
	buffer := fmt.Sprintf("git-agent-%d", os.Getpid())
	if _, err := tmux(ctx, strings.NewReader(text), []string{"load-buffer", "-b", buffer, "-"}); err != nil {
		return err
	}
	_, err := p.tmux(ctx, []string{"paste-buffer", "-p", "-d", "-b", buffer})
	return err
}
