package opencode

import (
	"slices"
	"strings"
)

// Command starts the client in a directory.
func (c Edition) Command(dir, session, prompt string) []string {
	command := []string{c.Program}
	if dir != "" {
		command = append(command, dir)
	}
	if session != "" {
		command = append(command, "--session="+session)
	}
	if prompt != "" {
		command = append(command, "--prompt="+prompt) // it may begin with a dash
	}
	return command
}

// quiet are the client's commands that don't talk to a person.
var quiet = []string{
	"acp", "agent", "auth", "completion", "db", "debug", "export", "github", "import", "mcp", "models", "plug",
	"plugin", "providers", "run", "serve", "session", "stats", "uninstall", "upgrade", "web",
}

// Interactive reports whether a command starts the client's screen: its first
// word is a directory, or one of few commands.
func (c Edition) Interactive(command []string) bool {
	if len(command) == 0 {
		return false
	}
	for _, arg := range command[1:] {
		switch {
		case slices.Contains([]string{"-h", "--help", "-v", "--version"}, arg):
			return false
		case !strings.HasPrefix(arg, "-"):
			return !slices.Contains(quiet, arg) && !slices.Contains(c.quiet, arg)
		}
	}
	return true
}
