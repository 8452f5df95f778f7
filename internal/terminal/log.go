package terminal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gitagent/internal/vt"
)

// Options of the pane for the path of its log, and while that begins for the
// process that does it. User options begin with @.
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
// that gets the output says that it runs, with a byte that shows nothing, and
// waits until what was captured is there, or this process is not.
func (p Pane) pipe(ctx context.Context, f *os.File) error {
	before, err := f.Stat()
	if err != nil {
		return err
	}
	// tmux and the shell can't misread a name outside the command.
	wait := fmt.Sprintf(`exec >>#{q:%s} && command -v cat >/dev/null && printf '\r' || exit; `+
		`while kill -0 #{%s} 2>/dev/null && test $(wc -c <#{q:%[1]s}) -le %[3]d; do sleep 0.1; done; exec cat`, logOption, beginOption, before.Size()+1)
	pid := strconv.Itoa(os.Getpid())
	said, err := p.tmux(ctx,
		// That of a log that has ended goes. With -o the second of two at once fails.
		[]string{"if-shell", "-F", "#{?pane_pipe,,1}", "set-option -p -u -t " + p.target + " " + logOption},
		[]string{"set-option", "-p", "-o", logOption, f.Name()},
		[]string{"set-option", "-p", beginOption, pid},
		say(paneState), say(paneShape), []string{"capture-pane", "-e", "-p"},
		[]string{"pipe-pane", "-o", wait},
		[]string{"set-option", "-p", "-u", beginOption})
	ours := err == nil
	var text string
	if ours {
		text, err = picture(said)
	}
	if err == nil {
		err = runs(ctx, f, before.Size())
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if begun, e := p.Ask(ctx, "#{"+beginOption+"}"); ours || e == nil && begun == pid {
		_, _ = p.tmux(ctx, []string{"set-option", "-p", "-u", beginOption}, []string{"set-option", "-p", "-u", logOption}, []string{"pipe-pane"})
	}
	return err
}

// beginWait is how long tmux and a shell may take to begin, on any machine.
const beginWait = 10 * time.Second

// runs waits until the command that gets the pane's output runs: it has appended
// to a file of that size. tmux does not say that it has failed.
func runs(ctx context.Context, f *os.File, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, beginWait)
	defer cancel()
	for {
		now, err := f.Stat()
		if err != nil || now.Size() > size {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("log to %s: the command that tmux starts for that does not begin: %w", f.Name(), ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
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
