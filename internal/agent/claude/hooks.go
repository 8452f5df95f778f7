package claude

import "gitagent/hooks"

// Hooks are the hooks that we install. The client reads a project's file only
// when it is launched in the project's own directory, not below it.
//
// 60 s is eight times the slowest first turn measured (7.7 s, 30,000 untracked
// files). At SessionEnd, the client's default is 1.5 s. The agent waits for the
// hook after each batch of tool calls: 10 s are enough for a look at the
// worktree, which ends after 5.
var Hooks = hooks.Setup{
	Entries: []hooks.Entry{
		{Event: "UserPromptSubmit", Command: "git-agent-turn hook || true", Timeout: 60},
		{Event: "Stop", Command: "git-agent-turn hook || true", Timeout: 60},
		{Event: "StopFailure", Command: "git-agent-turn hook || true", Timeout: 60},
		{Event: "SessionEnd", Command: "git-agent-turn hook || true", Timeout: 20},
		{Event: "SessionStart", Command: "git-agent-handoff hook || true", Timeout: 60},
		{Event: "PreToolUse", Command: "git-agent-handoff hook || true", Timeout: 10, Matcher: "Bash|ExitWorktree", If: destroyers},
		{Event: "SubagentStop", Command: "git-agent-handoff hook || true", Timeout: 10},
		{Event: "PostToolBatch", Command: "git-agent-handoff hook || true", Timeout: 10},
		{Event: "PreCompact", Command: "git-agent-handoff hook || true", Timeout: 60},
	},
	User:    "settings.json",
	Project: ".claude/settings.json",
	Local:   ".claude/settings.local.json",
	Managed: managedSettings(),
	Sent:    "remote-settings.json",
	Plugins: skills,
	Check:   complete,
}

// destroyers are the client's rules for commands that may take away what is in
// the worktree, or it itself: the state before is kept. The client runs a hook for each that
// matches a part of the command, and all if it can't tell. It knows rules at
// hooks since version 2.1.85, and of commands with several parts since 2.1.89;
// before, it runs them at every command.
var destroyers = []string{
	"Bash(git reset *)", "Bash(git checkout *)", "Bash(git restore *)", "Bash(git switch *)", "Bash(git clean *)",
	"Bash(git stash)", "Bash(git stash *)", "Bash(git rm *)", "Bash(git worktree *)", "Bash(rm *)", "Bash(mv *)", "Bash(cp *)", "ExitWorktree",
}

// ConfigDir returns $CLAUDE_CONFIG_DIR, or .claude in the home directory.
func ConfigDir(getenv func(string) string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return hooks.InHome(getenv, ".claude")
}

// complete completes a report.
func complete(r *hooks.Report, files []hooks.Settings, config string) {
	describeAll(r, config)
	elsewhere(r, files, policies(), windowsSettings)
}
