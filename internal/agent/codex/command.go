package codex

import (
	"path/filepath"
	"slices"
	"strings"
)

// Command starts the client in dir, which it is told: without that, it asks whether it should rather
// work where the session was. A prompt follows a "--": there it is neither an option nor one of the
// client's commands.
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

// Interactive reports whether the client is started as such, or with one of the commands that are the
// same with another session. All its other commands ask nobody anything.
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

// alone are the client's commands that talk to nobody.
var alone = []string{
	"exec", "e", "review", "login", "logout", "mcp", "plugin", "app-server", "remote-control", "completion", "update",
	"doctor", "sandbox", "debug", "apply", "a", "queue", "archive", "delete", "migrate-rollouts", "migrate-nfs-db",
	"unarchive", "cloud", "exec-server", "features", "help",
}
