package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/command"
	"gitagent/internal/limit"
	"gitagent/internal/terminal"
	"gitagent/internal/version"
)

// An inspected is an agent, and what its settings have of our hooks.
type inspected struct {
	*agent.Agent
	report *hooks.Report
	user   string // the settings that init edits; "" if none or unreadable
	usable bool   // init can install the hooks
}

func (i inspected) hooked() bool { return len(i.report.Installed)+len(i.report.Plugins) > 0 }

// inspect reads the hooks of the agents that are used on this machine or have
// ours, or else of the default agent. project is the worktree, or empty.
func (x *examination) inspect(project string) {
	used := command.ToInstall()
	for _, a := range agent.All() {
		i := inspected{Agent: a}
		places := hooks.Places{Config: a.ConfigDir(os.Getenv), Project: project}
		i.report = a.Inspect(places)
		edit, err := a.Install(places, false)
		if err == nil {
			i.user = edit.Path
		}
		i.usable = err == nil && project != ""
		if i.hooked() || slices.Contains(used, a) && !errors.Is(err, errors.ErrUnsupported) {
			x.agents = append(x.agents, i)
		}
	}
	hooked := slices.ContainsFunc(x.agents, inspected.hooked)
	var agents []*agent.Agent
	for _, i := range x.agents {
		if i.usable && (i.hooked() || !hooked) {
			agents = append(agents, i.Agent)
		}
	}
	if len(agents) > 0 {
		x.init = initOf(agents...)
	}
}

// initOf returns the command that switches recording on with hooks of agents.
func initOf(agents ...*agent.Agent) string {
	cmd := "git agent-turn init"
	if !slices.Equal(agents, command.ToInstall()) {
		for _, a := range agents {
			cmd += " --agent " + a.Program
		}
	}
	return cmd
}

func (x *examination) clients() {
	for _, a := range agent.All() {
		if terminal.Find(a.Program) != nil {
			continue
		}
		ctx, cancel := limit.Within(x.ctx, limit.Of(x.ctx).Version)
		printed, err := terminal.Version(ctx, a.Program)
		cancel()
		version := agent.Version(printed)
		switch {
		case err != nil:
			x.say(a.Program, err.Error())
		case version == "":
			x.say(a.Program, "it does not tell its version")
		case agent.Newer(version, a.Tested):
			x.say(a.Program, fmt.Sprintf("%s, which is newer than %s, the last one that was tested", version, a.Tested))
		default:
			x.say(a.Program, version)
		}
	}
}

// hooks reports where each agent's hooks are, and what is wrong with them.
func (x *examination) hooks() {
	hooked := slices.ContainsFunc(x.agents, inspected.hooked)
	for _, i := range x.agents {
		name := ""
		if len(x.agents) > 1 {
			name = i.Title + ": "
		}
		missing := !slices.ContainsFunc(i.report.Findings, func(f hooks.Finding) bool { return f.Problem != hooks.Missing })
		if hooked && !i.hooked() && missing { // the user may not want it
			f := finding{Level: fine, What: "hooks", Text: name + "none of ours, so its turns are not recorded"}
			if i.usable {
				f.Remedy = initOf(i.Agent)
			}
			x.add(f)
			continue
		}
		x.hooksOf(i, name)
	}
}

func (x *examination) hooksOf(i inspected, name string) {
	byPath := make(map[string][]string)
	for _, h := range i.report.Installed {
		byPath[h.Path] = append(byPath[h.Path], h.Event)
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		x.say("hooks", name+strings.Join(byPath[path], ", ")+" in "+path)
	}
	for _, p := range i.report.Plugins {
		x.plugin(p, name, len(i.report.Installed) > 0)
	}
	for _, p := range i.report.Off {
		x.say("hooks", name+"the plugin "+p+" is switched off")
	}
	for _, f := range i.report.Findings {
		remedy := x.hooksRemedy(i, f)
		text := name + f.String()
		if remedy == "" {
			text += advice(f)
		}
		x.problem("hooks", text, remedy)
	}
}

// plugin reports a plugin with our hooks; if beside, settings have them, too.
func (x *examination) plugin(p hooks.Plugin, name string, beside bool) {
	text := strings.TrimSpace("the plugin " + p.Name + " " + p.Version)
	own := strings.TrimPrefix(version.String(), "v")
	if release := agent.Version(own) == own; release && p.Version != "" && p.Version != own {
		x.warn("hooks", fmt.Sprintf("%s%s, which is not the version of the programs, %s", name, text, own), p.Update)
		return
	}
	if beside {
		text += ", beside those in settings; what both tell is recorded once"
	}
	x.say("hooks", name+text)
}

// advice returns what a person has to edit where no command mends a finding.
func advice(f hooks.Finding) string {
	switch {
	case f.Managed:
		return "; only an administrator can change that"
	case f.Problem == hooks.Disabled:
		return "; take it out of the file"
	case f.Problem == hooks.NotJSON, f.Problem == hooks.WrongType:
		return "; mend the file there"
	case f.Problem == hooks.Changed:
		return "; take that hook out of the file, then run: git agent-turn init"
	}
	return ""
}

// hooksRemedy returns the command that mends an agent's hooks, or "".
func (x *examination) hooksRemedy(i inspected, f hooks.Finding) string {
	switch {
	case f.Problem == hooks.Missing && !slices.ContainsFunc(x.agents, inspected.hooked):
		return x.init // for all at once
	case f.Problem == hooks.Missing && i.usable:
		return initOf(i.Agent)
	case f.Problem == hooks.Changed && i.usable && f.Path == i.user && slices.ContainsFunc(i.report.Plugins, func(p hooks.Plugin) bool { return p.Name == f.Path }):
		return initOf(i.Agent) // which writes the whole file
	}
	return ""
}
