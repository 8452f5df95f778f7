package droid

import (
	"path/filepath"

	"gitagent/hooks"
)

// Hooks are our hooks, with time-outs in seconds. PreCompact is left out: the
// client compacts without it, and no session starts after it.
var Hooks = hooks.Setup{
	Entries: []hooks.Entry{
		{Event: "UserPromptSubmit", Command: "git-agent-turn hook --agent droid || true", Timeout: 60},
		{Event: "Stop", Command: "git-agent-turn hook --agent droid || true", Timeout: 60},
		{Event: "SessionEnd", Command: "git-agent-turn hook --agent droid || true", Timeout: 20},
		{Event: "SessionStart", Command: "git-agent-handoff hook --agent droid || true", Timeout: 60},
		{Event: "PostToolUse", Command: "git-agent-handoff hook --agent droid || true", Timeout: 10},
	},
	User:    "settings.json",
	Project: ".factory/settings.json",
	Check:   disabled,
}

// ConfigDir returns .factory in $FACTORY_HOME_OVERRIDE, or in the home directory.
func ConfigDir(getenv func(string) string) string {
	if home := getenv("FACTORY_HOME_OVERRIDE"); home != "" {
		return filepath.Join(home, ".factory")
	}
	return hooks.InHome(getenv, ".factory")
}

// disabled adds to a report the files that turn off hooks.
func disabled(r *hooks.Report, files []hooks.Settings, _ string) {
	for _, f := range files {
		r.Silenced(f.Path, "hooks.hooksDisabled", true)
	}
}
