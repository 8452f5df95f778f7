package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A checked is the result of a fork's check.
type checked struct {
	why    string // why it has no result, or ""
	status int
	took   time.Duration
	output string // the last lines
}

func (k *checked) passed() bool { return k != nil && k.why == "" && k.status == 0 }

func (k *checked) String() string {
	switch {
	case k.why != "":
		return k.why
	case k.status == 0:
		return "passed after " + took(k.took)
	}
	return fmt.Sprintf("failed with status %d after %s", k.status, took(k.took))
}

const interrupted = "interrupted"

// check runs the check in the forks' worktrees. Its error is an interruption.
func (t *comparing) check() error {
	var run []*compared
	for _, f := range t.forks {
		why, err := t.unchecked(f)
		if err != nil {
			return err
		}
		f.check = &checked{why: why}
		if why == "" {
			f.check.why = interrupted // until it ends
			run = append(run, f)
		}
	}
	jobs := make(chan *compared, len(run))
	for _, f := range run {
		jobs <- f
	}
	close(jobs)
	var workers sync.WaitGroup
	var said sync.Mutex
	var caught os.Signal
	for range min(t.c.Int("jobs"), len(run)) {
		signals := make(chan os.Signal, 8) // each job gets all of them
		terminal.Catch(signals)
		workers.Go(func() {
			for f := range jobs {
				s := f.run(t.c.String("check"), signals)
				said.Lock()
				if s != nil {
					caught = s
				}
				cmdline.WriteMessage(t.c.App.ErrWriter, "", "checked "+f.name+": "+f.check.String())
				said.Unlock()
				if s != nil {
					return
				}
			}
		})
	}
	workers.Wait()
	if caught == nil && t.c.Context.Err() != nil { // before signals were caught
		caught = os.Interrupt
	}
	if caught != nil {
		return cmdline.ExitWith(128+terminal.Number(caught), fmt.Errorf("interrupted (%s)", caught))
	}
	return nil
}

// unchecked returns why a fork is not checked, or "". Untrusted code runs only
// after a person has accepted it, and wants that.
func (t *comparing) unchecked(f *compared) (string, error) {
	id := f.Mission.ID
	switch {
	case f.there == nil:
		return "not checked: it has no worktree here", nil
	case !f.Newest:
		return "not checked: its worktree has gone on", nil
	case !f.Foreign:
		return "", nil
	case !cmdline.CanAsk():
		return fmt.Sprintf("not checked: %v (%s)", workspace.ErrUntrusted, cmdline.Unasked()), nil
	}
	s, err := turns.Find(t.c.Context, t.w, "", string(id))
	if err == nil {
		_, _, err = command.Usable(t.c, t.w, s)
	}
	if t.c.Context.Err() != nil {
		return "", t.c.Context.Err()
	}
	if err != nil && !errors.Is(err, git.ErrNotFound) { // it may have no turn at all
		return "not checked: " + err.Error(), nil
	}
	answer, err := cmdline.Ask(t.c.Context, fmt.Sprintf("Run the check in the worktree of mission %s, which is untrusted?", id), "yes", "no")
	if err == nil && answer != "yes" {
		return "not checked: " + workspace.ErrUntrusted.Error(), nil
	}
	return "", err
}

// run runs the check in a fork's worktree, and returns the interrupting signal.
func (f *compared) run(cmd string, signals <-chan os.Signal) os.Signal {
	select {
	case s := <-signals:
		return s
	default:
	}
	end := new(tail)
	job := command.InWorktree(cmd, f.there.Top, f.Mission.ID)
	job.Stdout, job.Stderr, job.Caught = end, end, signals
	began := time.Now()
	exit, err := job.Run()
	f.check.status, f.check.took, f.check.output = exit.Status, time.Since(began), end.lines()
	switch {
	case exit.Caught != nil:
	case err != nil:
		f.check.why = "not checked: " + err.Error()
	default:
		f.check.why = ""
	}
	return exit.Caught
}

type tail struct{ text []byte }

// A tail keeps maxTail bytes, and shows maxLines lines of maxLine runes.
const (
	maxTail  = 32 << 10
	maxLines = 20
	maxLine  = 500
)

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p[max(0, len(p)-maxTail):]...)
	if len(t.text) > 2*maxTail {
		t.text = append(t.text[:0], t.text[len(t.text)-maxTail:]...)
	}
	return len(p), nil
}

func (t *tail) lines() string {
	text := strings.TrimRight(string(t.text[max(0, len(t.text)-maxTail):]), "\r\n")
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-maxLines):]
	for i, l := range lines {
		l = strings.TrimRight(l, "\r")
		l = l[strings.LastIndexByte(l, '\r')+1:] // the last state of a progress bar
		lines[i] = ledger.Head(l, maxLine)
	}
	return strings.Join(lines, "\n")
}
