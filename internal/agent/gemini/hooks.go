package gemini

import (
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
)

// entries are the hooks that we install. The client counts time-outs in milliseconds. Its PreCompress is
// not among them: it runs before every request to the model, and no session starts after a compression.
var entries = []hooks.Entry{
	{Event: "BeforeAgent", Command: "git-agent-turn hook --agent gemini || true", Timeout: 60_000},
	{Event: "AfterAgent", Command: "git-agent-turn hook --agent gemini || true", Timeout: 60_000},
	{Event: "SessionEnd", Command: "git-agent-turn hook --agent gemini || true", Timeout: 20_000},
	{Event: "SessionStart", Command: "git-agent-handoff hook --agent gemini || true", Timeout: 60_000},
	{Event: "AfterTool", Command: "git-agent-handoff hook --agent gemini || true", Timeout: 10_000},
}

// ConfigDir returns .gemini in $GEMINI_CLI_HOME, or in the home directory.
func (Agent) ConfigDir(getenv func(string) string) string {
	if home := getenv("GEMINI_CLI_HOME"); home != "" {
		return filepath.Join(home, ".gemini")
	}
	return hooks.InHome(getenv, ".gemini")
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
func settings(places hooks.Places, project bool) string {
	if project {
		return filepath.Join(places.Project, ".gemini", "settings.json")
	}
	return filepath.Join(places.Config, "settings.json")
}

// Inspect says which of our hooks the client will run, and what is wrong with them. Which the user has
// switched off by their names is not looked at: ours have none.
func (Agent) Inspect(places hooks.Places) *hooks.Report {
	var files []hooks.Settings
	if places.Config != "" {
		files = append(files, hooks.Settings{Path: settings(places, false)})
	}
	if places.Project != "" {
		files = append(files, hooks.Settings{Path: settings(places, true)})
	}
	report := hooks.Inspect(entries, files)
	for _, f := range files {
		data, err := os.ReadFile(f.Path)
		if enabled := gjson.GetBytes(data, "hooksConfig.enabled"); err == nil && gjson.ValidBytes(data) && enabled.Type == gjson.False {
			report.Findings = append(report.Findings, hooks.Finding{
				Problem: hooks.Disabled, Path: f.Path, Text: "hooksConfig.enabled turns off every hook, whichever file it is in",
			})
		}
	}
	return report
}

// Plugin is empty: there is none.
func (Agent) Plugin(string) string { return "" }

// Notice is empty: the client runs new hooks at once.
func (Agent) Notice() string { return "" }
