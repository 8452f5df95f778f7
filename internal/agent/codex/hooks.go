package codex

import "gitagent/hooks"

// Hooks are the hooks that we install. Neither payload nor environment reliably
// identifies the client, which inherits the variables of another one that runs it,
// so the command does.
//
// The client never gives more than 3 s at SessionEnd and Interrupt. What it trusts
// of a file goes by position: an entry is only ever added behind the others of its
// event, and none changes its place, nor do those of others when ours go.
var Hooks = hooks.Setup{
	Entries: []hooks.Entry{
		{Event: "UserPromptSubmit", Command: "git-agent-turn hook --agent codex || true", Timeout: 60},
		{Event: "Stop", Command: "git-agent-turn hook --agent codex || true", Timeout: 60},
		{Event: "SessionEnd", Command: "git-agent-turn hook --agent codex || true", Timeout: 3},
		{Event: "SessionStart", Command: "git-agent-handoff hook --agent codex || true", Timeout: 60},
		{Event: "PostToolUse", Command: "git-agent-handoff hook --agent codex || true", Timeout: 10},
		{Event: "PreCompact", Command: "git-agent-handoff hook --agent codex || true", Timeout: 60},
		{Event: "Interrupt", Command: "git-agent-turn hook --agent codex || true", Timeout: 3},
	},
	User:    "hooks.json",
	Project: ".codex/hooks.json",
	Vacate:  vacate,
	Check:   trust,
}

// ConfigDir returns $CODEX_HOME, or .codex in the home directory.
func ConfigDir(getenv func(string) string) string {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	return hooks.InHome(getenv, ".codex")
}
