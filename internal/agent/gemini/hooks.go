package gemini

import (
	"path/filepath"

	"gitagent/hooks"
)

// Hooks are our hooks, with time-outs in milliseconds. PreCompress is left out:
// it runs before every model request, and no session starts after it.
var Hooks = hooks.Setup{
	Entries: []hooks.Entry{
		{Event: "BeforeAgent", Command: "git-agent-turn hook --agent gemini || true", Timeout: 60_000},
		{Event: "AfterAgent", Command: "git-agent-turn hook --agent gemini || true", Timeout: 60_000},
		{Event: "SessionEnd", Command: "git-agent-turn hook --agent gemini || true", Timeout: 20_000},
		{Event: "SessionStart", Command: "git-agent-handoff hook --agent gemini || true", Timeout: 60_000},
		{Event: "AfterTool", Command: "git-agent-handoff hook --agent gemini || true", Timeout: 10_000},
	},
	User:    "settings.json",
	Project: ".gemini/settings.json",
	Check:   disabled,
}

// ConfigDir returns .gemini in $GEMINI_CLI_HOME, or in the home directory.
func ConfigDir(getenv func(string) string) string {
	if home := getenv("GEMINI_CLI_HOME"); home != "" {
		return filepath.Join(home, ".gemini")
	}
	return hooks.InHome(getenv, ".gemini")
}

// disabled adds to a report the files that turn off hooks. Hooks that are
// disabled by name don't matter: ours have none.
func disabled(r *hooks.Report, files []hooks.Settings, _ string) {
	for _, f := range files {
		r.Silenced(f.Path, "hooksConfig.enabled", false)
	}
}
