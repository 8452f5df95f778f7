package claude

import (
	"slices"
	"strings"
)

// Command starts the client, which works in the current directory.
func Command(dir, session, prompt string) []string {
	command := []string{Program}
	if session != "" {
		command = append(command, "--resume", session)
	}
	switch {
	case prompt == "":
		return command
	case strings.HasPrefix(prompt, "-"):
		command = append(command, "--")
	case session == "" && !strings.ContainsAny(prompt, " \t\n"):
		prompt += " " // the client has one-word commands, such as update, even after --
	}
	return append(command, prompt)
}

// WithSession adds a session's id, unless the command has one.
func WithSession(command []string, id string) (with []string, ok bool) {
	named := []string{"--session-id", "--resume", "-r", "--continue", "-c"}
	if slices.ContainsFunc(command, func(word string) bool { return slices.Contains(named, word) }) {
		return command, false
	}
	return append([]string{command[0], "--session-id", id}, command[1:]...), true
}

// Interactive reports whether a command lacks -p.
func Interactive(command []string) bool {
	return !slices.Contains(command, "-p") && !slices.Contains(command, "--print")
}
