package pi

import (
	"slices"
	"strings"
)

// Command starts the client, which works in the current directory.
func Command(dir, session, prompt string) []string {
	command := []string{Program}
	if session != "" {
		command = append(command, "--session", session)
	}
	if prompt != "" {
		if strings.HasPrefix(prompt, "@") { // otherwise a file's name, even here
			prompt = " " + prompt
		}
		command = append(command, "--", prompt)
	}
	return command
}

// WithSession adds a session's id, unless the command has one.
func WithSession(command []string, id string) (with []string, ok bool) {
	if has(command, "--session-id", "--session", "--continue", "-c", "--resume", "-r", "--no-session") {
		return command, false
	}
	return append([]string{command[0], "--session-id", id}, command[1:]...), true
}

// quiet are the client's commands that don't talk to a person.
var quiet = []string{"install", "remove", "uninstall", "update", "list", "config", "auth", "mcp"}

// Interactive reports whether a command starts the client's screen.
func Interactive(command []string) bool {
	if len(command) == 0 || has(command, "-p", "--print", "--export", "--list-models", "-h", "--help", "-v", "--version") {
		return false
	}
	if i := slices.Index(command, "--mode"); i >= 0 && i+1 < len(command) && command[i+1] != "text" {
		return false
	}
	return len(command) == 1 || !slices.Contains(quiet, command[1])
}

// has reports whether a command has one of options.
func has(command []string, options ...string) bool {
	if i := slices.Index(command, "--"); i >= 0 {
		command = command[:i]
	}
	return slices.ContainsFunc(command, func(word string) bool { return slices.Contains(options, word) })
}
