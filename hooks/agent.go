package hooks

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrUnsupported reports an agent whose hooks cannot be installed yet.
var ErrUnsupported = errors.New("not supported yet")

// An Agent is a coding agent whose client runs hooks, written as in the "agent" field of a turn's
// record.
type Agent string

const (
	Claude Agent = "claude-code"
	Codex  Agent = "codex"
)

// ParseAgent returns the agent for a name: its record name or, for [Claude], "claude". For opencode,
// which loads plugins in JavaScript and runs no hooks, the error wraps [ErrUnsupported].
func ParseAgent(name string) (Agent, error) {
	switch name {
	case "claude", string(Claude):
		return Claude, nil
	case string(Codex):
		return Codex, nil
	case "opencode":
		return "", fmt.Errorf("hooks of opencode: %w", ErrUnsupported)
	}
	return "", fmt.Errorf("unknown agent %q", name)
}

// An Entry is one hook that we install: a command for one event.
type Entry struct {
	Event   string
	Command string // never changes once released; see the package comment
	Timeout int    // seconds
}

// program returns the name of the executable that e runs.
func (e Entry) program() string { return strings.Fields(e.Command)[0] }

// Entries returns what is installed for a.
//
// Every entry has its own timeout. 60 s is eight times the slowest first turn measured (7.7 s, 30,000
// untracked files). At SessionEnd, Claude Code gives 1.5 s unless told otherwise, and Codex never more
// than 3 s. The agent waits for the hook after each batch of tool calls: 10 s are enough for 5 ms.
func (a Agent) Entries() []Entry {
	switch a {
	case Claude:
		return []Entry{
			{"UserPromptSubmit", "git-agent-turn hook || true", 60},
			{"Stop", "git-agent-turn hook || true", 60},
			{"StopFailure", "git-agent-turn hook || true", 60},
			{"SessionEnd", "git-agent-turn hook || true", 20},
			{"SessionStart", "git-agent-handoff hook || true", 60},
			{"PostToolBatch", "git-agent-handoff hook || true", 10},
			{"PreCompact", "git-agent-handoff hook || true", 60},
		}
	case Codex:
		// Neither payload nor environment reliably identifies Codex (it inherits Claude's variables
		// when Claude runs it), so the command does.
		return []Entry{
			{"UserPromptSubmit", "git-agent-turn hook --agent codex || true", 60},
			{"Stop", "git-agent-turn hook --agent codex || true", 60},
			{"SessionEnd", "git-agent-turn hook --agent codex || true", 3},
			{"SessionStart", "git-agent-handoff hook --agent codex || true", 60},
			{"PostToolUse", "git-agent-handoff hook --agent codex || true", 10},
			{"PreCompact", "git-agent-handoff hook --agent codex || true", 60},
		}
	}
	return nil
}

// Note returns one sentence that a user must read after an installation, or "".
func (a Agent) Note() string {
	if a == Codex {
		return "codex runs new hooks only after you have trusted them: start codex once and review them there"
	}
	return ""
}

// ConfigDir returns the directory of a's user-level configuration, "" if the environment has
// neither it nor a home directory. getenv is [os.Getenv] or a stand-in.
func (a Agent) ConfigDir(getenv func(string) string) string {
	variable, name := "CLAUDE_CONFIG_DIR", ".claude"
	if a == Codex {
		variable, name = "CODEX_HOME", ".codex"
	}
	if dir := getenv(variable); dir != "" {
		return dir
	}
	home := getenv("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, name)
}

// UserSettings returns the settings file for all of a user's sessions. config is the
// [Agent.ConfigDir].
func (a Agent) UserSettings(config string) string {
	if a == Codex {
		return filepath.Join(config, "hooks.json")
	}
	return filepath.Join(config, "settings.json")
}

// ProjectSettings returns the settings file that a team shares in dir.
// Claude Code reads it only when launched in dir itself, not in a directory below it.
func (a Agent) ProjectSettings(dir string) string {
	if a == Codex {
		return filepath.Join(dir, ".codex", "hooks.json")
	}
	return filepath.Join(dir, ".claude", "settings.json")
}
