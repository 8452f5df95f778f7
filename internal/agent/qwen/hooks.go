package qwen

import (
	"runtime"
	"strings"

	"gitagent/hooks"
)

// Hooks are our hooks, with time-outs in seconds: from 1000 on, the client
// takes them for milliseconds. PreCompact is left out: the client runs it also
// before a compression that it then gives up. PostCompact comes after one that
// it has made, and before the session starts again.
var Hooks = hooks.Setup{
	Entries: []hooks.Entry{
		{Event: "UserPromptSubmit", Command: "git-agent-turn hook --agent qwen || true", Timeout: 60},
		{Event: "Stop", Command: "git-agent-turn hook --agent qwen || true", Timeout: 60},
		{Event: "StopFailure", Command: "git-agent-turn hook --agent qwen || true", Timeout: 60},
		{Event: "SessionEnd", Command: "git-agent-turn hook --agent qwen || true", Timeout: 20},
		{Event: "SessionStart", Command: "git-agent-handoff hook --agent qwen || true", Timeout: 60},
		{Event: "PostToolBatch", Command: "git-agent-handoff hook --agent qwen || true", Timeout: 10},
		{Event: "PostCompact", Command: "git-agent-handoff hook --agent qwen || true", Timeout: 60},
	},
	User:    "settings.json",
	Project: ".qwen/settings.json",
	Managed: managedSettings(),
}

// ConfigDir returns $QWEN_HOME, or .qwen in the home directory.
func ConfigDir(getenv func(string) string) string {
	dir := getenv("QWEN_HOME")
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		return hooks.InHome(getenv, strings.TrimPrefix(rest, "/"))
	}
	if dir != "" {
		return dir
	}
	return hooks.InHome(getenv, ".qwen")
}

// managedSettings returns the file of an administrator's settings for all.
func managedSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/QwenCode/settings.json"
	case "windows":
		return `C:\ProgramData\qwen-code\settings.json`
	}
	return "/etc/qwen-code/settings.json"
}
