package droid

import "slices"

// Command starts the client in dir. It makes a session of its own of the one
// that it is to go on with: a copy, which says whose.
func Command(dir, session, prompt string) []string {
	command := []string{Program}
	if dir != "" {
		command = append(command, "--cwd", dir)
	}
	if session != "" {
		command = append(command, "--fork", session)
	}
	if prompt != "" {
		command = append(command, "--", prompt)
	}
	return command
}

// quiet are the client's commands that don't talk to a person.
var quiet = []string{"exec", "daemon", "search", "find", "update", "mcp", "plugin", "computer", "doctor", "help"}

// Interactive reports whether a command starts the client's screen.
func Interactive(command []string) bool {
	if i := slices.Index(command, "--"); i >= 0 {
		command = command[:i]
	}
	return len(command) > 0 && !slices.ContainsFunc(command[1:], func(word string) bool {
		return slices.Contains(quiet, word) || slices.Contains([]string{"-v", "--version", "-h", "--help"}, word)
	})
}
