package codex

import (
	"path/filepath"

	"gitagent/hooks"
)

// entries are the hooks that we install. Neither payload nor environment reliably identifies the client,
// which inherits the variables of another one that runs it, so the command does.
//
// The client never gives more than 3 s at SessionEnd and Interrupt. What it trusts of a file goes by
// position: an entry is only ever added behind the others of its event, and none changes its place.
var entries = []hooks.Entry{
	{Event: "UserPromptSubmit", Command: "git-agent-turn hook --agent codex || true", Timeout: 60},
	{Event: "Stop", Command: "git-agent-turn hook --agent codex || true", Timeout: 60},
	{Event: "SessionEnd", Command: "git-agent-turn hook --agent codex || true", Timeout: 3},
	{Event: "SessionStart", Command: "git-agent-handoff hook --agent codex || true", Timeout: 60},
	{Event: "PostToolUse", Command: "git-agent-handoff hook --agent codex || true", Timeout: 10},
	{Event: "PreCompact", Command: "git-agent-handoff hook --agent codex || true", Timeout: 60},
	{Event: "Interrupt", Command: "git-agent-turn hook --agent codex || true", Timeout: 3},
}

// ConfigDir returns $CODEX_HOME, or .codex in the home directory.
func (Agent) ConfigDir(getenv func(string) string) string {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	return hooks.InHome(getenv, ".codex")
}

// Install plans how to add our hooks to a file of hooks.
func (Agent) Install(places hooks.Places, project bool) (*hooks.Edit, error) {
	return hooks.PlanInstall(settings(places, project), entries)
}

// Remove plans how to take our hooks out of a file of hooks; those of others keep their places.
func (Agent) Remove(places hooks.Places, project bool) (*hooks.Edit, error) {
	return hooks.Plan(settings(places, project), func(before []byte) ([]byte, error) {
		if _, err := hooks.Remove(before, entries); err != nil { // it names what is wrong where the user has it
			return nil, err
		}
		return hooks.Remove(vacate(before, entries), entries)
	})
}

// settings returns the file for all of a user's sessions or, for a project, the one that a team shares.
func settings(places hooks.Places, project bool) string {
	if project {
		return filepath.Join(places.Project, ".codex", "hooks.json")
	}
	return filepath.Join(places.Config, "hooks.json")
}

// Inspect says which of our hooks the client will run, and what is wrong with them.
func (Agent) Inspect(places hooks.Places) *hooks.Report {
	var files []hooks.Settings
	if places.Config != "" {
		files = append(files, hooks.Settings{Path: settings(places, false)})
	}
	if places.Project != "" {
		files = append(files, hooks.Settings{Path: settings(places, true)})
	}
	report := hooks.Inspect(entries, files)
	trust(report, places.Config)
	return report
}

// Plugin is empty: there is none.
func (Agent) Plugin(string) string { return "" }

// Notice says what the client wants before it runs new hooks.
func (Agent) Notice() string {
	return "codex runs new hooks only after you have trusted them: start codex once and review them there"
}
