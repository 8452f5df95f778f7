package copilot

import "gitagent/internal/session"

// Command starts the client in dir. Values share a word with their options, so
// that they can begin with anything.
func Command(dir, session, prompt string) []string {
	command := []string{Program}
	if dir != "" {
		command = append(command, "-C", dir)
	}
	if session != "" {
		command = append(command, "--resume="+session)
	}
	if prompt != "" {
		command = append(command, "--interactive="+prompt)
	}
	return command
}

// WithSession adds a session's id, unless the command has one.
func WithSession(command []string, id string) (with []string, ok bool) {
	if session.HasOption(command, "--session-id", "--resume", "-r", "--continue", "--connect") {
		return command, false
	}
	return append([]string{command[0], "--session-id=" + id}, command[1:]...), true
}

// Interactive reports whether a command lacks -p.
func Interactive(command []string) bool { return !session.HasOption(command, "-p", "--prompt") }
