package opencode

import (
	"errors"

	"gitagent/internal/transcript"
)

func (Agent) Files(config, prefix string) ([]transcript.File, error) { return nil, nil }

func (Agent) History(config string, dirs []string) ([]transcript.File, error) {
	return nil, errors.ErrUnsupported
}

func (Agent) Continues(path string) (promptID string, err error) { return "", nil }
