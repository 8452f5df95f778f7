package agent

import (
	"slices"

	"gitagent/hooks"
	"gitagent/internal/agent/claude"
	"gitagent/internal/agent/codex"
	"gitagent/internal/agent/copilot"
	"gitagent/internal/agent/droid"
	"gitagent/internal/agent/gemini"
	"gitagent/internal/agent/opencode"
	"gitagent/internal/agent/pi"
	"gitagent/internal/agent/qwen"
	"gitagent/internal/redact"
	"gitagent/internal/session"
)

// all are the agents. The first is for hooks and records that name none.
var all = []*Agent{
	{
		Name: claude.Name, Program: claude.Program, Title: claude.Title, Tested: claude.Tested,
		ConfigDir: claude.ConfigDir, Install: claude.Hooks.Install, Remove: claude.Hooks.Remove, Inspect: claude.Hooks.Inspect,
		Plugin: claude.Plugin,
		Event:  hooks.Parse, Ignored: "StopFailure", Reported: claude.Reported, Effects: claude.Effects, Client: claude.Client, Variables: claude.Variables, Programs: []string{claude.Program},
		Running: claude.Running, Registered: claude.Registered, Files: claude.Files, History: claude.History, Worktrees: claude.Worktrees,
		Reader: claude.Reader, Quoter: claude.Quoter, Structure: claude.Structure, Subagents: claude.Sides,
		Within:     true,
		Late:       true, // the file is written from a timer, and the Stop hook does not wait for it
		NewSession: session.NewID, Rebuild: claude.Rebuild, Command: claude.Command,
		WithSession: claude.WithSession, Interactive: claude.Interactive, Wake: claude.Wake,
	},
	{
		Name: codex.Name, Program: codex.Program, Title: codex.Title, Tested: codex.Tested,
		ConfigDir: codex.ConfigDir, Install: codex.Hooks.Install, Remove: codex.Hooks.Remove, Inspect: codex.Hooks.Inspect,
		Notice: "codex runs new hooks only after you have trusted them: start codex once and review them there",
		Event:  codex.Event, Effects: codex.Effects, Client: codex.Client, Variables: codex.Variables, Programs: codex.Programs,
		Running: codex.Running, Files: codex.Files, History: codex.History,
		Reader: codex.Reader, Structure: codex.Structure, Subagents: codex.Sides, Claims: codex.Claims, Continues: codex.Continues,
		NewSession: codex.NewSession, Rebuild: codex.Rebuild, Command: codex.Command, Interactive: codex.Interactive,
	},
	edition(opencode.OpenCode),
	{
		Name: gemini.Name, Program: gemini.Program, Title: gemini.Title, Tested: gemini.Tested,
		ConfigDir: gemini.ConfigDir, Install: gemini.Hooks.Install, Remove: gemini.Hooks.Remove, Inspect: gemini.Hooks.Inspect,
		Event: gemini.Event, Effects: gemini.Effects, Client: gemini.Client, Variables: gemini.Variables, Programs: []string{gemini.Program},
		Files: gemini.Files, History: gemini.History, Worktrees: gemini.Worktrees,
		Reader: gemini.Reader, Structure: gemini.Structure,
		NewSession: session.NewID, Rebuild: gemini.Rebuild, Command: gemini.Command,
		WithSession: gemini.WithSession, Interactive: gemini.Interactive,
	},
	{
		Name: pi.Name, Program: pi.Program, Title: pi.Title, Tested: pi.Tested,
		ConfigDir: pi.ConfigDir, Install: pi.Hooks.Install, Remove: pi.Hooks.Remove, Inspect: pi.Hooks.Inspect,
		Notice: "pi loads extensions when it starts: type /reload in running ones",
		Event:  pi.Event, Effects: pi.Effects, Client: pi.Client, Variables: pi.Variables, Programs: []string{pi.Program},
		Files: pi.Files, History: pi.History,
		Reader: pi.Reader, Structure: pi.Structure, Continues: pi.Continues,
		NewSession: session.NewID, Rebuild: pi.Rebuild, Command: pi.Command,
		WithSession: pi.WithSession, Interactive: pi.Interactive,
	},
	{
		Name: copilot.Name, Program: copilot.Program, Title: copilot.Title, Tested: copilot.Tested,
		ConfigDir: copilot.ConfigDir, Install: copilot.Hooks.Install, Remove: copilot.Hooks.Remove, Inspect: copilot.Hooks.Inspect,
		Event: copilot.Event, Flat: true, Effects: copilot.Effects, Client: copilot.Client, Borrows: copilot.Borrows,
		Variables: copilot.Variables, Programs: []string{copilot.Program},
		Path: copilot.Path, Files: copilot.Files, History: copilot.History,
		Reader: copilot.Reader, Structure: copilot.Structure, Subagents: copilot.Sides,
		Late:       true, // seldom, and never by more than the note of the hook
		NewSession: session.NewID, Rebuild: copilot.Rebuild, Command: copilot.Command,
		WithSession: copilot.WithSession, Interactive: copilot.Interactive,
	},
	{
		Name: qwen.Name, Program: qwen.Program, Title: qwen.Title, Tested: qwen.Tested,
		ConfigDir: qwen.ConfigDir, Install: qwen.Hooks.Install, Remove: qwen.Hooks.Remove, Inspect: qwen.Hooks.Inspect,
		Event: qwen.Event, Ignored: "StopFailure", Effects: qwen.Effects, Client: qwen.Client, Variables: qwen.Variables, Programs: []string{qwen.Program},
		Running: qwen.Running, Registered: qwen.Registered, Files: qwen.Files, History: qwen.History, Worktrees: qwen.Worktrees,
		Reader: qwen.Reader, Structure: qwen.Structure, Subagents: qwen.Sides, Continues: qwen.Continues,
		Within:     true,
		Late:       true, // it queues what it writes, and the Stop hook starts meanwhile
		EndsUntold: true, // without a terminal
		NewSession: session.NewID, Rebuild: qwen.Rebuild, Command: qwen.Command,
		WithSession: qwen.WithSession, Interactive: qwen.Interactive,
	},
	{
		Name: droid.Name, Program: droid.Program, Title: droid.Title, Tested: droid.Tested,
		ConfigDir: droid.ConfigDir, Install: droid.Hooks.Install, Remove: droid.Hooks.Remove, Inspect: droid.Hooks.Inspect,
		Event: droid.Event, Effects: droid.Effects, Client: droid.Client, Variables: droid.Variables, Programs: []string{droid.Program},
		Files: droid.Files, History: droid.History,
		Reader: droid.Reader, Structure: droid.Structure, Spent: droid.Spent,
		NewSession: session.NewID, Rebuild: droid.Rebuild, Command: droid.Command, Interactive: droid.Interactive,
	},
	edition(opencode.Kilo),
}

// edition is OpenCode under one of its names.
func edition(c opencode.Edition) *Agent {
	return &Agent{
		Name: c.Name, Program: c.Program, Title: c.Title, Tested: c.Tested,
		ConfigDir: c.ConfigDir, Install: c.Hooks().Install, Remove: c.Hooks().Remove, Inspect: c.Hooks().Inspect,
		Notice: c.Program + " loads plugins when it starts: start running ones again",
		Event:  hooks.Parse, Effects: opencode.Effects, Client: c.Environment, Variables: c.Variables(), Programs: []string{c.Program},
		Files:  c.Files, // older ones are in a database
		Reader: opencode.Reader, Structure: opencode.Structure, Subagents: opencode.Sides, Continues: opencode.Continues,
		NewSession: opencode.NewSession, Rebuild: c.Rebuild, Command: c.Command, Interactive: c.Interactive,
	}
}

// All returns the supported agents.
func All() []*Agent { return slices.Clone(all) }

// Default returns the agent of hooks and records that name none.
func Default() *Agent { return all[0] }

// Find returns the agent with a name, its own or its program's.
func Find(name string) (a *Agent, ok bool) {
	i := slices.IndexFunc(all, func(a *Agent) bool { return a.Name == name || a.Program == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// Of returns the agent with a record's name, or else the default one.
func Of(name string) *Agent {
	if a, ok := Find(name); ok {
		return a
	}
	return Default()
}

// Programs returns the values of --agent.
func Programs() []string {
	var names []string
	for _, a := range all {
		names = append(names, a.Program)
	}
	return names
}

// Structure is what any of the agents says of a member of records, see
// [redact.Structure]: a word that means something else in another client's
// costs at most a match.
func Structure(name string) redact.Part {
	part := redact.Content
	for _, a := range all {
		part = max(part, a.Structure(name))
	}
	return part
}
