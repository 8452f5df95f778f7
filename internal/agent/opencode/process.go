package opencode

import (
	"io"

	"gitagent/hooks"
	"gitagent/internal/session"
)

func (Agent) Event(r io.Reader) (*hooks.Event, error) { return hooks.Parse(r) }

func (Agent) Client(getenv func(string) string) hooks.Client { return hooks.Client{} }

func (Agent) Marks() (variables, programs []string) { return nil, nil }

func (Agent) Running(config string) ([]session.Registration, error) { return nil, nil }
