package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/session"
)

func write(c *cli.Context) error {
	if c.NArg() == 0 && !c.IsSet("summary") && c.IsSet("question") {
		return cmdline.Usagef("--question needs a document or --summary")
	}
	if c.IsSet("summary") && strings.TrimSpace(c.String("summary")) == "" {
		return fmt.Errorf("the summary: %w", handoffstore.ErrEmpty)
	}
	r, err := request(c)
	if err != nil {
		return err
	}
	s, err := open(c)
	if err != nil {
		return err
	}
	r.Summary, r.Questions = c.String("summary"), c.StringSlice("question")
	if r.Log, err = logFile(c.String("log")); err != nil {
		return err
	}
	if c.NArg() == 1 {
		if r.Document, err = document(s.Settings.Rules(), c.App.Reader, s.Repo.Top, c.Args().First()); err != nil {
			return err
		}
		if r.Document.Truncated {
			fmt.Fprintf(c.App.ErrWriter, "git-agent-handoff: warning: the document has more than %d bytes; only its beginning is kept\n", handoffstore.MaxDocument)
		}
	}
	var asked *session.Wake
	if c.Bool("wake") {
		if asked, err = wakeLater(c, s); err != nil {
			return err
		}
	}
	err = handOff(c, s, r)
	if errors.Is(err, git.ErrNotFound) && !r.Says() {
		return cmdline.Hint(err, "name a mission with --mission <id>; list them with: git agent-turn missions")
	}
	if err != nil || asked == nil {
		return err
	}
	_, client := agent.Inside(os.Getenv)
	return s.Workspace.Store.AskWake(c.Context, client.SessionID, *asked)
}

// request reads how a session ends, and its agent. It validates flags first.
func request(c *cli.Context) (handoffstore.Request, error) {
	r := handoffstore.Request{At: time.Now(), Agent: c.String("agent")}
	exit, err := record.ParseExitType(c.String("exit-type"))
	if err != nil {
		return r, cmdline.Usagef("%w", err)
	}
	r.Exit = exit
	program, app := strings.CutSuffix(r.Agent, "-app")
	a, known := agent.Find(program)
	switch {
	case known && app:
		return r, fmt.Errorf("sessions of %s have no terminal: nothing could be handed over there; %s in a terminal can", r.Agent, program)
	case known:
		r.Agent = a.Name
	case r.Agent != "" && !hooks.ValidID(r.Agent):
		return r, cmdline.Usagef("agent %q: an id has letters, digits, - and _, 128 at most", r.Agent)
	}
	return r, nil
}

// document reads the agent's document, named as by [relative]; - is stdin.
func document(rules *redact.Rules, stdin io.Reader, top, name string) (*handoffstore.Document, error) {
	if name == "-" {
		return handoffstore.ReadDocument(rules, stdin, "")
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read document %s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return handoffstore.ReadDocument(rules, f, relative(top, name))
}

// relative returns a path relative to top, with slashes, if below it, or else
// absolute.
func relative(top, name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	if name, ok := git.Within(top, abs); ok {
		return name
	}
	return abs
}

func logFile(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("the log %s: not a regular file", name)
	}
	return filepath.Abs(name)
}
