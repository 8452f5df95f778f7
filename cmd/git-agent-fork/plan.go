package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/turns"
)

// A plan says what was made, and how to start the agent there.
type plan struct {
	Mission  string   `json:"mission"`
	Source   string   `json:"source"` // the turn, `a1b2c3d4/12`
	Branch   string   `json:"branch"` // short name
	Commit   string   `json:"commit"`
	Worktree string   `json:"worktree,omitempty"`
	Agent    string   `json:"agent"`             // that goes on, named as in records
	Session  string   `json:"session,omitempty"` // of the fork's conversation
	Prompt   string   `json:"prompt,omitempty"`  // the first one: its own, or with --before the turn's
	Command  []string `json:"command"`           // to run in the worktree

	Included *included `json:"included,omitempty"` // if anything but the tree was copied
}

// An included counts what was copied.
type included struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// newPlan describes a fork that was made, with which an agent goes on.
func newPlan(ctx context.Context, repo *git.Repo, f missionstore.ForkPlan, done *missionstore.Forked, of *agent.Agent) (*plan, error) {
	p := &plan{
		Mission: string(f.ID), Source: f.Source.ID().String(), Branch: strings.TrimPrefix(done.Mission.Branch, "refs/heads/"),
		Commit: done.Mission.Base, Worktree: f.Worktree, Agent: of.Name,
	}
	if got := done.Included; got != nil && got.Files > 0 {
		p.Included = &included{got.Files, got.Bytes}
	}
	var first []string
	if p.Prompt = f.Prompt; f.Prompt == "" && f.Before {
		p.Prompt = turns.Prompt(ctx, repo, f.Source)
	}
	if p.Prompt != "" {
		first = append(first, p.Prompt)
	}
	switch {
	case done.File != "":
		p.Session = f.Session
	case done.Why != nil:
		list, err := turns.List(ctx, repo, f.ID)
		if err != nil && !errors.As(err, new(*ledger.UnreadError)) {
			return nil, err // the digest leaves out unreadable ones
		}
		first = append([]string{turns.Digest(list, f.Source, f.Before, p.Prompt != "")}, first...)
	}
	p.Command = of.Command(f.Worktree, p.Session, strings.Join(first, "\n\n"))
	return p, nil
}

// environment returns the variables to add for the agent's command.
func (p *plan) environment() []string { return []string{"GIT_AGENT_MISSION=" + p.Mission} }

// print writes the command line that starts the agent, for people and shells.
func (p *plan) print(w io.Writer) error {
	line := cmdline.Shell(p.Command)
	if p.Worktree != "" {
		line = "cd " + cmdline.Shell([]string{p.Worktree}) + " && " + line
	}
	_, err := fmt.Fprintln(w, line)
	return err
}
