package claude

import (
	"errors"

	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

func (Agent) NewSession() string { return session.NewID() }

func (Agent) Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	return nil, errors.ErrUnsupported
}
