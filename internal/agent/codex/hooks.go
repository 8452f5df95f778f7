package codex

import "gitagent/hooks"

// Hooks are the hooks that we install. The command names the client, since
// payloads don't, and a client inherits the variables of one that runs it.
//
// The client never gives more than 3 s at SessionEnd and Interrupt. It trusts
// hooks by their position in a file: entries are only added behind an event's
// others, and neither our changes nor our removal move any.
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
