package hooks

import (
	"slices"
	"strings"
)

// inside are the variables that agents' clients set for what their agents run.
var inside = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID",
	"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED",
	"OPENCODE", "OPENCODE_PID", "GEMINI_CLI", "QWEN_CODE", "CURSOR_AGENT", "AI_AGENT",
}

// InAgent reports whether an environment, as [os.Environ] returns it, is that of a program which an
// agent runs.
func InAgent(environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(inside, name)
	})
}

// IsClient reports whether a program's name is that of an agent's client.
func IsClient(name string) bool {
	return slices.Contains([]string{"claude", "codex", "opencode", "gemini", "qwen", "cursor-agent"}, name)
}
