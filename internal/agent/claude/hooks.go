package claude

import (
	"errors"

	"gitagent/hooks"
)

func (Agent) ConfigDir(getenv func(string) string) string { return "" }

func (Agent) Install(places hooks.Places, project bool) (*hooks.Edit, error) {
	return nil, errors.ErrUnsupported
}

func (Agent) Remove(places hooks.Places, project bool) (*hooks.Edit, error) {
	return nil, errors.ErrUnsupported
}

func (Agent) Inspect(places hooks.Places) *hooks.Report { return new(hooks.Report) }

func (Agent) Notice() string { return "" }
