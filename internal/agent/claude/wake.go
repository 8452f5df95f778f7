package claude

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gitagent/internal/terminal"
)

const (
	// pollEvery is the pause between two looks. A look starts three processes
	// of some milliseconds; the client registers a change after 20 to 70 ms.
	pollEvery = 50 * time.Millisecond

	busyWait   = 2 * time.Minute // for a turn with its Stop hooks, where ours may take a minute
	settleWait = 2 * time.Second // for any other obstacle, which may just be being painted
	echoWait   = 5 * time.Second // for the client to show a key
	clearWait  = time.Minute     // for /clear, including its SessionStart hooks
)

// Wake clears the context of the agent in a pane of tmux and gives it a prompt.
// It types /clear and the prompt, as a person would. pid is
// its client's process, or 0 for any in the pane; configDir is where clients
// register. self is the calling agent's session, or "": Wake would wait for its
// own caller. An error that wraps a [*terminal.Refusal] names an obstacle.
//
// Keys go to the program that has the keyboard. A person may be typing; Enter
// may answer a question from the client; text typed into a running turn is lost
// with its conversation. So the client itself, the process table, tmux and the
// screen must agree that the client waits for input with an empty input box
// before anything is typed, and the text is read back before Enter is pressed.
// All of this is as seen with version 2.1.329.
func Wake(ctx context.Context, pane terminal.Pane, configDir string, pid int, self, prompt string) error {
	id, err := pane.Ask(ctx, "#{pane_id}") // a name may come to mean another pane
	if err != nil {
		return err
	}
	if pane, err = terminal.FindPane(id); err != nil {
		return err
	}
	client, err := findClient(ctx, pane, configDir, pid)
	if err != nil {
		return err
	}
	if client.Session == self {
		return refuse("the agent's turn ends only after this; it can ask for it with: git agent-handoff write --wake")
	}
	w := &waker{pane: pane, config: configDir, pid: client.PID}
	if err := w.ready(ctx, client.Session, busyWait); err != nil {
		return err
	}
	if err := w.clear(ctx); err != nil {
		return err
	}
	fresh, err := w.begun(ctx, client.Session)
	if err != nil {
		return err
	}
	if err := w.ready(ctx, fresh, clearWait); err != nil {
		return cleared(err)
	}
	return cleared(w.submit(ctx, prompt))
}

type waker struct {
	pane   terminal.Pane
	config string
	pid    int
}

// ready waits until the client has a session and nothing is in the way.
func (w *waker) ready(ctx context.Context, id string, patience time.Duration) error {
	end := time.Now().Add(patience)
	var since time.Time // first sight of another obstacle than work
	idle := false       // it was idle already
	for {
		why, busy, err := w.obstacle(ctx, id)
		switch {
		case err != nil:
			return err
		case why == "":
			return nil
		case busy && idle:
			return refuse("the agent was given something to do")
		case busy:
			since = time.Time{}
		case since.IsZero():
			since, idle = time.Now(), true
		case time.Since(since) > settleWait:
			return refuse("%s", why)
		}
		if time.Now().After(end) {
			return refuse("%s for %v", why, patience)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// obstacle returns the present obstacle, or "". busy is work, which will end.
func (w *waker) obstacle(ctx context.Context, id string) (why string, busy bool, err error) {
	client, err := readRegistration(w.config, w.pid)
	if err != nil {
		return "", false, err
	}
	switch {
	case client.Session != id:
		return "the client has another session now", false, nil
	case client.Status == "busy":
		return "the agent is at work", true, nil
	case client.Status == "waiting":
		return fmt.Sprintf("the client asks a question (%s)", client.WaitingFor), false, nil
	case client.Status != "idle":
		return fmt.Sprintf("the client is %q", client.Status), false, nil
	}
	state, err := w.pane.Ask(ctx, "#{pane_in_mode} #{pane_synchronized}")
	if err != nil {
		return "", false, err
	}
	switch mode, synchronized, _ := strings.Cut(state, " "); {
	case mode != "0":
		return "the pane is in copy mode", false, nil
	case synchronized == "1":
		return "its keys go to other panes, too (synchronize-panes)", false, nil
	}
	processes, err := terminal.Processes(ctx, w.pid)
	switch {
	case err != nil:
		return "", false, err
	case len(processes) == 0:
		return "", false, errors.New("the client has ended")
	case processes[0].Stopped:
		return "the client is suspended", false, nil
	case !processes[0].InFront:
		return "another program has the terminal", false, nil
	}
	text, shown, err := w.box(ctx)
	switch {
	case err != nil:
		return "", false, err
	case !shown:
		return "the client shows no input box", false, nil
	case text != "":
		return "there is a draft in the input box", false, nil
	}
	return "", false, nil
}

func (w *waker) box(ctx context.Context) (text string, shown bool, err error) {
	page, err := w.pane.Page(ctx)
	text, shown = readBox(page)
	return text, shown, err
}

func (w *waker) clear(ctx context.Context) error {
	// In vi's normal mode, x is a command that does nothing in an empty box.
	if err := w.pane.Type(ctx, "x"); err != nil {
		return err
	}
	if err := w.shows(ctx, "x"); err != nil {
		if text, shown, e := w.box(ctx); e == nil && shown && text == "" {
			return refuse("the client doesn't take letters as text: vi's normal mode?")
		}
		return err
	}
	if err := w.pane.Press(ctx, "BSpace"); err != nil {
		return err
	}
	if err := w.shows(ctx, ""); err != nil {
		return err
	}
	if err := w.pane.Type(ctx, "/clear"); err != nil {
		return err
	}
	if err := w.shows(ctx, "/clear"); err != nil {
		return err
	}
	return w.pane.Press(ctx, "Enter")
}

func (w *waker) begun(ctx context.Context, old string) (fresh string, err error) {
	err = w.await(ctx, clearWait, "no new session has begun after /clear", func() (bool, error) {
		client, err := readRegistration(w.config, w.pid)
		fresh = client.Session
		return err == nil && fresh != old, err
	})
	return fresh, err
}

func (w *waker) submit(ctx context.Context, prompt string) error {
	if err := w.pane.Paste(ctx, prompt); err != nil {
		return err
	}
	if err := w.shows(ctx, strings.Join(strings.Fields(prompt), "")); err != nil {
		return err
	}
	if err := w.pane.Press(ctx, "Enter"); err != nil {
		return err
	}
	return w.await(ctx, echoWait, "the client did not take the message after Enter", func() (bool, error) {
		client, err := readRegistration(w.config, w.pid)
		if err != nil || client.Status == "busy" {
			return err == nil, err
		}
		text, shown, err := w.box(ctx)
		return shown && text == "", err // the turn may be over
	})
}

// shows waits until the input box shows text, or the end of a long text.
func (w *waker) shows(ctx context.Context, text string) error {
	why := fmt.Sprintf("what was typed is not what stands in the input box: is a person typing? (wanted %.40q)", text)
	return w.await(ctx, echoWait, why, func() (bool, error) {
		got, shown, err := w.box(ctx)
		return shown && (got == text || got != "" && len(text) > 80 && strings.HasSuffix(text, got)), err
	})
}

// await polls ok, and refuses with the reason why after patience.
func (w *waker) await(ctx context.Context, patience time.Duration, why string, ok func() (bool, error)) error {
	end := time.Now().Add(patience)
	for {
		done, err := ok()
		if done || err != nil {
			return err
		}
		if time.Now().After(end) {
			return refuse("%s", why)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollEvery):
		return nil
	}
}
