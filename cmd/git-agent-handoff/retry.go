package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/retry"
	"gitagent/internal/streamjson"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// maxPrompt bounds standard input, in bytes. It is the client's own limit.
const maxPrompt = 10 << 20

func retryAction(c *cli.Context) error {
	r := &retrying{c: c, command: c.Args().Slice(), attempts: c.Int("attempts"), check: c.String("check")}
	switch {
	case len(r.command) == 0:
		return cmdline.Usagef("retry needs an agent command, after --")
	case r.attempts < 1:
		return cmdline.Usagef("--attempts %d: there is at least one", r.attempts)
	case c.Int("tail") < 0 || c.Int("tail") > maxPrompt:
		return cmdline.Usagef("--tail %d: want a number of bytes up to %d", c.Int("tail"), maxPrompt)
	}
	if err := terminal.Find(r.command[0]); err != nil {
		return err
	}
	if a, ok := agent.Started(r.command); ok && a.Interactive(r.command) && cmdline.IsTerminal(os.Stdin) && cmdline.IsTerminal(os.Stdout) {
		return terminal.Launch(".", r.command, nil)
	}
	var w *workspace.Workspace
	var settings *config.Config
	repo, err := git.Open(c.Context)
	switch {
	case err == nil:
		w, err = command.Open(repo)
		settings = w.Settings
	case errors.Is(err, git.ErrNotFound): // outside a repository nothing is recorded
		settings, err = config.Load(config.UserPath(), "")
	}
	if err != nil {
		return err
	}
	r.checkTail = int(settings.Retry.SessionTailSize)
	if c.IsSet("tail") {
		r.tail = c.Int("tail")
	} else if settings.Retry.IncludeSessionTail {
		r.tail = int(settings.Retry.SessionTailSize)
	}
	if !cmdline.IsTerminal(os.Stdin) {
		prompt, err := io.ReadAll(io.LimitReader(c.App.Reader, maxPrompt+1))
		if err != nil {
			return fmt.Errorf("read the prompt: %w", err)
		}
		if len(prompt) > maxPrompt {
			return fmt.Errorf("the prompt has more than %d bytes", maxPrompt)
		}
		r.prompt = strings.TrimRight(string(prompt), "\n")
	}
	records, err := newRecords(c, w)
	if err != nil {
		return err
	}
	return r.run(records)
}

type retrying struct {
	c         *cli.Context
	command   []string
	attempts  int
	prompt    string
	check     string
	tail      int // bytes of output to keep
	checkTail int // bytes of the check's output to keep
}

type attempt struct {
	prompt  string // including the report on the previous attempt
	tail    string
	failure *retry.Failure // nil if it succeeded
	status  int            // exit status of the command after the last attempt
	stopped bool           // this process was told to end
}

func (r *retrying) run(records *records) error {
	var last *retry.Failure
	for n := 1; ; n++ {
		records.began = time.Now()
		a, err := r.attempt(n, last, records.env())
		if err != nil {
			return err
		}
		if err := records.attempt(a, r.command); err != nil {
			r.warn(err)
		}
		if a.failure == nil {
			return nil
		}
		why := fmt.Sprintf("attempt %d of %d failed: %s", n, r.attempts, a.failure.Why)
		stopped := a.stopped || r.c.Context.Err() != nil // a signal may come between two attempts
		if stopped || n == r.attempts {
			if !stopped {
				if err := records.handOff(*a.failure); err != nil {
					r.warn(err)
				}
			}
			return cmdline.ExitWith(a.status, errors.New(why))
		}
		fmt.Fprintf(r.c.App.ErrWriter, "git-agent-handoff: %s\n", cmdline.OneLine(why))
		last = a.failure
	}
}

func (r *retrying) warn(err error) {
	fmt.Fprintf(r.c.App.ErrWriter, "git-agent-handoff: warning: %s\n", cmdline.OneLine(err.Error()))
}

func (r *retrying) attempt(n int, last *retry.Failure, env []string) (attempt, error) {
	a := attempt{prompt: r.prompt}
	if last != nil {
		a.prompt = strings.Trim(r.prompt+"\n\n"+last.Context(), "\n")
	}
	job := terminal.Job{Env: env, Stdout: r.c.App.Writer, Stderr: r.c.App.ErrWriter}
	job.Command, job.Stdin = place(r.command, a.prompt)
	var ring *retry.Ring
	if r.tail > 0 {
		ring = retry.NewRing(r.tail)
		job.Stdout, job.Stderr = io.MultiWriter(job.Stdout, ring), io.MultiWriter(job.Stderr, ring)
	}
	var renderer *streamjson.Renderer
	if printsJSON(r.command) {
		renderer = streamjson.NewRenderer(job.Stdout)
		job.Stdout = renderer
	}
	exit, err := job.Run()
	if err != nil {
		return a, err
	}
	f := retry.Failure{Attempt: n, Of: r.attempts}
	if renderer != nil {
		if err := renderer.Close(); err != nil {
			return a, err
		}
		f.Why = failureOf(renderer.Result())
	}
	if exit.Status != 0 {
		f.Why = strings.TrimSuffix(fmt.Sprintf("it ended with status %d: %s", exit.Status, f.Why), ": ")
	}
	if ring != nil {
		a.tail = ring.Tail()
		f.Tail = a.tail
	}
	if f.Why == "" && exit.Caught == nil && r.check != "" {
		if exit, err = r.judge(&f); err != nil {
			return a, err
		}
	}
	if exit.Caught != nil {
		f.Why, a.stopped = fmt.Sprintf("it was stopped (%s)", exit.Caught), true
	}
	if f.Why != "" {
		a.failure, a.status = &f, statusOf(exit)
	}
	return a, nil
}

func (r *retrying) judge(f *retry.Failure) (terminal.Exit, error) {
	ring := retry.NewRing(r.checkTail)
	out := io.MultiWriter(r.c.App.ErrWriter, ring)
	exit, err := terminal.Job{Command: terminal.Shell(r.check), Stdout: out, Stderr: out}.Run()
	if err == nil && exit.Status != 0 {
		f.Why = fmt.Sprintf("the check `%s` ended with status %d", r.check, exit.Status)
		f.Check, f.Output = r.check, ring.Tail()
	}
	return exit, err
}

// place puts the prompt in place of {prompt} in the command, or on its stdin.
func place(cmd []string, prompt string) ([]string, io.Reader) {
	const placeholder = "{prompt}"
	with := slices.Clone(cmd)
	placed := false
	for i := range with {
		if i > 0 && strings.Contains(with[i], placeholder) {
			with[i], placed = strings.ReplaceAll(with[i], placeholder, prompt), true
		}
	}
	if placed || prompt == "" {
		return with, nil
	}
	return with, strings.NewReader(prompt + "\n")
}

// printsJSON reports whether a client will print JSON: lines or one object.
func printsJSON(cmd []string) bool {
	line := strings.Join(cmd, " ")
	return slices.ContainsFunc([]string{"stream-json", "json"}, func(format string) bool {
		return strings.Contains(line, "--output-format "+format) || strings.Contains(line, "--output-format="+format)
	})
}

// failureOf returns why a client printing JSON failed, or "". Its status does
// not tell: an interrupted client exits with 0.
func failureOf(result streamjson.Result) string {
	switch {
	case !result.Told:
		return "it ended without a result"
	case result.IsError:
		return fmt.Sprintf("%s (%s)", cmdline.OneLine(result.Text), result.Reason)
	}
	return ""
}

// statusOf returns the exit status of a failure, never 0.
func statusOf(exit terminal.Exit) int {
	if exit.Status != 0 {
		return exit.Status
	}
	if s, ok := exit.Caught.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 1
}
