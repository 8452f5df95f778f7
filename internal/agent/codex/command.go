package codex

import (
	"path/filepath"
	"slices"
	"strings"
)

// Command starts the client in dir, which is an argument, as otherwise the
// client asks whether to work where the session was. A prompt follows a "--" so
// that it is neither an option nor a command of the client.
func Command(dir, session, prompt string) []string {
	command := []string{Program}
	if session != "" {
		command = append(command, "resume")
	}
	if dir != "" {
		command = append(command, "-C", dir)
	}
	if session != "" {
		command = append(command, session)
	}
	if prompt != "" {
		command = append(command, "--", prompt)
	}
	return command
}

// Interactive reports whether the client starts without a command, or with one
// that resumes a session. All others ask nothing.
func Interactive(command []string) bool {
	if len(command) == 0 || strings.TrimSuffix(filepath.Base(command[0]), ".exe") != Program {
		return false
	}
	for i := 1; i < len(command); i++ {
		switch word := command[i]; {
		case word == "--":
			return true
		case slices.Contains(valued, word):
			i++
		case !strings.HasPrefix(word, "-"):
			return !slices.Contains(alone, word)
		}
	}
	return true
}

// valued are the client's options that take the next word.
var valued = []string{
	"-c", "--config", "--enable", "--disable", "-i", "--image", "-m", "--model", "--local-provider", "-p", "--profile",
	"-s", "--sandbox", "-C", "--cd", "--add-dir", "-a", "--ask-for-approval", "--remote", "--remote-auth-token-env",
}

// alone are the client's commands that talk to no person.
var alone = []string{
	"exec", "e", "review", "login", "logout", "mcp", "plugin", "app-server", "remote-control", "completion", "update",
	"doctor", "sandbox", "debug", "apply", "a", "queue", "archive", "delete", "migrate-rollouts", "migrate-nfs-db",
	"unarchive", "cloud", "exec-server", "features", "help",
}
