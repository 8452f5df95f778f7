package claude

import (
	"path/filepath"
	"runtime"

	"gitagent/hooks"
)

// entries are the hooks that we install.
//
// Every entry has its own timeout. 60 s is eight times the slowest first turn measured (7.7 s, 30,000
// untracked files). At SessionEnd, the client gives 1.5 s unless told otherwise. The agent waits for the
// hook after each batch of tool calls: 10 s are enough for 5 ms.
var entries = []hooks.Entry{
	{Event: "UserPromptSubmit", Command: "git-agent-turn hook || true", Timeout: 60},
	{Event: "Stop", Command: "git-agent-turn hook || true", Timeout: 60},
	{Event: "StopFailure", Command: "git-agent-turn hook || true", Timeout: 60},
	{Event: "SessionEnd", Command: "git-agent-turn hook || true", Timeout: 20},
	{Event: "SessionStart", Command: "git-agent-handoff hook || true", Timeout: 60},
	{Event: "PostToolBatch", Command: "git-agent-handoff hook || true", Timeout: 10},
	{Event: "PreCompact", Command: "git-agent-handoff hook || true", Timeout: 60},
}

// ConfigDir returns $CLAUDE_CONFIG_DIR, or .claude in the home directory.
func (Agent) ConfigDir(getenv func(string) string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return hooks.InHome(getenv, ".claude")
}

// Install plans how to add our hooks to a file of settings.
func (Agent) Install(places hooks.Places, project bool) (*hooks.Edit, error) {
	return hooks.PlanInstall(settings(places, project), entries)
}

// Remove plans how to take our hooks out of a file of settings.
func (Agent) Remove(places hooks.Places, project bool) (*hooks.Edit, error) {
	return hooks.PlanRemove(settings(places, project), entries)
}

// settings returns the file for all of a user's sessions or, for a project, the one that a team shares.
// The client reads the latter only when it is launched in the project's own directory, not below it.
func settings(places hooks.Places, project bool) string {
	if project {
		return filepath.Join(places.Project, ".claude", "settings.json")
	}
	return filepath.Join(places.Config, "settings.json")
}

// Inspect says which of our hooks the client will run, and what is wrong with them.
func (Agent) Inspect(places hooks.Places) *hooks.Report { return inspect(places, managedSettings()) }

// inspect is [Agent.Inspect] with the settings that an administrator set for everybody.
func inspect(places hooks.Places, managed string) *hooks.Report {
	var files []hooks.Settings
	var plugins []hooks.Plugin
	if places.Config != "" {
		files = append(files, hooks.Settings{Path: settings(places, false)})
		if p, ok := asSkill(places.Config); ok {
			plugins = append(plugins, p)
		}
	}
	if places.Project != "" {
		files = append(files, hooks.Settings{Path: settings(places, true), Team: true},
			hooks.Settings{Path: filepath.Join(places.Project, ".claude", "settings.local.json")})
	}
	r := hooks.Inspect(entries, append(files, hooks.Settings{Path: managed, Managed: true}), plugins...)
	for i := range r.Plugins {
		if p := &r.Plugins[i]; p.Remove == "" {
			describe(places.Config, p)
		}
	}
	return r
}

// managedSettings returns the file with the settings that an administrator set for everybody.
func managedSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// Notice is empty: the client runs new hooks at once.
func (Agent) Notice() string { return "" }
