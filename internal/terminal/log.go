package terminal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gitagent/internal/vt"
)

// Options of the pane for the path of its log, and while that begins for that of
// a named pipe. User options begin with @.
const (
	logOption   = "@git_agent_log"
	beginOption = "@git_agent_log_begin"
)

// LogFile returns the file of [Pane.StartLog], or "".
func (p Pane) LogFile(ctx context.Context) (string, error) {
	answer, err := p.Ask(ctx, "#{pane_pipe} #{"+logOption+"}")
	on, file, _ := strings.Cut(answer, " ")
	if on != "1" {
		file = ""
	}
	return file, err
}

// StartLog makes tmux append the pane's output, after its size and content in a
// form for package vt, to the file with the absolute name. Nothing is missing
// between the content and the output. An existing file is kept, a link refused.
// Only the user can read the file.
func (p Pane) StartLog(ctx context.Context, name string) error {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("log to %q: control characters in its name", name)
	}
	state, err := p.Ask(ctx, "#{pane_id} #{pane_dead} #{pane_pipe} #{"+logOption+"}")
	if err != nil {
		return err
	}
	fields := strings.SplitN(state, " ", 4)
	if len(fields) < 4 {
		return fmt.Errorf("state of pane %s: %q", p.target, state)
	}
	switch {
	case fields[1] == "1":
		return fmt.Errorf("pane %s: its program has ended, and nothing more will be printed there", p.target)
	case fields[2] == "1":
		return fmt.Errorf("pane %s is piped already, and it can have one pipe only", p.target)
	}
	p.target = fields[0] // a name may come to mean another pane
	f, made, err := openRegular(name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = p.pipe(ctx, f)
	if err == nil || !made {
		return err
	}
	if other, e := p.LogFile(context.WithoutCancel(ctx)); e != nil || other != name {
		_ = os.Remove(name)
	}
	return err
}

// pipe makes tmux append the pane's content, and all output that follows, to a
// file. It captures the one and begins with the other at once, so the command
// that gets the output waits at a named pipe until what was captured is there.
func (p Pane) pipe(ctx context.Context, f *os.File) error {
	dir, err := os.MkdirTemp("", "git-agent-log-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begin := filepath.Join(dir, "begin")
	if err := makePipe(begin); err != nil {
		return fmt.Errorf("make a pipe: %s: %w", begin, err)
	}
	said, err := p.tmux(ctx,
		// That of a log that has ended goes. With -o the second of two at once fails.
		[]string{"if-shell", "-F", "#{?pane_pipe,,1}", "set-option -p -u -t " + p.target + " " + logOption},
		[]string{"set-option", "-p", "-o", logOption, f.Name()},
		[]string{"set-option", "-p", beginOption, begin},
		say(paneState), say(paneShape), []string{"capture-pane", "-e", "-p"},
		// tmux and the shell can't misread a name outside the command.
		[]string{"pipe-pane", "-o", "exec cat #{q:" + beginOption + "} - >>#{q:" + logOption + "}"})
	var text string
	if err == nil {
		text, err = picture(said)
	}
	if err == nil {
		err = whileRead(ctx, begin, func() error {
			_, err := f.WriteString(text)
			return err
		})
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	unset := []string{"set-option", "-p", "-u", beginOption}
	if err == nil {
		_, _ = p.tmux(ctx, unset)
		return nil
	}
	if ours, e := p.Ask(ctx, "#{"+beginOption+"}"); e == nil && ours == begin {
		_, _ = p.tmux(ctx, unset, []string{"set-option", "-p", "-u", logOption}, []string{"pipe-pane"})
	}
	return err
}

// paneState is a line that picture needs before the [paneShape]. The last
// option is tmux's from 3.6 on.
const paneState = "#{pane_height} #{alternate_on} #{cursor_y} #{cursor_x} #{?#{variation-selector-always-wide},1,0}"

// picture returns what makes a terminal look like the pane whose state, shape
// and page tmux said.
func picture(said []byte) (string, error) {
	state, captive, _ := bytes.Cut(said, []byte("\n"))
	var rows, alternate, y, x, clusters int
	if _, err := fmt.Sscan(string(state), &rows, &alternate, &y, &x, &clusters); err != nil {
		return "", fmt.Errorf("its state: %q: %w", state, err)
	}
	cols, stops, page, err := shaped(captive)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\x1b[8;%d;%dt", rows, cols)
	if clusters == 1 {
		b.WriteString("\x1b[?2027h")
	}
	if alternate == 1 {
		b.WriteString("\x1b[?1049h")
	}
	b.WriteString("\x1b[H")
	if stops != usual(cols) {
		b.WriteString(vt.Stops(stops))
	}
	b.WriteString(strings.ReplaceAll(strings.TrimSuffix(string(vt.Captured(page, cols, stops)), "\n"), "\n", "\r\n"))
	fmt.Fprintf(&b, "\x1b[%d;%dH", y+1, x+1)
	return b.String(), nil
}

// usual returns the tab stops of a pane in which no program has set any.
func usual(cols int) string {
	var stops []string
	for x := 8; x < cols; x += 8 {
		stops = append(stops, strconv.Itoa(x))
	}
	return strings.Join(stops, ",")
}

// openRegular opens a file for appending, unless name is a link, and reports
// whether it made it.
func openRegular(name string) (f *os.File, made bool, err error) {
	f, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600) // follows no link
	if !os.IsExist(err) {
		return f, err == nil, err
	}
	named, err := os.Lstat(name)
	if err != nil {
		return nil, false, err
	}
	if !named.Mode().IsRegular() {
		return nil, false, fmt.Errorf("log to %s: not a regular file", name)
	}
	f, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, false, err
	}
	if opened, e := f.Stat(); e != nil || !os.SameFile(named, opened) {
		err = fmt.Errorf("log to %s: it was replaced meanwhile", name)
	} else {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
	}
	return f, false, err
}
