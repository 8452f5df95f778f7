package terminal

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unicode"
)

// logOption is the pane's option for its log's path. User options begin with @.
const logOption = "@git_agent_log"

// LogFile returns the file of [Pane.StartLog], or "".
func (p Pane) LogFile(ctx context.Context) (string, error) {
	piped, file, err := p.pipe(ctx)
	if err != nil || !piped {
		return "", err
	}
	return file, nil
}

// pipe reports whether tmux pipes the pane's output, and to which log.
func (p Pane) pipe(ctx context.Context) (piped bool, file string, err error) {
	answer, err := p.Ask(ctx, "#{pane_pipe} #{"+logOption+"}")
	on, file, _ := strings.Cut(answer, " ")
	return on == "1", file, err
}

// StartLog makes tmux append the pane's output, after its size and content in a
// form for package screen, to the file with the absolute name. An existing file
// is kept, a link refused. Only the user can read the file.
func (p Pane) StartLog(ctx context.Context, name string) error {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("log to %q: control characters in its name", name)
	}
	piped, _, err := p.pipe(ctx)
	if err != nil {
		return err
	}
	if piped {
		return fmt.Errorf("pane %s is piped already, and it can have one pipe only", p.target)
	}
	now, err := p.picture(ctx)
	if err != nil {
		return err
	}
	if err := appendTo(name, now); err != nil {
		return err
	}
	// tmux and the shell can't misread a name outside the command.
	if _, err := p.tmux(ctx, "set-option", "-p", logOption, name); err != nil {
		return err
	}
	_, err = p.tmux(ctx, "pipe-pane", "-o", "exec cat >>#{q:"+logOption+"}")
	return err
}

// picture returns what makes a terminal look like the pane.
func (p Pane) picture(ctx context.Context) (string, error) {
	state, err := p.Ask(ctx, "#{pane_height} #{pane_width} #{alternate_on} #{cursor_y} #{cursor_x}")
	if err != nil {
		return "", err
	}
	var rows, cols, alternate, y, x int
	if _, err := fmt.Sscan(state, &rows, &cols, &alternate, &y, &x); err != nil {
		return "", fmt.Errorf("state of pane %s: %q: %w", p.target, state, err)
	}
	page, err := p.tmux(ctx, "capture-pane", "-p")
	if err != nil {
		return "", err
	}
	shown := "\x1b[H" + strings.ReplaceAll(strings.TrimSuffix(string(page), "\n"), "\n", "\r\n")
	if alternate == 1 {
		shown = "\x1b[?1049h" + shown
	}
	return fmt.Sprintf("\x1b[8;%d;%dt%s\x1b[%d;%dH", rows, cols, shown, y+1, x+1), nil
}

// appendTo appends to a regular file, which it creates if needed.
func appendTo(name, text string) error {
	f, err := openRegular(name)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// openRegular opens a file for appending, unless name is a link.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600) // follows no link
	if !os.IsExist(err) {
		return f, err
	}
	named, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, fmt.Errorf("log to %s: not a regular file", name)
	}
	f, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if opened, e := f.Stat(); e != nil || !os.SameFile(named, opened) {
		err = fmt.Errorf("log to %s: it was replaced meanwhile", name)
	} else {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
	}
	return f, err
}
