package claude

import (
	"strings"

	"gitagent/internal/evidence"
)

// exited returns how a command ended by the result of its call. What exits with
// another status than 0 is an error that begins with it.
func exited(said string, failed bool) evidence.Ended {
	head := said[:min(len(said), 1<<10)]
	if e, ok := evidence.ExitOf(head, "<exit_code>"); ok {
		return e
	}
	switch _, job, background := strings.Cut(head, " in background with ID: "); {
	case background:
		job, _, _ = strings.Cut(job, ".")
		return evidence.Ended{How: evidence.GoesOn, Job: strings.TrimSpace(job)}
	case strings.Contains(head, "<status>running</status>"):
		return evidence.Ended{How: evidence.GoesOn}
	case strings.Contains(head, "<status>killed</status>"), strings.Contains(said, "Command was aborted before completion"),
		failed && (strings.Contains(head, "doesn't want to proceed") || strings.Contains(head, "nterrupted by user")):
		return evidence.Ended{How: evidence.Halted}
	case failed:
		first, _, _ := strings.Cut(head, "\n")
		if e, ok := evidence.ExitOf(first, "Exit code "); ok {
			return e
		}
		return evidence.Ended{How: evidence.Refused}
	}
	return evidence.Exit(0)
}
