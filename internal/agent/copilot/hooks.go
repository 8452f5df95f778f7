package copilot

import (
	"path/filepath"

	"gitagent/hooks"
)

// Hooks are our hooks. The client runs those of every file in its directories
// for hooks, so ours have one of their own. It takes the names of events that
// Claude Code has, and then sends its payloads.
//
// PreCompact is left out: no session starts after it.
var Hooks = hooks.Setup{
	Entries: []hooks.Entry{
		{Event: "UserPromptSubmit", Command: "git-agent-turn hook --agent copilot || true", Timeout: 60},
		{Event: "Stop", Command: "git-agent-turn hook --agent copilot || true", Timeout: 60},
		{Event: "SessionEnd", Command: "git-agent-turn hook --agent copilot || true", Timeout: 20},
		{Event: "SessionStart", Command: "git-agent-handoff hook --agent copilot || true", Timeout: 60},
		{Event: "PostToolUse", Command: "git-agent-handoff hook --agent copilot || true", Timeout: 10},
		{Event: "PostToolUseFailure", Command: "git-agent-handoff hook --agent copilot || true", Timeout: 10},
	},
	User:    "hooks/git-agent.json",
	Project: ".github/hooks/git-agent.json",
	Check:   disabled,
}

// ConfigDir returns $COPILOT_HOME, or .copilot in the home directory.
func ConfigDir(getenv func(string) string) string {
	if dir := getenv("COPILOT_HOME"); dir != "" {
		return dir
	}
	return hooks.InHome(getenv, ".copilot")
}

// disabled adds to a report the settings that turn off hooks; they are not in
// the files of hooks.
func disabled(r *hooks.Report, files []hooks.Settings, config string) {
	settings := []string{filepath.Join(config, "settings.json")}
	for _, f := range files {
		if f.Team { // .github/hooks/git-agent.json
			dir := filepath.Join(filepath.Dir(filepath.Dir(f.Path)), "copilot")
			settings = append(settings, filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.local.json"))
		}
	}
	for _, path := range settings {
		r.Silenced(path, "disableAllHooks", true)
	}
}
