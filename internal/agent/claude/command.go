package claude

import (
	"context"
	"errors"

	"gitagent/internal/terminal"
)

func (a Agent) Command(dir, session, prompt string) []string { return []string{a.Program()} }

func (Agent) WithSession(command []string, id string) (with []string, ok bool) { return nil, false }

func (Agent) Interactive(command []string) bool { return false }

func (Agent) Wake(ctx context.Context, pane terminal.Pane, config string, pid int, self, prompt string) error {
	return errors.ErrUnsupported
}
